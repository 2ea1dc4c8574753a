#include "ops/attention/attention_f32.h"

#include <cstring>

#include "ops/softmax/softmax_f32.h"

namespace atto {

// Keys [tokens, d], then values [tokens, d].
void PackKeysValuesF32Ref(const FloatAttention& attention, std::size_t tokens,
                          std::size_t first, MatrixView<const float> k,
                          MatrixView<const float> v, float* packed) noexcept {
  const std::size_t d = std::size_t{attention.heads} * attention.d_head;
  const std::size_t bytes = k.rows() * d * sizeof(float);
  std::memcpy(packed + first * d, k.data(), bytes);
  std::memcpy(packed + (tokens + first) * d, v.data(), bytes);
}

void AttentionF32Ref(const FloatAttention& attention, std::size_t tokens,
                     MatrixView<const float> q, const float* packed,
                     MatrixView<float> y, float* scratch) noexcept {
  const std::size_t d_head = attention.d_head;
  const std::size_t d = attention.heads * d_head;
  for (std::size_t i = 0; i < q.rows(); ++i) {
    for (std::size_t column = 0; column < d; column += d_head) {
      const float* const query = q.row(i) + column;
      for (std::size_t j = 0; j < tokens; ++j) {
        const float* const key = packed + j * d + column;
        float score = 0;
        for (std::size_t c = 0; c < d_head; ++c) score += query[c] * key[c];
        scratch[j] = score;
      }
      const float sum =
          SoftmaxF32Ref(attention.scale, Span<float>(scratch, tokens));
      for (std::size_t c = 0; c < d_head; ++c) {
        const float* const values = packed + tokens * d + column + c;
        float mean = 0;
        for (std::size_t j = 0; j < tokens; ++j) {
          mean += scratch[j] * values[j * d];
        }
        y.row(i)[column + c] = mean / sum;
      }
    }
  }
}

}  // namespace atto
