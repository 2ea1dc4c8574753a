// Highway kernels of LayerNorm. Contract: layernorm.h.
#if defined(ATTO_OPS_LAYERNORM_LAYERNORM_HWY_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef ATTO_OPS_LAYERNORM_LAYERNORM_HWY_INL_H_
#undef ATTO_OPS_LAYERNORM_LAYERNORM_HWY_INL_H_
#else
#define ATTO_OPS_LAYERNORM_LAYERNORM_HWY_INL_H_
#endif

#include <cmath>

#include "ops/base/fixed_point.h"
#include "ops/layernorm/layernorm.h"
#include "ops/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace atto {
namespace HWY_NAMESPACE {

// c = ((x * scale + offset) mod 2^32) >> 16 for lanes of one vector.
HWY_INLINE V16 Centre(V16 x, V32 scale, V32 offset) {
  const hn::Half<D16> half;
  const V32 lo = hn::PromoteTo(D32(), hn::LowerHalf(half, x));
  const V32 hi = hn::PromoteTo(D32(), hn::UpperHalf(half, x));
  const V32 wide_lo = hn::Add(hn::Mul(lo, scale), offset);
  const V32 wide_hi = hn::Add(hn::Mul(hi, scale), offset);
  return hn::OrderedDemote2To(D16(), hn::ShiftRight<16>(wide_lo),
                              hn::ShiftRight<16>(wide_hi));
}

// floor(2^31 / isqrt(v)) for 2^30 <= v < 2^32: doubles hold v exactly, their
// square root and quotient round correctly, so the floors are exact.
HWY_INLINE std::uint32_t ReciprocalSqrt(std::uint32_t v) {
  const auto root = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(v)));
  return static_cast<std::uint32_t>(2147483648.0 / root);
}

// Row x [d] -> c [d] in `centred` and the multiplier R that turns c into z.
HWY_INLINE std::int16_t CentreRow(const LayerNorm& norm, const std::int16_t* x,
                                  std::int16_t* centred) {
  const D16 d16;
  const D32 d32;
  const std::size_t size = norm.d;
  V32 sums = hn::Zero(d32);
  V16 highs = hn::Set(d16, -32768);
  V16 lows = hn::Set(d16, 32767);
  const V16 one = hn::Set(d16, 1);
  const std::size_t lanes = hn::Lanes(d16);
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    const V16 v = hn::LoadU(d16, x + i);
    sums = hn::Add(sums, hn::WidenMulPairwiseAdd(d32, v, one));
    highs = hn::Max(highs, v);
    lows = hn::Min(lows, v);
  }
  if (i < size) {
    const V16 v = hn::LoadN(d16, x + i, size - i);
    sums = hn::Add(sums, hn::WidenMulPairwiseAdd(d32, v, one));
    const auto valid = hn::FirstN(d16, size - i);
    highs = hn::Max(highs, hn::IfThenElse(valid, v, highs));
    lows = hn::Min(lows, hn::IfThenElse(valid, v, lows));
  }
  const std::int32_t sum = hn::ReduceSum(d32, sums);
  const std::int32_t n = norm.d;
  const std::int32_t above = n * hn::ReduceMax(d16, highs) - sum;
  const std::int32_t below = sum - n * hn::ReduceMin(d16, lows);
  const auto extreme =
      static_cast<std::uint32_t>(above > below ? above : below);
  if (extreme == 0) {
    std::memset(centred, 0, size * sizeof(*centred));
    return 0;
  }
  const int up = static_cast<int>(hwy::Num0BitsAboveMS1Bit_Nonzero32(extreme)) - 1;
  const V32 scale = hn::Set(d32, static_cast<std::int32_t>(n << up));
  const V32 offset = hn::Set(
      d32, static_cast<std::int32_t>(0U - (static_cast<std::uint32_t>(sum) << up)));

  const hn::Repartition<std::uint64_t, D32> du64;
  auto squares = hn::Zero(du64);
  ForEach16(size, [&](std::size_t j, std::size_t count) HWY_ATTR {
    V16 c = Centre(LoadSome16(x + j, count), scale, offset);
    if (count != lanes) c = hn::IfThenElseZero(hn::FirstN(d16, count), c);
    StoreSome16(c, centred + j, count);
    // A pair of squares is at most 2^31: unsigned from here on.
    const auto pairs = hn::BitCast(
        du64, hn::WidenMulPairwiseAdd(d32, c, c));
    squares = hn::Add(squares, hn::ShiftRight<32>(pairs));
    squares = hn::Add(squares, hn::And(pairs, hn::Set(du64, 0xFFFFFFFFU)));
  });
  std::uint64_t v = hn::ReduceSum(du64, squares);
  // Bring the sum to [2^30, 2^32) by a power of four, as the definition does.
  const int bits = 64 - static_cast<int>(hwy::Num0BitsAboveMS1Bit_Nonzero64(v));
  const int down = (bits - 31) / 2 * 2;  // bits is 29..40
  int shift = 17;
  if (bits < 31) {
    v <<= 2;
    shift = 16;
  } else {
    v >>= down;
    shift += down / 2;
  }
  const std::uint32_t q = ReciprocalSqrt(static_cast<std::uint32_t>(v));
  return static_cast<std::int16_t>(
      (q * norm.sqrt_d + (1U << (shift - 1))) >> shift);
}

HWY_INLINE V16 Affine(const LayerNorm& norm, const std::int16_t* centred,
                      V16 reciprocal, std::size_t i, std::size_t count) {
  const V16 z = hn::MulFixedPoint15(LoadSome16(centred + i, count), reciprocal);
  return hn::SaturatedAdd(
      hn::MulFixedPoint15(z, LoadSome16(norm.gain + i, count)),
      LoadSome16(norm.bias + i, count));
}

inline void LayerNormS8(const LayerNorm& norm, MatrixView<const std::int16_t> x,
                        MatrixView<std::int8_t> y) noexcept {
  HWY_ALIGN std::int16_t centred[LayerNorm::kMaxSize];
  for (std::size_t r = 0; r < x.rows(); ++r) {
    const V16 reciprocal =
        hn::Set(D16(), CentreRow(norm, x.row(r), centred));
    ForEach16(norm.d, [&](std::size_t i, std::size_t count) HWY_ATTR {
      StoreSome8(Quantise16(Affine(norm, centred, reciprocal, i, count),
                            norm.shift),
                 y.row(r) + i, count);
    });
  }
}

inline void LayerNormS16(const LayerNorm& norm,
                         MatrixView<const std::int16_t> x,
                         MatrixView<std::int16_t> y) noexcept {
  HWY_ALIGN std::int16_t centred[LayerNorm::kMaxSize];
  for (std::size_t r = 0; r < x.rows(); ++r) {
    const V16 reciprocal =
        hn::Set(D16(), CentreRow(norm, x.row(r), centred));
    ForEach16(norm.d, [&](std::size_t i, std::size_t count) HWY_ATTR {
      StoreSome16(Affine(norm, centred, reciprocal, i, count), y.row(r) + i,
                  count);
    });
  }
}

inline void QuantiseS8(unsigned shift, Span<const std::int16_t> x,
                       std::int8_t* y) noexcept {
  ForEach16(x.size(), [&](std::size_t i, std::size_t count) HWY_ATTR {
    StoreSome8(Quantise16(LoadSome16(x.data() + i, count),
                          static_cast<int>(shift)),
               y + i, count);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace atto
HWY_AFTER_NAMESPACE();

#endif  // toggle
