#include "ops/base/fixed_point.h"
#include "ops/embedding/embedding.h"

namespace atto {

void EmbeddingSumS8Ref(const Embedding& embedding,
                       Span<const std::uint16_t> rows,
                       std::int8_t* y) noexcept {
  // A strip of columns at a time, so that the sums stay in registers or one
  // cache line whatever the width.
  constexpr std::size_t kStrip = 8;
  for (std::size_t first = 0; first < embedding.width; first += kStrip) {
    const std::size_t left = embedding.width - first;
    const std::size_t columns = left < kStrip ? left : kStrip;
    std::int32_t sums[kStrip] = {};
    for (const std::uint16_t row : rows) {
      const std::int8_t* const entry =
          embedding.table + std::size_t{row} * embedding.width + first;
      for (std::size_t j = 0; j < columns; ++j) sums[j] += entry[j];
    }
    for (std::size_t j = 0; j < columns; ++j) {
      y[first + j] = Clamp127(Rdh16(sums[j], embedding.multiplier));
    }
  }
}

}  // namespace atto
