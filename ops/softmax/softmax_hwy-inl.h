// Highway kernel of the integer softmax weights. Contract: softmax.h.
#if defined(ATTO_OPS_SOFTMAX_SOFTMAX_HWY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTO_OPS_SOFTMAX_SOFTMAX_HWY_INL_H_
#undef ATTO_OPS_SOFTMAX_SOFTMAX_HWY_INL_H_
#else
#define ATTO_OPS_SOFTMAX_SOFTMAX_HWY_INL_H_
#endif

#include "ops/simd/vectors-inl.h"
#include "ops/softmax/softmax.h"

HWY_BEFORE_NAMESPACE();
namespace atto {
namespace HWY_NAMESPACE {

// 127 * 2^(-x / 2048), rounded as the definition does, for x in 0..32767.
HWY_INLINE V16 Exp2Weights(V16 x) {
  const D16 d;
  // 2^(7 - octave) for octaves 0..7, 0 beyond: a table of 16 bytes; the high
  // byte of each lane asks for zero.
  alignas(16) static constexpr std::uint8_t kPowers[16] = {128, 64, 32, 16,
                                                           8,   4,  2,  1};
  const auto powers = hn::LoadDup128(DU8(), kPowers);
  const V16 octave = hn::Or(hn::ShiftRight<11>(x), hn::Set(d, -32768));
  const V16 power = hn::BitCast(
      d, hn::TableLookupBytesOr0(powers, hn::BitCast(D8(), octave)));
  const V16 f = hn::ShiftLeft<4>(hn::And(x, hn::Set(d, 2047)));
  const V16 inner =
      hn::Sub(hn::Set(d, 21944), hn::MulFixedPoint15(f, hn::Set(d, 5740)));
  const V16 mantissa =
      hn::Sub(hn::Set(d, 32512), hn::MulFixedPoint15(f, inner));
  return hn::MulFixedPoint15(mantissa, power);
}

// Weights of one row; `highs` holds the row's maximum in some lane and nothing
// larger. scores and weights have room for whole vectors of D16: `tokens`
// rounded up. Weights beyond `tokens` become zero. Returns the sum.
HWY_INLINE std::int32_t SoftmaxRow(const SoftmaxParams& params,
                                   const std::int32_t* scores,
                                   std::size_t tokens, V32 highs,
                                   std::int8_t* weights) {
  const D16 d16;
  const D32 d32;
  const std::size_t half = hn::Lanes(d32);
  const V32 max = hn::MaxOfLanes(d32, highs);
  const int right = params.shift > 0 ? params.shift : 0;
  const int left = params.shift < 0 ? -params.shift : 0;
  const V16 multiplier = hn::Set(d16, params.multiplier);
  V16 sums = hn::Zero(d16);  // 512 * 127 over at least 8 lanes: no overflow
  ForEach16(tokens, [&](std::size_t j, std::size_t count) HWY_ATTR {
    V32 lo = hn::Sub(max, hn::LoadU(d32, scores + j));
    V32 hi = hn::Sub(max, hn::LoadU(d32, scores + j + half));
    if (left == 0) {
      lo = hn::ShiftRightSame(lo, right);
      hi = hn::ShiftRightSame(hi, right);
    } else {
      lo = hn::ShiftLeftSame(lo, left);
      hi = hn::ShiftLeftSame(hi, left);
    }
    const V16 t = hn::OrderedDemote2To(d16, lo, hi);
    V16 e = Exp2Weights(hn::MulFixedPoint15(t, multiplier));
    if (count != 2 * half) e = hn::IfThenElseZero(hn::FirstN(d16, count), e);
    sums = hn::Add(sums, e);
    Store8(e, weights + j);
  });
  return hn::ReduceSum(d32,
                       hn::WidenMulPairwiseAdd(d32, sums, hn::Set(d16, 1)));
}

inline std::int32_t SoftmaxS8(const SoftmaxParams& params,
                              Span<const std::int32_t> scores,
                              std::int8_t* weights) noexcept {
  // SoftmaxRow wants whole vectors; a standalone row is copied.
  const D32 d32;
  const std::size_t half = hn::Lanes(d32);
  const std::size_t tokens = scores.size();
  HWY_ALIGN std::int32_t padded[512 + 32];
  HWY_ALIGN std::int8_t rounded[512 + 32];
  std::memcpy(padded, scores.data(), tokens * sizeof(padded[0]));
  for (std::size_t i = tokens; i < tokens + 2 * half; ++i) {
    padded[i] = scores[0];
  }
  V32 highs = hn::Load(d32, padded);
  for (std::size_t i = half; i < tokens; i += half) {
    highs = hn::Max(highs, hn::Load(d32, padded + i));
  }
  const std::int32_t sum = SoftmaxRow(params, padded, tokens, highs, rounded);
  std::memcpy(weights, rounded, scores.size());
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace atto
HWY_AFTER_NAMESPACE();

#endif  // toggle
