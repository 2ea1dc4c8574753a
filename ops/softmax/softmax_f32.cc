#include "ops/softmax/softmax_f32.h"

#include <cmath>

namespace atto {

float SoftmaxF32Ref(float scale, Span<float> x) noexcept {
  float largest = x[0];
  for (const float value : x) largest = value > largest ? value : largest;
  float sum = 0;
  for (float& value : x) {
    value = std::exp(scale * (value - largest));
    sum += value;
  }
  return sum;
}

}  // namespace atto
