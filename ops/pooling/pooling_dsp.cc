#include "ops/dsp/word.h"
#include "ops/pooling/pooling.h"

namespace atto {

void SumRowsS8Dsp(MatrixView<const std::int8_t> x,
                  std::int32_t* sums) noexcept {
  constexpr std::size_t kMaxRows = 255;  // whose sums fit 16 bits
  for (std::size_t row = 0; row < x.rows(); row += kMaxRows) {
    const std::size_t left = x.rows() - row;
    const std::size_t rows = left < kMaxRows ? left : kMaxRows;
    for (std::size_t j = 0; j < x.cols(); j += 4) {
      const std::size_t beyond = x.cols() - j;
      const std::size_t columns = beyond < 4 ? beyond : 4;
      std::uint32_t even = 0;
      std::uint32_t odd = 0;
      const std::int8_t* from = x.row(row) + j;
      for (std::size_t r = 0; r < rows; ++r, from += x.cols()) {
        const std::uint32_t word =
            columns == 4 ? dsp::LoadWord(from) : dsp::LoadPart(from, columns);
        even = dsp::AddEvenBytes(even, word);
        odd = dsp::AddOddBytes(odd, word);
      }
      const std::uint32_t pairs[4] = {even, odd, even >> 16, odd >> 16};
      for (std::size_t i = 0; i < columns; ++i) {
        sums[j + i] += static_cast<std::int16_t>(pairs[i]);
      }
    }
  }
}

}  // namespace atto
