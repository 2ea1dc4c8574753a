#ifndef ATTO_OPS_LAYERNORM_LAYERNORM_XSIMD_INL_H_
#define ATTO_OPS_LAYERNORM_LAYERNORM_XSIMD_INL_H_

#include <cmath>
#include <cstddef>

#include "ops/float_simd/vectors-inl.h"
#include "ops/layernorm/layernorm_f32.h"

namespace atto {
namespace {

// Two passes: the sum of squares about the mean, not E[x^2] - mean^2, which
// loses all digits when the mean is large.
void LayerNormF32(const FloatLayerNorm& norm, MatrixView<const float> x,
                  MatrixView<float> y) noexcept {
  const std::size_t d = norm.d;
  const std::size_t whole = d / kLanes * kLanes;
  const float size_inverse = 1 / static_cast<float>(d);
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const float* const in = x.row(i);
    float* const out = y.row(i);
    Vector sums(0.0F);
    for (std::size_t j = 0; j < whole; j += kLanes) sums = sums + Load(in + j);
    float sum = xsimd::reduce_add(sums);
    for (std::size_t j = whole; j < d; ++j) sum += in[j];
    const float mean = sum * size_inverse;
    const Vector means(mean);
    Vector squares(0.0F);
    for (std::size_t j = 0; j < whole; j += kLanes) {
      const Vector centred = Load(in + j) - means;
      squares = xsimd::fma(centred, centred, squares);
    }
    float square = xsimd::reduce_add(squares);
    for (std::size_t j = whole; j < d; ++j) {
      square += (in[j] - mean) * (in[j] - mean);
    }
    const float scale =
        1 / std::sqrt(square * size_inverse + kLayerNormEpsilon);
    const Vector scales(scale);
    for (std::size_t j = 0; j < whole; j += kLanes) {
      const Vector z = (Load(in + j) - means) * scales;
      Store(xsimd::fma(z, Load(norm.gain + j), Load(norm.bias + j)), out + j);
    }
    for (std::size_t j = whole; j < d; ++j) {
      out[j] = (in[j] - mean) * scale * norm.gain[j] + norm.bias[j];
    }
  }
}

}  // namespace
}  // namespace atto

#endif  // ATTO_OPS_LAYERNORM_LAYERNORM_XSIMD_INL_H_
