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

// Weights of D16's lanes of scores; `shift` drops bits of the distances, or
// adds some (kLeft). Natural order, or the one that packing leaves them in.
template <bool kLeft, bool kNatural>
HWY_INLINE V16 WeightsOf(V32 max, const std::int32_t* scores, ShiftCount shift,
                         V16 multiplier) {
  const D16 d16;
  const D32 d32;
  V32 lo = hn::Sub(max, hn::LoadU(d32, scores));
  V32 hi = hn::Sub(max, hn::LoadU(d32, scores + hn::Lanes(d32)));
  lo = kLeft ? ShiftLeftBy(lo, shift) : ShiftRightBy(lo, shift);
  hi = kLeft ? ShiftLeftBy(hi, shift) : ShiftRightBy(hi, shift);
  const V16 t = kNatural ? hn::OrderedDemote2To(d16, lo, hi)
                         : hn::ReorderDemote2To(d16, lo, hi);
  return Exp2Weights(hn::MulFixedPoint15(t, multiplier));
}

// Weights of so many scores are packed together, in whatever order is cheapest.
HWY_INLINE std::size_t GroupTokens() { return hn::Lanes(D8()); }

// order[i]: the score of a group whose weight is byte i.
HWY_INLINE void GroupOrder(std::int8_t* order) {
  const D32 d;
  const auto step = static_cast<std::int32_t>(hn::Lanes(d));
  const V16 lower =
      hn::ReorderDemote2To(D16(), hn::Iota(d, 0), hn::Iota(d, step));
  const V16 upper =
      hn::ReorderDemote2To(D16(), hn::Iota(d, 2 * step), hn::Iota(d, 3 * step));
  hn::StoreU(hn::ReorderDemote2To(D8(), lower, upper), D8(), order);
}

template <bool kLeft, std::size_t kRows>
HWY_INLINE void ShiftedSoftmaxRows(int places, std::int16_t factor,
                                   const std::int32_t* scores0,
                                   const std::int32_t* scores1,
                                   std::size_t grouped, std::size_t tokens,
                                   V32 high0, V32 high1, std::int8_t* weights0,
                                   std::int8_t* weights1, std::int32_t* sums) {
  const D16 d16;
  const D32 d32;
  const std::size_t lanes = hn::Lanes(d16);
  const V16 multiplier = hn::Set(d16, factor);
  const ShiftCount shift = MakeShift(places);
  const V32 max0 = hn::MaxOfLanes(d32, high0);
  const V32 max1 = kRows > 1 ? hn::MaxOfLanes(d32, high1) : max0;
  // 512 * 127 over at least 8 lanes: no overflow.
  V16 sum0 = hn::Zero(d16), sum1 = sum0;
  std::size_t j = 0;
  const auto group = [&](V16& sum, V32 max, const std::int32_t* scores,
                         std::int8_t* weights) ATTO_INLINE_LAMBDA {
    const V16 lower =
        WeightsOf<kLeft, false>(max, scores + j, shift, multiplier);
    const V16 upper =
        WeightsOf<kLeft, false>(max, scores + j + lanes, shift, multiplier);
    sum = hn::Add(sum, hn::Add(lower, upper));
    hn::StoreU(hn::ReorderDemote2To(D8(), lower, upper), D8(), weights + j);
  };
  for (; j < grouped; j += 2 * lanes) {
    group(sum0, max0, scores0, weights0);
    if constexpr (kRows > 1) group(sum1, max1, scores1, weights1);
  }
  const auto natural = [&](V16& sum, V32 max, const std::int32_t* scores,
                           std::int8_t* weights) ATTO_INLINE_LAMBDA {
    V16 e = WeightsOf<kLeft, true>(max, scores + j, shift, multiplier);
    if (tokens - j < lanes) {
      e = hn::IfThenElseZero(hn::FirstN(d16, tokens - j), e);
    }
    sum = hn::Add(sum, e);
    Store8(e, weights + j);
  };
  for (; j < tokens; j += lanes) {
    natural(sum0, max0, scores0, weights0);
    if constexpr (kRows > 1) natural(sum1, max1, scores1, weights1);
  }
  const V16 one = hn::Set(d16, 1);
  sums[0] = SumOf32(hn::WidenMulPairwiseAdd(d32, sum0, one));
  if constexpr (kRows > 1) {
    sums[1] = SumOf32(hn::WidenMulPairwiseAdd(d32, sum1, one));
  }
}

// Weights of kRows rows, 1 or 2, `stride` scores and weights apart. A vector of
// highs holds the row's maximum in some lane and nothing larger. The first
// `grouped` scores, whole groups, become weights in GroupOrder, the others in
// natural order. Rows have room for whole vectors of D16: `tokens` rounded up.
// Weights beyond `tokens` become zero. Writes the sums of the rows.
template <std::size_t kRows>
HWY_INLINE void SoftmaxRows(const SoftmaxParams& params,
                            const std::int32_t* scores, std::size_t stride,
                            std::size_t grouped, std::size_t tokens, V32 high0,
                            V32 high1, std::int8_t* weights,
                            std::int32_t* sums) {
  if (HWY_LIKELY(params.shift >= 0)) {
    ShiftedSoftmaxRows<false, kRows>(params.shift, params.multiplier, scores,
                                     scores + stride, grouped, tokens, high0,
                                     high1, weights, weights + stride, sums);
  } else {
    ShiftedSoftmaxRows<true, kRows>(-params.shift, params.multiplier, scores,
                                    scores + stride, grouped, tokens, high0,
                                    high1, weights, weights + stride, sums);
  }
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
  std::int32_t sum = 0;
  SoftmaxRows<1>(params, padded, 0, 0, tokens, highs, highs, rounded, &sum);
  std::memcpy(weights, rounded, scores.size());
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace atto
HWY_AFTER_NAMESPACE();

#endif  // toggle
