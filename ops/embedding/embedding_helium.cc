#include "ops/embedding/embedding.h"
#include "ops/helium/vector.h"

namespace atto {

void EmbeddingSumS8Helium(const Embedding& embedding,
                          Span<const std::uint16_t> rows,
                          std::int8_t* y) noexcept {
  const std::size_t width = embedding.width;
  for (std::size_t first = 0; first < width; first += 8) {
    const mve_pred16_t lanes = helium::Lanes16(width - first);
    const std::int8_t* const column = embedding.table + first;
    int16x8_t sum = vdupq_n_s16(0);  // 16 bits hold 255 rows
    for (const std::uint16_t row : rows) {
      sum = vaddq_s16(sum, vldrbq_z_s16(column + row * width, lanes));
    }
    const int16x8_t mean = vqrdmulhq_n_s16(sum, embedding.multiplier);
    vstrbq_p_s16(y + first, helium::Clamp127(mean), lanes);
  }
}

}  // namespace atto
