// Sum of two float arrays: the residual stream takes the positions in.
#ifndef ATTO_OPS_ADD_ADD_F32_H_
#define ATTO_OPS_ADD_ADD_F32_H_

#include "ops/base/span.h"

namespace atto {

// r[i] += x[i]. r holds x.size() elements.
void AddF32Ref(Span<const float> x, float* r) noexcept;

}  // namespace atto

#endif  // ATTO_OPS_ADD_ADD_F32_H_
