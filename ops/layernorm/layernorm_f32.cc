#include "ops/layernorm/layernorm_f32.h"

#include <cmath>
#include <cstddef>

namespace atto {

void LayerNormF32Ref(const FloatLayerNorm& norm, MatrixView<const float> x,
                     MatrixView<float> y) noexcept {
  const std::size_t d = norm.d;
  const float size = static_cast<float>(d);
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const float* const in = x.row(i);
    float* const out = y.row(i);
    float sum = 0;
    for (std::size_t j = 0; j < d; ++j) sum += in[j];
    const float mean = sum / size;
    float squares = 0;
    for (std::size_t j = 0; j < d; ++j) {
      squares += (in[j] - mean) * (in[j] - mean);
    }
    const float scale = 1 / std::sqrt(squares / size + kLayerNormEpsilon);
    for (std::size_t j = 0; j < d; ++j) {
      out[j] = (in[j] - mean) * scale * norm.gain[j] + norm.bias[j];
    }
  }
}

}  // namespace atto
