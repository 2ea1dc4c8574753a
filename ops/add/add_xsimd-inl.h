#ifndef ATTO_OPS_ADD_ADD_XSIMD_INL_H_
#define ATTO_OPS_ADD_ADD_XSIMD_INL_H_

#include "ops/add/add_f32.h"
#include "ops/float_simd/vectors-inl.h"

namespace atto {
namespace {

void AddF32(Span<const float> x, float* r) noexcept {
  Map2(x.data(), r, r, x.size(), [](Vector a, Vector b) { return a + b; });
}

}  // namespace
}  // namespace atto

#endif  // ATTO_OPS_ADD_ADD_XSIMD_INL_H_
