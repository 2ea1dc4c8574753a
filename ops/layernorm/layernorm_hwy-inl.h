// Highway kernels of LayerNorm. Contract: layernorm.h.
#if defined(ATTO_OPS_LAYERNORM_LAYERNORM_HWY_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef ATTO_OPS_LAYERNORM_LAYERNORM_HWY_INL_H_
#undef ATTO_OPS_LAYERNORM_LAYERNORM_HWY_INL_H_
#else
#define ATTO_OPS_LAYERNORM_LAYERNORM_HWY_INL_H_
#endif

#include "ops/base/fixed_point.h"
#include "ops/layernorm/layernorm.h"
#include "ops/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace atto {
namespace HWY_NAMESPACE {

// Rows that go through each step together: reductions, square roots and
// divisions are long chains, which overlap only across rows.
constexpr std::size_t kNormRows = 16;

using DPart32 = hn::Full128<std::int32_t>;
using DPart16 = hn::Full128<std::int16_t>;
using DPart64 = hn::Full128<std::uint64_t>;

// A block of rows on their way through the norm. Of each row, 128 bits: what
// is left to reduce is done for four rows at once, lane by lane.
struct NormBlock {
  alignas(64) std::int16_t centred[kNormRows * LayerNorm::kMaxSize];  // c
  alignas(64) std::int32_t sum_parts[kNormRows][4];  // add up to S
  // The largest even element is hi, the largest odd one is -1 - lo.
  alignas(64) std::int16_t extreme_parts[kNormRows][8];
  alignas(64) std::uint64_t square_parts[kNormRows][2];  // add up to V
  alignas(64) std::int32_t sum[kNormRows];               // S
  alignas(64) std::int32_t shift[kNormRows];             // 31 - p
  alignas(64) std::uint64_t squares[kNormRows];          // V
  alignas(64) std::int32_t reciprocal[kNormRows];        // R, makes z of c

  // Rows that the last block lacks count as zeros.
  NormBlock() {
    for (std::size_t i = 0; i < kNormRows; ++i) {
      hn::Store(hn::Zero(DPart32()), DPart32(), sum_parts[i]);
      hn::Store(hn::Zero(DPart16()), DPart16(), extreme_parts[i]);
      hn::Store(hn::Zero(DPart64()), DPart64(), square_parts[i]);
    }
  }
  std::int16_t* centred_row(std::size_t row) {
    return centred + row * LayerNorm::kMaxSize;
  }
};

// What joins two vectors into one.
struct AddLanes {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
};
struct MaxLanes {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Max(a, b);
  }
};

#if !HWY_HAVE_SCALABLE
// Halves joined until 128 bits are left.
template <class D, class Join>
HWY_INLINE auto Fold(D d, hn::Vec<D> v, const Join& join) {
  if constexpr (d.MaxBytes() <= 16) {
    return v;
  } else {
    const hn::Half<D> half;
    return Fold(half, join(hn::LowerHalf(half, v), hn::UpperHalf(half, v)),
                join);
  }
}
#endif

// Four parts [4] -> one vector: lane i joins the elements of part i.
template <class Join>
HWY_INLINE hn::Vec<DPart32> JoinParts(const std::int32_t* parts,
                                      const Join& join) {
  const DPart32 d;
  const DPart64 d64;
  const auto a = hn::Load(d, parts);
  const auto b = hn::Load(d, parts + 4);
  const auto c = hn::Load(d, parts + 8);
  const auto e = hn::Load(d, parts + 12);
  const auto ab = hn::BitCast(
      d64, join(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)));
  const auto ce = hn::BitCast(
      d64, join(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e)));
  return join(hn::BitCast(d, hn::InterleaveLower(d64, ab, ce)),
              hn::BitCast(d, hn::InterleaveUpper(d64, ab, ce)));
}

