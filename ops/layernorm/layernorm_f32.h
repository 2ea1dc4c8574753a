// LayerNorm of float rows. Ba, Kiros, Hinton, arXiv 1607.06450, section 3.
#ifndef ATTO_OPS_LAYERNORM_LAYERNORM_F32_H_
#define ATTO_OPS_LAYERNORM_LAYERNORM_F32_H_

#include <cstdint>

#include "ops/base/span.h"

namespace atto {

// Added to the variance, as training does. The integer LayerNorm has none: it
// does not depend on the scale of its input.
constexpr float kLayerNormEpsilon = 1e-5F;

// The arrays belong to the model file.
struct FloatLayerNorm {
  const float* gain = nullptr;  // [d]
  const float* bias = nullptr;  // [d]
  std::uint16_t d = 0;          // 2..512
};

// y = (x - mean) / sqrt(variance + epsilon) gain + bias, a row at a time, with
// the biased variance. x, y [rows, d]; y may be x.
void LayerNormF32Ref(const FloatLayerNorm& norm, MatrixView<const float> x,
                     MatrixView<float> y) noexcept;

}  // namespace atto

#endif  // ATTO_OPS_LAYERNORM_LAYERNORM_F32_H_
