#include "ops/pooling/pooling_f32.h"

namespace atto {

void SumRowsF32Ref(MatrixView<const float> x, float* sums) noexcept {
  for (std::size_t i = 0; i < x.rows(); ++i) {
    for (std::size_t j = 0; j < x.cols(); ++j) sums[j] += x.row(i)[j];
  }
}

void MeanF32Ref(Span<const float> sums, std::size_t count, float* y) noexcept {
  const float scale = 1 / static_cast<float>(count);
  for (std::size_t j = 0; j < sums.size(); ++j) y[j] = sums[j] * scale;
}

}  // namespace atto