// Multiplies even lanes of 16 bits, or odd ones, by d in WidenMulPairwiseAdd.
template <class D>
HWY_INLINE hn::Vec<D> EvenFactor(D d16, std::int32_t d) {
  const hn::RepartitionToWide<D> d32;
  return hn::BitCast(d16, hn::Set(d32, d));
}
template <class D>
HWY_INLINE hn::Vec<D> OddFactor(D d16, std::int32_t d) {
  return EvenFactor(d16, d * 65536);
}

// Row x [d] -> parts of S, hi and lo.
HWY_INLINE void MeasureRow(const LayerNorm& norm, const std::int16_t* x,
                           std::size_t row, NormBlock* block) {
  const D16 d16;
  const D32 d32;
  const V16 first = hn::Set(d16, x[0]);
  const V16 one = hn::Set(d16, 1);
  const std::size_t lanes = hn::Lanes(d16);
  V32 sums = hn::Zero(d32);
  V16 highs = first;
  V16 lows = first;
  ForEach16(norm.d, [&](std::size_t i, std::size_t count) ATTO_INLINE_LAMBDA {
    V16 v = LoadSome16(x + i, count);
    sums = hn::Add(sums, hn::WidenMulPairwiseAdd(d32, v, one));
    // Lanes beyond the row repeat its first element.
    if (count != lanes) v = hn::IfThenElse(hn::FirstN(d16, count), v, first);
    highs = hn::Max(highs, v);
    lows = hn::Min(lows, v);
  });
  const V16 falling = hn::Not(lows);
  const DPart16 part16;
  const DPart32 part32;
#if HWY_HAVE_SCALABLE
  // Vectors of unknown length have no halves, but quick reductions.
  const std::int32_t sum = hn::ReduceSum(d32, sums);
  hn::Store(hn::InsertLane(hn::Zero(part32), 0, sum), part32,
            block->sum_parts[row]);
  hn::Store(hn::OddEven(hn::Set(part16, hn::ReduceMax(d16, falling)),
                        hn::Set(part16, hn::ReduceMax(d16, highs))),
            part16, block->extreme_parts[row]);
#else
  hn::Store(Fold(d32, sums, AddLanes()), part32, block->sum_parts[row]);
  const auto high = Fold(d16, highs, MaxLanes());
  const auto fall = Fold(d16, falling, MaxLanes());
  hn::Store(hn::Max(hn::InterleaveLower(part16, high, fall),
                    hn::InterleaveUpper(part16, high, fall)),
            part16, block->extreme_parts[row]);
#endif
}

// S and 31 - p of every row.
HWY_INLINE void FindShifts(const LayerNorm& norm, NormBlock* block) {
  const DPart16 d16;
  const DPart32 d32;
  const auto d = hn::Set(d32, std::int32_t{norm.d});
  for (std::size_t i = 0; i < kNormRows; i += 4) {
    const auto sum = JoinParts(block->sum_parts[i], AddLanes());
    const auto extremes = hn::BitCast(
        d16, JoinParts(reinterpret_cast<std::int32_t*>(block->extreme_parts[i]),
                       [&](auto a, auto b) ATTO_INLINE_LAMBDA {
                         return hn::BitCast(d32, hn::Max(hn::BitCast(d16, a),
                                                         hn::BitCast(d16, b)));
                       }));
    const auto d_high =
        hn::WidenMulPairwiseAdd(d32, extremes, EvenFactor(d16, norm.d));
    const auto d_fall =
        hn::WidenMulPairwiseAdd(d32, extremes, OddFactor(d16, norm.d));
    const auto above = hn::Sub(d_high, sum);
    const auto below = hn::Add(sum, hn::Add(d_fall, d));
    // A constant row gets 31; all of its d x - S are zero.
    const auto zeros = hn::LeadingZeroCount(hn::Max(above, below));
    hn::Store(sum, d32, block->sum + i);
    hn::Store(hn::Sub(zeros, hn::Set(d32, 1)), d32, block->shift + i);
  }
}

