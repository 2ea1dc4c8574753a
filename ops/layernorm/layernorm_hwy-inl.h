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

// c = ((x * factor + offset) mod 2^32) >> 16 for the lanes of one vector: the
// upper halves of the 32-bit results, odd lanes being in their place already.
HWY_INLINE V16 Centre(V16 x, V32 factor, V32 offset) {
  const V32 both = hn::BitCast(D32(), x);
  const V32 even = hn::ShiftRight<16>(hn::ShiftLeft<16>(both));
  const V32 odd = hn::ShiftRight<16>(both);
  const V32 wide_even = hn::Add(hn::Mul(even, factor), offset);
  const V32 wide_odd = hn::Add(hn::Mul(odd, factor), offset);
  return hn::OddEven(hn::BitCast(D16(), wide_odd),
                     hn::BitCast(D16(), hn::ShiftRight<16>(wide_even)));
}

// The smallest lane of 16 bits. SSE4 and up have an instruction for 8 lanes.
template <class D>
HWY_INLINE std::uint16_t SmallestOf16(D d, hn::Vec<D> v) {
#if HWY_HAVE_SCALABLE || HWY_TARGET_IS_SVE
  return hn::ReduceMin(d, v);
#else
  if constexpr (d.MaxLanes() > 8) {
    const hn::Half<D> half;
    return SmallestOf16(
        half, hn::Min(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else {
    return hn::GetLane(hn::MinOfLanes(d, v));
  }
#endif
}

// Rows that go through each step together: reductions, square roots and
// divisions are long chains, which overlap only across rows.
constexpr std::size_t kNormRows = 8;

// A block of rows on their way through the norm.
struct NormBlock {
  alignas(64) std::int16_t centred[kNormRows * LayerNorm::kMaxSize];  // c
  // D and B of the definition; a constant row has zeros, so that c is zero.
  alignas(64) std::int32_t factor[kNormRows];
  alignas(64) std::int32_t offset[kNormRows];
  // floor(V 4^j), and 2^-(17 - j); a constant row has anything and zero.
  alignas(64) double squares[kNormRows];
  alignas(64) double scale[kNormRows];
  alignas(64) std::int32_t reciprocal[kNormRows];  // R, what turns c into z

  std::int16_t* centred_row(std::size_t row) {
    return centred + row * LayerNorm::kMaxSize;
  }
};

// Row x [d] -> D and B.
HWY_INLINE void FindCentre(const LayerNorm& norm, const std::int16_t* x,
                           std::size_t row, NormBlock* block) {
  const D16 d16;
  const D32 d32;
  const DU16 du16;
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
  // As unsigned numbers that grow with x, and that fall with it.
  const auto rising = hn::Xor(hn::BitCast(du16, lows), hn::Set(du16, 0x8000));
  const auto falling = hn::Xor(hn::BitCast(du16, highs), hn::Set(du16, 0x7FFF));
  const std::int32_t low = SmallestOf16(du16, rising) - 0x8000;
  const std::int32_t high = 0x7FFF - SmallestOf16(du16, falling);
  const std::int32_t sum = SumOf32(sums);
  const std::int32_t n = norm.d;
  const std::int32_t above = n * high - sum;
  const std::int32_t below = sum - n * low;
  const auto extreme =
      static_cast<std::uint32_t>(above > below ? above : below);
  // With E = 0 any shift will do, once D and B are made zero.
  const int up =
      static_cast<int>(hwy::Num0BitsAboveMS1Bit_Nonzero32(extreme | 1U)) - 1;
  const std::uint32_t any = extreme == 0 ? 0 : 0xFFFFFFFFU;
  block->factor[row] =
      static_cast<std::int32_t>((static_cast<std::uint32_t>(n) << up) & any);
  block->offset[row] = static_cast<std::int32_t>(
      (0U - (static_cast<std::uint32_t>(sum) << up)) & any);
}

// Row x [d] -> c, V and j of the definition.
HWY_INLINE void CentreRow(const LayerNorm& norm, const std::int16_t* x,
                          std::size_t row, NormBlock* block) {
  const D16 d16;
  const D32 d32;
  const hn::Repartition<std::uint64_t, D32> du64;
  std::int16_t* const centred = block->centred_row(row);
  const V32 factor = hn::Set(d32, block->factor[row]);
  const V32 offset = hn::Set(d32, block->offset[row]);
  const auto lower = hn::Set(du64, 0xFFFFFFFFU);
  auto squares = hn::Zero(du64);
  ForEach16(norm.d, [&](std::size_t i, std::size_t count) ATTO_INLINE_LAMBDA {
    V16 c = Centre(LoadSome16(x + i, count), factor, offset);
    if (count != hn::Lanes(d16)) {
      c = hn::IfThenElseZero(hn::FirstN(d16, count), c);
    }
    StoreSome16(c, centred + i, count);
    // A pair of squares is at most 2^31: unsigned from here on.
    const auto pairs = hn::BitCast(du64, hn::WidenMulPairwiseAdd(d32, c, c));
    squares = hn::Add(squares, hn::ShiftRight<32>(pairs));
    squares = hn::Add(squares, hn::And(pairs, lower));
  });
  const std::uint64_t v = hn::ReduceSum(du64, squares);
  if (HWY_UNLIKELY(v == 0)) {
    block->squares[row] = 1 << 30;
    block->scale[row] = 0;
    return;
  }
  // Bring the sum to [2^30, 2^32) by a power of four: 2^28 <= v <= 2^39.
  const int bits = 64 - static_cast<int>(hwy::Num0BitsAboveMS1Bit_Nonzero64(v));
  const int down = bits < 31 ? -2 : (bits - 31) / 2 * 2;
  const std::uint64_t moved = down < 0 ? v << 2 : v >> down;
  block->squares[row] = static_cast<double>(static_cast<std::int64_t>(moved));
  static constexpr double kScales[] = {1.0 / 65536,   1.0 / 131072,
                                       1.0 / 262144,  1.0 / 524288,
                                       1.0 / 1048576, 1.0 / 2097152};
  block->scale[row] = kScales[down / 2 + 1];
}

// R of every row. All numbers are integers below 2^53, or such times a power of
// two: doubles hold them exactly, and their square root and quotient round
// correctly, so the floors are those of the definition.
HWY_INLINE void Reciprocals(const LayerNorm& norm, NormBlock* block) {
  const hn::CappedTag<double, kNormRows> d;
  const hn::Rebind<std::int32_t, decltype(d)> di32;
  const std::size_t lanes = hn::Lanes(d);
  const auto sqrt_d = hn::Set(d, static_cast<double>(norm.sqrt_d));
  const auto half = hn::Set(d, 0.5);
  for (std::size_t i = 0; i < kNormRows; i += lanes) {
    const auto root = hn::Floor(hn::Sqrt(hn::Load(d, block->squares + i)));
    const auto q = hn::Floor(hn::Div(hn::Set(d, 2147483648.0), root));
    const auto scaled =
        hn::Mul(hn::Mul(q, sqrt_d), hn::Load(d, block->scale + i));
    const auto r = hn::Floor(hn::Add(scaled, half));
    hn::Store(hn::DemoteTo(di32, r), di32, block->reciprocal + i);
  }
}

// Calls body(row, i, u, count) for the int16 results of all rows. x may be
// overwritten by the body: a block of rows is read before its first result.
template <class Body>
HWY_INLINE void NormaliseRows(const LayerNorm& norm,
                              MatrixView<const std::int16_t> x,
                              const Body& body) {
  NormBlock block;
  for (std::size_t i = 0; i < kNormRows; ++i) {
    block.squares[i] = 1 << 30;
    block.scale[i] = 0;
  }
  for (std::size_t first = 0; first < x.rows(); first += kNormRows) {
    const std::size_t left = x.rows() - first;
    const std::size_t rows = left < kNormRows ? left : kNormRows;
    for (std::size_t r = 0; r < rows; ++r) {
      FindCentre(norm, x.row(first + r), r, &block);
    }
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
  NormaliseRows(norm, x,
                [&](std::size_t row, std::size_t i, V16 u,
                    std::size_t count) ATTO_INLINE_LAMBDA {
                  StoreSome8(Quantise16(u, norm.shift), y.row(row) + i, count);
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
  ForEach16(x.size(), [&](std::size_t i, std::size_t count) HWY_ATTR {
    StoreSome8(
        Quantise16(LoadSome16(x.data() + i, count), static_cast<int>(shift)),
        y + i, count);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace atto
HWY_AFTER_NAMESPACE();

#endif  // toggle
