// Highway kernels of mean pooling. Contract: pooling.h.
#if defined(ATTO_OPS_POOLING_POOLING_HWY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTO_OPS_POOLING_POOLING_HWY_INL_H_
#undef ATTO_OPS_POOLING_POOLING_HWY_INL_H_
#else
#define ATTO_OPS_POOLING_POOLING_HWY_INL_H_
#endif

#include "ops/base/fixed_point.h"
#include "ops/pooling/pooling.h"
#include "ops/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace atto {
namespace HWY_NAMESPACE {

// WeightedMean8 of two vectors of sums; the result is 16 bits wide.
HWY_INLINE V16 WeightedMean16(V32 lo, V32 hi, const MeanReciprocal& reciprocal,
                              V16 factor) {
  const D32 d32;
  const int left = static_cast<int>(reciprocal.left_shift);
  const V32 half = hn::Set(d32, 256);
  const V32 scaled_lo =
      hn::ShiftRight<9>(hn::Add(hn::ShiftLeftSame(lo, left), half));
  const V32 scaled_hi =
      hn::ShiftRight<9>(hn::Add(hn::ShiftLeftSame(hi, left), half));
  const V16 scaled = hn::OrderedDemote2To(D16(), scaled_lo, scaled_hi);
  const V16 u = hn::MulFixedPoint15(
      scaled, hn::Set(D16(), static_cast<std::int16_t>(reciprocal.inverse)));
  return Quantise16(u, factor);
}

inline void SumRowsS8(MatrixView<const std::int8_t> x,
                      std::int32_t* sums) noexcept {
  const D32 d32;
  const hn::Half<D16> half16;
  const std::size_t half = hn::Lanes(d32);
  std::size_t j = 0;
  // Up to 255 rows fit 16 bits; a call brings a tile, but be safe.
  for (; j + 2 * half <= x.cols(); j += 2 * half) {
    std::size_t row = 0;
    while (row < x.rows()) {
      V16 sum = hn::Zero(D16());
      const std::size_t end = row + 255 < x.rows() ? row + 255 : x.rows();
      for (; row < end; ++row) sum = hn::Add(sum, Load8(x.row(row) + j));
      const V32 lo = hn::PromoteTo(d32, hn::LowerHalf(half16, sum));
      const V32 hi = hn::PromoteTo(d32, hn::UpperHalf(half16, sum));
      hn::StoreU(hn::Add(lo, hn::LoadU(d32, sums + j)), d32, sums + j);
      hn::StoreU(hn::Add(hi, hn::LoadU(d32, sums + j + half)), d32,
                 sums + j + half);
    }
  }
  for (; j < x.cols(); ++j) {
    for (std::size_t row = 0; row < x.rows(); ++row) sums[j] += x.row(row)[j];
  }
}

inline void MeanS8(Span<const std::int32_t> sums, std::size_t tokens,
                   unsigned shift, std::int8_t* y) noexcept {
  const D32 d32;
  const std::size_t half = hn::Lanes(d32);
  const MeanReciprocal reciprocal =
      MakeMeanReciprocal(static_cast<std::uint32_t>(tokens));
  const V16 factor = QuantiseFactor(shift);
  std::size_t j = 0;
  for (; j + 2 * half <= sums.size(); j += 2 * half) {
    Store8(WeightedMean16(hn::LoadU(d32, sums.data() + j),
                          hn::LoadU(d32, sums.data() + j + half), reciprocal,
                          factor),
           y + j);
  }
  for (; j < sums.size(); ++j) y[j] = WeightedMean8(sums[j], reciprocal, shift);
}

}  // namespace HWY_NAMESPACE
}  // namespace atto
HWY_AFTER_NAMESPACE();

#endif  // toggle
