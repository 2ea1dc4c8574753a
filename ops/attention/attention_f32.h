// Streaming multi-head attention of floats: softmax(Q K^T / sqrt(d_head)) V.
// Vaswani et al., arXiv 1706.03762, section 3.2.1.
#ifndef ATTO_OPS_ATTENTION_ATTENTION_F32_H_
#define ATTO_OPS_ATTENTION_ATTENTION_F32_H_

#include <cstddef>
#include <cstdint>

#include "ops/base/span.h"

namespace atto {

struct FloatAttention {
  std::uint16_t heads = 0;   // heads * d_head is d, the width of Q, K, V
  std::uint16_t d_head = 0;  // 1..512
  float scale = 0;           // 1 / sqrt(d_head)
};

// Keeps keys and values of the tokens first .. first + k.rows() - 1, of
// `tokens` in all, as AttentionF32Ref wants them. k, v [rows, d]; packed: at
// least PackedKeysValuesSize floats. Called for all tokens, from the first on.
// Legal: 1 <= tokens <= 512, first + k.rows() <= tokens.
void PackKeysValuesF32Ref(const FloatAttention& attention, std::size_t tokens,
                          std::size_t first, MatrixView<const float> k,
                          MatrixView<const float> v, float* packed) noexcept;

// q [rows, d] -> y [rows, d], over the keys and values of all `tokens`. y may
// be q. scratch: at least FloatAttentionScratchSize floats, O(tokens).
void AttentionF32Ref(const FloatAttention& attention, std::size_t tokens,
                     MatrixView<const float> q, const float* packed,
                     MatrixView<float> y, float* scratch) noexcept;

}  // namespace atto

#endif  // ATTO_OPS_ATTENTION_ATTENTION_F32_H_
