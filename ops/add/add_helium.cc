#include "ops/add/add.h"
#include "ops/helium/vector.h"

namespace atto {

void AddS16Helium(Span<const std::int16_t> x, std::int16_t* r) noexcept {
  for (std::size_t i = 0; i < x.size(); i += 8) {
    const mve_pred16_t lanes = helium::Lanes16(x.size() - i);
    const int16x8_t sum = vqaddq_s16(vldrhq_z_s16(r + i, lanes),
                                     vldrhq_z_s16(x.data() + i, lanes));
    vstrhq_p_s16(r + i, sum, lanes);
  }
}

void AddShiftedS8Helium(unsigned shift, Span<const std::int8_t> x,
                        std::int16_t* r) noexcept {
  for (std::size_t i = 0; i < x.size(); i += 8) {
    const mve_pred16_t lanes = helium::Lanes16(x.size() - i);
    const int16x8_t shifted = vshlq_r_s16(vldrbq_z_s16(x.data() + i, lanes),
                                          static_cast<std::int32_t>(shift));
    vstrhq_p_s16(r + i, vqaddq_s16(vldrhq_z_s16(r + i, lanes), shifted), lanes);
  }
}

}  // namespace atto
