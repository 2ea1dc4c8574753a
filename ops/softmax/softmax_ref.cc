#include "ops/base/fixed_point.h"
#include "ops/softmax/softmax.h"

namespace atto {
namespace {

constexpr std::int32_t kFractionBits = 11;  // of -log2(weight)
constexpr std::int32_t kFractionMask = (1 << kFractionBits) - 1;

}  // namespace

std::int32_t SoftmaxS8Ref(const SoftmaxParams& params,
                          Span<const std::int32_t> scores,
                          std::int8_t* weights) noexcept {
  std::int32_t max = scores[0];
  for (const std::int32_t score : scores) max = score > max ? score : max;
  const int right = params.shift > 0 ? params.shift : 0;
  const int left = params.shift < 0 ? -params.shift : 0;
  std::int32_t sum = 0;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const std::int32_t distance = ((max - scores[j]) >> right) << left;
    const std::int32_t t = distance < 32767 ? distance : 32767;
    const std::int32_t x = Rdh16(t, params.multiplier);
    const std::int32_t octave = x >> kFractionBits;
    std::int32_t weight = 0;
    if (octave < 8) {
      weight = Rdh16(Exp2Mantissa(x & kFractionMask), 1 << (7 - octave));
    }
    weights[j] = static_cast<std::int8_t>(weight);
    sum += weight;
  }
  return sum;
}

void ClassScores(Span<const std::int16_t> logits,
                 Span<std::uint16_t> scores) noexcept {
  std::int32_t max = logits[0];
  for (const std::int16_t logit : logits) max = logit > max ? logit : max;
  const auto exponential = [max](std::int16_t logit) noexcept {
    // 11,819 / 2^10 = 8 log2(e): 1/256 nat to log2 units with 11 fraction bits.
    const std::int32_t x = ((max - logit) * 11819 + 512) >> 10;
    const std::int32_t octave = x >> kFractionBits;
    return octave < 15 ? Exp2Mantissa(x & kFractionMask) >> octave : 0;
  };
  std::uint32_t sum = 0;
  for (const std::int16_t logit : logits) {
    sum += static_cast<std::uint32_t>(exponential(logit));
  }
  for (std::size_t j = 0; j < logits.size(); ++j) {
    const auto e = static_cast<std::uint32_t>(exponential(logits[j]));
    scores[j] = static_cast<std::uint16_t>(((e << 15) + sum / 2) / sum);
  }
}

}  // namespace atto
