#include "ops/base/fixed_point.h"
#include "ops/pooling/pooling.h"

namespace atto {

void SumRowsS8Ref(MatrixView<const std::int8_t> x,
                  std::int32_t* sums) noexcept {
  for (std::size_t row = 0; row < x.rows(); ++row) {
    for (std::size_t j = 0; j < x.cols(); ++j) sums[j] += x.row(row)[j];
  }
}

void MeanS8Ref(Span<const std::int32_t> sums, std::size_t tokens,
               unsigned shift, std::int8_t* y) noexcept {
  const MeanReciprocal reciprocal =
      MakeMeanReciprocal(static_cast<std::uint32_t>(tokens));
  for (std::size_t j = 0; j < sums.size(); ++j) {
    y[j] = WeightedMean8(sums[j], reciprocal, shift);
  }
}

}  // namespace atto