// Row x [d] -> c and parts of V.
HWY_INLINE void CentreRow(const LayerNorm& norm, const std::int16_t* x,
                          std::size_t row, NormBlock* block) {
  const D16 d16;
  const D32 d32;
  const hn::Repartition<std::uint64_t, D32> du64;
  std::int16_t* const centred = block->centred_row(row);
  const V16 even_factor = EvenFactor(d16, norm.d);
  const V16 odd_factor = OddFactor(d16, norm.d);
  const V32 sum = hn::Set(d32, block->sum[row]);
  const V32 shift = hn::Set(d32, block->shift[row]);
  // Sums of all 64 bits, modulo 2^64, and of the upper 32.
  auto squares = hn::Zero(du64);
  auto uppers = squares;
  ForEach16(norm.d, [&](std::size_t i, std::size_t count) ATTO_INLINE_LAMBDA {
    const V16 v = LoadSome16(x + i, count);
    const V32 even = hn::Shl(
        hn::Sub(hn::WidenMulPairwiseAdd(d32, v, even_factor), sum), shift);
    const V32 odd = hn::Shl(
        hn::Sub(hn::WidenMulPairwiseAdd(d32, v, odd_factor), sum), shift);
    V16 c = hn::OddEven(hn::BitCast(d16, odd),
                        hn::BitCast(d16, hn::ShiftRight<16>(even)));
    if (count != hn::Lanes(d16)) {
      c = hn::IfThenElseZero(hn::FirstN(d16, count), c);
    }
    StoreSome16(c, centred + i, count);
    // A pair of squares is at most 2^31: unsigned from here on.
    const auto pairs = hn::BitCast(du64, hn::WidenMulPairwiseAdd(d32, c, c));
    squares = hn::Add(squares, pairs);
    uppers = hn::Add(uppers, hn::ShiftRight<32>(pairs));
  });
  const auto v = hn::Add(hn::Sub(squares, hn::ShiftLeft<32>(uppers)), uppers);
  const DPart64 part;
#if HWY_HAVE_SCALABLE
  hn::Store(hn::InsertLane(hn::Zero(part), 0, hn::ReduceSum(du64, v)), part,
            block->square_parts[row]);
#else
  hn::Store(Fold(du64, v, AddLanes()), part, block->square_parts[row]);
#endif
}

// R of every row. All numbers but V 4^j are integers below 2^53, or such times
// a power of two: doubles hold them exactly, and their square root and quotient
// round correctly, so the floors are those of the definition. V 4^j, with at
// most 8 bits of fraction, is below a square by 2^-8 or not at all, its root
// below an integer by 2^-25, which a double still tells from 0: its floor is
// that of isqrt(floor(V 4^j)).
HWY_INLINE void Reciprocals(const LayerNorm& norm, NormBlock* block) {
  const DPart64 part;
  for (std::size_t i = 0; i < kNormRows; i += 2) {
    const auto a = hn::Load(part, block->square_parts[i]);
    const auto b = hn::Load(part, block->square_parts[i + 1]);
    hn::Store(hn::Add(hn::InterleaveLower(part, a, b),
                      hn::InterleaveUpper(part, a, b)),
              part, block->squares + i);
  }
  const hn::CappedTag<double, 8> d;
  const hn::RebindToUnsigned<decltype(d)> du64;
  const hn::Rebind<std::int32_t, decltype(d)> di32;
  const std::size_t lanes = hn::Lanes(d);
  const auto sqrt_d = hn::Set(d, static_cast<double>(norm.sqrt_d));
  const auto half = hn::Set(d, 0.5);
  constexpr std::uint64_t kBias = 1023;  // of a double's exponent
  // 2^52: its last bits count ones.
  const auto ones = hn::Set(du64, (kBias + 52) << 52);
  for (std::size_t i = 0; i < kNormRows; i += lanes) {
    const auto v = hn::Sub(
        hn::BitCast(d, hn::Or(hn::Load(du64, block->squares + i), ones)),
        hn::BitCast(d, ones));
    const auto bits = hn::BitCast(du64, v);
    // V has 2 f or 2 f + 1 as exponent: j = 15 - f. A constant row, whose V is
    // zero, gets any R: its c are zero.
    const auto bias_f2 = hn::AndNot(
        hn::Set(du64, 1), hn::Add(hn::ShiftRight<52>(bits), hn::Set(du64, 1)));
    const auto up = hn::Sub(hn::Set(du64, kBias + 1 + 30), bias_f2);
    const auto moved = hn::BitCast(d, hn::Add(bits, hn::ShiftLeft<52>(up)));
    // 2^(j - 17)
    const auto scale = hn::BitCast(
        d, hn::ShiftLeft<52>(hn::Sub(hn::Set(du64, kBias - 2 + (kBias + 1) / 2),
                                     hn::ShiftRight<1>(bias_f2))));
    const auto root = hn::Floor(hn::Sqrt(moved));
    const auto q = hn::Floor(hn::Div(hn::Set(d, 2147483648.0), root));
    // Conversion drops the fraction.
    const auto r = hn::Add(hn::Mul(hn::Mul(q, sqrt_d), scale), half);
    hn::Store(hn::DemoteTo(di32, r), di32, block->reciprocal + i);
  }
}

