// Softmax over a row of float scores, without its division.
#ifndef ATTO_OPS_SOFTMAX_SOFTMAX_F32_H_
#define ATTO_OPS_SOFTMAX_SOFTMAX_F32_H_

#include "ops/base/span.h"

namespace atto {

// x[j] = exp(scale (x[j] - max x)): weights relative to the largest, in place.
// Returns their sum, >= 1; weight / sum is the probability. Legal: at least one
// score, all finite; scale > 0.
float SoftmaxF32Ref(float scale, Span<float> x) noexcept;

}  // namespace atto

#endif  // ATTO_OPS_SOFTMAX_SOFTMAX_F32_H_
