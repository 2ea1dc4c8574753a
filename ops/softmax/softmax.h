// Integer softmax weights of one row of attention scores.
// Integer definition: docs/quantization.md, "Attention".
#ifndef ATTO_OPS_SOFTMAX_SOFTMAX_H_
#define ATTO_OPS_SOFTMAX_SOFTMAX_H_

#include <cstddef>
#include <cstdint>

#include "ops/base/span.h"

namespace atto {

// Together the two hold log2(e) scale_q scale_k / sqrt(d_head), the factor from
// score accumulators to log2 units with 11 fraction bits.
struct SoftmaxParams {
  static constexpr int kMinShift = -4;
  static constexpr int kMaxShift = 20;

  std::int16_t multiplier = 1;  // 1..32,767
  std::int8_t shift = 0;        // kMinShift..kMaxShift; negative is to the left
};

// weights[j] = round(127 softmax[j] / max softmax), in [0, 127]; the largest is
// 127. Returns their sum, 127..127 n.
// scores [n] int32, any two less than 2^24 apart; weights [n]; n >= 1.
std::int32_t SoftmaxS8Ref(const SoftmaxParams& params,
                          Span<const std::int32_t> scores,
                          std::int8_t* weights) noexcept;

// The same on other cores.
decltype(SoftmaxS8Ref) SoftmaxS8Dsp, SoftmaxS8Helium;

// Class probabilities with 15 fraction bits (32,768 is certainty) from logits
// in units of 1/256 nat. logits [c], scores [c], 1 <= c <= 1,024. Not a hot
// path: it runs once a classification.
void ClassScores(Span<const std::int16_t> logits,
                 Span<std::uint16_t> scores) noexcept;

}  // namespace atto

#endif  // ATTO_OPS_SOFTMAX_SOFTMAX_H_