// Calls body(row, i, u, count) for the int16 results of all rows. x may be
// overwritten by the body: a block of rows is read before its first result.
// `norm` is a copy, since a byte that the body stores might change any other.
template <class Body>
HWY_INLINE void NormaliseRows(LayerNorm norm, MatrixView<const std::int16_t> x,
                              const Body& body) {
  NormBlock block;
  for (std::size_t first = 0; first < x.rows(); first += kNormRows) {
    const std::size_t left = x.rows() - first;
    const std::size_t rows = left < kNormRows ? left : kNormRows;
    for (std::size_t r = 0; r < rows; ++r) {
      MeasureRow(norm, x.row(first + r), r, &block);
    }
    FindShifts(norm, &block);
    for (std::size_t r = 0; r < rows; ++r) {
      CentreRow(norm, x.row(first + r), r, &block);
    }
    Reciprocals(norm, &block);
    for (std::size_t r = 0; r < rows; ++r) {
      const std::int16_t* const centred = block.centred_row(r);
      const V16 reciprocal =
          hn::Set(D16(), static_cast<std::int16_t>(block.reciprocal[r]));
      ForEach16(
          norm.d, [&](std::size_t i, std::size_t count) ATTO_INLINE_LAMBDA {
            const V16 z =
                hn::MulFixedPoint15(LoadSome16(centred + i, count), reciprocal);
            const V16 u = hn::SaturatedAdd(
                hn::MulFixedPoint15(z, LoadSome16(norm.gain + i, count)),
                LoadSome16(norm.bias + i, count));
            body(first + r, i, u, count);
          });
    }
  }
}

inline void LayerNormS8(const LayerNorm& norm, MatrixView<const std::int16_t> x,
                        MatrixView<std::int8_t> y) noexcept {
  const V16 factor = QuantiseFactor(norm.shift);
  NormaliseRows(norm, x,
                [&](std::size_t row, std::size_t i, V16 u, std::size_t count)
                    ATTO_INLINE_LAMBDA {
                      StoreSome8(Quantise16(u, factor), y.row(row) + i, count);
                    });
}

inline void LayerNormS16(const LayerNorm& norm,
                         MatrixView<const std::int16_t> x,
                         MatrixView<std::int16_t> y) noexcept {
  NormaliseRows(
      norm, x,
      [&](std::size_t row, std::size_t i, V16 u, std::size_t count)
          ATTO_INLINE_LAMBDA { StoreSome16(u, y.row(row) + i, count); });
}

inline void QuantiseS8(unsigned shift, Span<const std::int16_t> x,
                       std::int8_t* y) noexcept {
  const V16 factor = QuantiseFactor(shift);
  ForEach16(x.size(), [&](std::size_t i, std::size_t count) HWY_ATTR {
    StoreSome8(Quantise16(LoadSome16(x.data() + i, count), factor), y + i,
               count);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace atto
HWY_AFTER_NAMESPACE();

#endif  // toggle
