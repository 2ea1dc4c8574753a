#include <cstring>

#include "ops/helium/vector.h"
#include "ops/softmax/softmax.h"

namespace atto {
namespace {

// The weights of eight scores. dist_j 2^-sc saturates when it is narrowed;
// even and odd scores come apart, and narrowing puts them together again.
// A rounding shift by 16 and more, octaves from 8 on, gives 0.
inline int16x8_t EightWeights(const std::int32_t* scores, int32x4_t max,
                              int left, std::int16_t multiplier) noexcept {
  const int32x4x2_t score = vld2q_s32(scores);
  const int32x4_t even = vshlq_r_s32(vsubq_s32(max, score.val[0]), left);
  const int32x4_t odd = vshlq_r_s32(vsubq_s32(max, score.val[1]), left);
  int16x8_t t = vuninitializedq_s16();
  t = vqmovnbq_s32(t, even);
  t = vqmovntq_s32(t, odd);
  const int16x8_t x = vqrdmulhq_n_s16(t, multiplier);
  // 16 times the fraction: its 11 bits under the sign.
  const int16x8_t f = vreinterpretq_s16_u16(
      vshrq_n_u16(vreinterpretq_u16_s16(vshlq_n_s16(x, 5)), 1));
  const int16x8_t slope =
      vsubq_s16(vdupq_n_s16(21944), vqrdmulhq_n_s16(f, 5740));
  const int16x8_t mantissa =
      vsubq_s16(vdupq_n_s16(32512), vqrdmulhq_s16(f, slope));
  const int16x8_t shift = vsubq_s16(vdupq_n_s16(-8), vshrq_n_s16(x, 11));
  return vrshlq_s16(mantissa, shift);
}

}  // namespace

std::int32_t SoftmaxS8Helium(const SoftmaxParams& params,
                             Span<const std::int32_t> scores,
                             std::int8_t* weights) noexcept {
  const std::int32_t* score = scores.data();
  std::size_t left = scores.size();
  std::int32_t largest = score[0];
  for (std::size_t j = 0; j < left; j += 4) {
    const mve_pred16_t lanes = helium::Lanes32(left - j);
    largest = vmaxvq_p_s32(largest, vldrwq_z_s32(score + j, lanes), lanes);
  }
  const int32x4_t max = vdupq_n_s32(largest);
  const int shift = -params.shift;
  const std::int16_t multiplier = params.multiplier;
  std::int32_t sum = 0;
  for (; left >= 8; left -= 8, score += 8, weights += 8) {
    const int16x8_t weight = EightWeights(score, max, shift, multiplier);
    vstrbq_s16(weights, weight);
    sum = vaddvaq_s16(sum, weight);
  }
  if (left != 0) {
    std::int32_t part[8] = {};
    std::memcpy(part, score, left * sizeof(std::int32_t));
    const int16x8_t weight = EightWeights(part, max, shift, multiplier);
    const mve_pred16_t lanes = helium::Lanes16(left);
    vstrbq_p_s16(weights, weight, lanes);
    sum = vaddvaq_p_s16(sum, weight, lanes);
  }
  return sum;
}

}  // namespace atto
