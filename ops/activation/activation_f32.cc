#include "ops/activation/activation_f32.h"

#include <cmath>

namespace atto {

void GeluF32Ref(Span<float> x) noexcept {
  constexpr float kSqrtHalf = 0.70710678F;
  for (float& value : x) value *= 0.5F * std::erfc(-value * kSqrtHalf);
}

void ReluF32Ref(Span<float> x) noexcept {
  for (float& value : x) value = value > 0 ? value : 0;
}

}  // namespace atto
