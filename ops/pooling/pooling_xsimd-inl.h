#ifndef ATTO_OPS_POOLING_POOLING_XSIMD_INL_H_
#define ATTO_OPS_POOLING_POOLING_XSIMD_INL_H_

#include <cstddef>

#include "ops/add/add_xsimd-inl.h"
#include "ops/float_simd/vectors-inl.h"
#include "ops/pooling/pooling_f32.h"

namespace atto {
namespace {

void SumRowsF32(MatrixView<const float> x, float* sums) noexcept {
  for (std::size_t i = 0; i < x.rows(); ++i) {
    AddF32(Span<const float>(x.row(i), x.cols()), sums);
  }
}

void MeanF32(Span<const float> sums, std::size_t count, float* y) noexcept {
  const Vector scale(1 / static_cast<float>(count));
  Map(sums.data(), y, sums.size(), [=](Vector v) { return v * scale; });
}

}  // namespace
}  // namespace atto

#endif  // ATTO_OPS_POOLING_POOLING_XSIMD_INL_H_
