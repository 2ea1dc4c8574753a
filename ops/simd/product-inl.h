// The micro-kernel under matrix product and attention: a few rows times a panel
// of two vectors of columns.
#if defined(ATTO_OPS_SIMD_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTO_OPS_SIMD_PRODUCT_INL_H_
#undef ATTO_OPS_SIMD_PRODUCT_INL_H_
#else
#define ATTO_OPS_SIMD_PRODUCT_INL_H_
#endif

#include "ops/base/span.h"
#include "ops/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace atto {
namespace HWY_NAMESPACE {

// Four products of bytes a step; see DotQuad for what is legal.
struct QuadStep {
  HWY_INLINE V32 operator()(V32 acc, const std::uint8_t* left, V8 right) const {
    return DotQuad(acc, BroadcastQuad(left), right);
  }
};

// Two products of 16-bit numbers a step.
struct PairStep {
  HWY_INLINE V32 operator()(V32 acc, const std::uint8_t* left, V8 right) const {
    std::uint32_t bits;
    std::memcpy(&bits, left, sizeof(bits));
    const V16 pair = hn::BitCast(D16(), hn::Set(DU32(), bits));
    return hn::Add(
        acc, hn::WidenMulPairwiseAdd(D32(), pair, hn::BitCast(D16(), right)));
  }
};

// Left operand: rows of whole steps of four bytes.
struct LeftRows {
  const std::uint8_t* data;
  std::size_t stride;  // bytes
};

// acc[r][c] = init[c] + sum over steps of left[r][step] right[step][c], for
// kRows rows and two vectors of columns; sink(r, acc0, acc1) takes the result.
// right: [steps + again.size()][two vectors][4 bytes], aligned; `again` lists
// the left steps that the rows behind the first `steps` belong to.
// Accumulators are named one by one because vectors of unknown length (SVE)
// cannot be elements of an array. kSteps, if not 0, is `steps`, known to the
// compiler: a short loop is unrolled whole.
template <std::size_t kRows, class Step, std::size_t kSteps = 0, class Sink>
HWY_INLINE void RowsTimesPanel(LeftRows left, const std::int8_t* right,
                               std::size_t steps,
                               Span<const std::uint16_t> again, V32 init0,
                               V32 init1, const Sink& sink) {
  static_assert(kRows == 1 || kRows == 2 || kRows == 4);
  const Step step;
  const std::size_t vector = hn::Lanes(D8());
  V32 a00 = init0, a01 = init1, a10 = init0, a11 = init1;
  V32 a20 = init0, a21 = init1, a30 = init0, a31 = init1;
  const std::uint8_t* const x0 = left.data;
  const std::uint8_t* const x1 = x0 + (kRows > 1 ? left.stride : 0);
  const std::uint8_t* const x2 = x1 + (kRows > 2 ? left.stride : 0);
  const std::uint8_t* const x3 = x2 + (kRows > 2 ? left.stride : 0);
  const auto one_step = [&](std::size_t k) ATTO_INLINE_LAMBDA {
    const V8 w0 = hn::Load(D8(), right);
    const V8 w1 = hn::Load(D8(), right + vector);
    right += 2 * vector;
    a00 = step(a00, x0 + k, w0);
    a01 = step(a01, x0 + k, w1);
    KeepOrder(a00, a01);
    if constexpr (kRows > 1) {
      a10 = step(a10, x1 + k, w0);
      a11 = step(a11, x1 + k, w1);
      KeepOrder(a10, a11);
    }
    if constexpr (kRows > 2) {
      a20 = step(a20, x2 + k, w0);
      a21 = step(a21, x2 + k, w1);
      KeepOrder(a20, a21);
      a30 = step(a30, x3 + k, w0);
      a31 = step(a31, x3 + k, w1);
      KeepOrder(a30, a31);
    }
  };
  if constexpr (kSteps != 0) {
    HWY_UNROLL(8)
    for (std::size_t k = 0; k < 4 * kSteps; k += 4) one_step(k);
  } else {
    HWY_UNROLL(2)
    for (std::size_t k = 0; k < 4 * steps; k += 4) one_step(k);
  }
  for (const std::uint16_t k : again) one_step(4U * k);
  sink(0, a00, a01);
  if constexpr (kRows > 1) sink(1, a10, a11);
  if constexpr (kRows > 2) {
    sink(2, a20, a21);
    sink(3, a30, a31);
  }
}

// Calls body<kRows>(first) for groups of 4, 2 and 1 rows that cover `rows`.
template <class Body>
HWY_INLINE void ForRowGroups(std::size_t rows, const Body& body) {
  std::size_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    body(std::integral_constant<std::size_t, 4>(), row);
  }
  if (row + 2 <= rows) {
    body(std::integral_constant<std::size_t, 2>(), row);
    row += 2;
  }
  if (row < rows) body(std::integral_constant<std::size_t, 1>(), row);
}

}  // namespace HWY_NAMESPACE
}  // namespace atto
HWY_AFTER_NAMESPACE();

#endif  // toggle
