// GELU and ReLU of floats, in place.
#ifndef ATTO_OPS_ACTIVATION_ACTIVATION_F32_H_
#define ATTO_OPS_ACTIVATION_ACTIVATION_F32_H_

#include "ops/base/span.h"

namespace atto {

// x = x (1 + erf(x / sqrt(2))) / 2: the exact GELU, not its tanh approximation.
// Hendrycks, Gimpel, arXiv 1606.08415.
void GeluF32Ref(Span<float> x) noexcept;

// x = max(x, 0).
void ReluF32Ref(Span<float> x) noexcept;

}  // namespace atto

#endif  // ATTO_OPS_ACTIVATION_ACTIVATION_F32_H_
