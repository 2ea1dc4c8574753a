// Streaming multi-head attention: softmax(Q K^T / sqrt(d_head)) V.
// Vaswani et al., arXiv 1706.03762, section 3.2.1.
// Integer definition: docs/quantization.md, "Attention".
#ifndef ATTO_OPS_ATTENTION_ATTENTION_H_
#define ATTO_OPS_ATTENTION_ATTENTION_H_

#include <cstddef>
#include <cstdint>

#include "ops/base/span.h"
#include "ops/softmax/softmax.h"

namespace atto {

struct Attention {
  SoftmaxParams softmax;
  std::uint16_t heads = 0;   // heads * d_head is the width of Q, K, V
  std::uint16_t d_head = 0;  // 1..512
};

// Bytes of scratch for `tokens` keys: the scores and weights of one row.
// Grows with n, never with n x n.
constexpr std::size_t AttentionScratchBytes(std::size_t tokens) noexcept {
  return tokens * (sizeof(std::int32_t) + sizeof(std::int8_t));
}

// q [rows, d], k and v [n, d] int8 -> y [rows, d] int8 on the scale of v.
// 1 <= n <= 512. Padding does not exist: k and v hold real tokens only.
// y may be q. scratch: the bytes that ops/backend_memory.h gives for the
// backend, aligned to 4. `tap`, if not null, receives the weights, [rows,
// heads, n] int8 in [0, 127]; the weights of one row and head divided by their
// sum are its probabilities.
void AttentionS8Ref(const Attention& attention, MatrixView<const std::int8_t> q,
                    MatrixView<const std::int8_t> k,
                    MatrixView<const std::int8_t> v, MatrixView<std::int8_t> y,
                    void* scratch, std::int8_t* tap) noexcept;

// The same on other cores.
decltype(AttentionS8Ref) AttentionS8Dsp, AttentionS8Helium;

}  // namespace atto

#endif  // ATTO_OPS_ATTENTION_ATTENTION_H_
