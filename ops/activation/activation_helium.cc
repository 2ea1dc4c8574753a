#include "ops/activation/activation.h"
#include "ops/activation/gelu_table.h"
#include "ops/helium/vector.h"

namespace atto {

void GeluS8Helium(unsigned fraction_bits, Span<std::int8_t> x) noexcept {
  const std::int8_t* const below_relu = GeluBelowRelu(fraction_bits);
  for (std::size_t i = 0; i < x.size(); i += 16) {
    const mve_pred16_t lanes = helium::Lanes8(x.size() - i);
    const int8x16_t value = vldrbq_z_s8(x.data() + i, lanes);
    const uint8x16_t magnitude = vreinterpretq_u8_s8(vabsq_s8(value));
    const int8x16_t below = vldrbq_gather_offset_s8(below_relu, magnitude);
    const int8x16_t relu = vmaxq_s8(value, vdupq_n_s8(0));
    vstrbq_p_s8(x.data() + i, vsubq_s8(relu, below), lanes);
  }
}

void ReluS8Helium(Span<std::int8_t> x) noexcept {
  for (std::size_t i = 0; i < x.size(); i += 16) {
    const mve_pred16_t lanes = helium::Lanes8(x.size() - i);
    const int8x16_t value = vldrbq_z_s8(x.data() + i, lanes);
    vstrbq_p_s8(x.data() + i, vmaxq_s8(value, vdupq_n_s8(0)), lanes);
  }
}

}  // namespace atto
