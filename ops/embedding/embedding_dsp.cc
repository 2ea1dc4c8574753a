#include "ops/dsp/word.h"
#include "ops/embedding/embedding.h"

namespace atto {

void EmbeddingSumS8Dsp(const Embedding& embedding,
                       Span<const std::uint16_t> rows,
                       std::int8_t* y) noexcept {
  const std::size_t width = embedding.width;
  for (std::size_t first = 0; first < width; first += 4) {
    const std::size_t left = width - first;
    const std::size_t columns = left < 4 ? left : 4;
    const std::int8_t* const column = embedding.table + first;
    // Sums of columns 0 and 2, 1 and 3: 16 bits hold 255 rows.
    std::uint32_t even = 0;
    std::uint32_t odd = 0;
    for (const std::uint16_t row : rows) {
      const std::int8_t* const entry = column + row * width;
      const std::uint32_t word =
          columns == 4 ? dsp::LoadWord(entry) : dsp::LoadPart(entry, columns);
      even = dsp::AddEvenBytes(even, word);
      odd = dsp::AddOddBytes(odd, word);
    }
    const std::uint32_t sums[4] = {even, odd, even >> 16, odd >> 16};
    for (std::size_t j = 0; j < columns; ++j) {
      const auto sum = static_cast<std::int32_t>(sums[j]);
      y[first + j] =
          dsp::Clamp127(dsp::RoundedProduct(sum, embedding.multiplier) >> 15);
    }
  }
}

}  // namespace atto
