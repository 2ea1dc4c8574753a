#include "ops/layernorm/layernorm.h"

namespace atto {
namespace {

// What turns an element into c: ((x * scale + offset) mod 2^32) >> 16.
struct RowStatistics {
  std::uint32_t scale = 0;
  std::uint32_t offset = 0;
  std::int32_t reciprocal = 0;  // R; 0 for a constant row, which makes z 0
};

std::int32_t Centre(const RowStatistics& row, std::int16_t x) noexcept {
  // The product may wrap, the sum does not: modular arithmetic is exact here.
  const std::uint32_t wide =
      static_cast<std::uint32_t>(std::int32_t{x}) * row.scale + row.offset;
  return static_cast<std::int32_t>(wide) >> 16;
}

RowStatistics Measure(const LayerNorm& norm, const std::int16_t* x) noexcept {
  std::int32_t sum = 0;
  std::int32_t min = x[0];
  std::int32_t max = x[0];
  for (std::size_t i = 0; i < norm.d; ++i) {
    sum += x[i];
    min = x[i] < min ? x[i] : min;
    max = x[i] > max ? x[i] : max;
  }
  RowStatistics row;
  const std::int32_t d = norm.d;
  const std::int32_t above = d * max - sum;
  const std::int32_t below = sum - d * min;
  const std::int32_t extreme = above > below ? above : below;
  if (extreme == 0) return row;

  const unsigned up = 31 - BitLength(static_cast<std::uint32_t>(extreme));
  row.scale = static_cast<std::uint32_t>(d) << up;
  row.offset = 0U - (static_cast<std::uint32_t>(sum) << up);

  std::uint64_t squares = 0;
  for (std::size_t i = 0; i < norm.d; ++i) {
    const std::int32_t c = Centre(row, x[i]);
    squares += static_cast<std::uint32_t>(c * c);
  }
  row.reciprocal = LayerNormReciprocal(squares, norm.sqrt_d);
  return row;
}

std::int16_t Normalise(const LayerNorm& norm, const RowStatistics& row,
                       std::int16_t x, std::size_t i) noexcept {
  const std::int32_t z = Rdh16(Centre(row, x), row.reciprocal);
  return Sat16(Rdh16(z, norm.gain[i]) + norm.bias[i]);
}

}  // namespace

std::uint32_t NormalisedSqrt(std::uint32_t x) noexcept {
#if __ARM_ARCH_ISA_THUMB == 1  // no instruction divides
  return IntegerSqrt(x);
#else
  // Newton's method from a tangent: above the root by at most a quarter, then
  // by at most 1/40, 1/3,280 and, at the end, less than one.
  std::uint32_t root = (x >> 16) + (1 << 14);
  for (int step = 0; step < 3; ++step) root = (root + x / root) / 2;
  return root * std::uint64_t{root} > x ? root - 1 : root;
#endif
}

std::int32_t LayerNormReciprocal(std::uint64_t squares,
                                 std::uint32_t sqrt_d) noexcept {
  // Bring the sum to [2^30, 2^32) by a power of four, for the square root.
  unsigned reciprocal_shift = 17 - 1;
  if (squares < (std::uint64_t{1} << 30)) {
    squares <<= 2;
  } else {
    for (++reciprocal_shift; (squares >> 32) != 0; ++reciprocal_shift) {
      squares >>= 2;
    }
  }
  const std::uint32_t root =
      NormalisedSqrt(static_cast<std::uint32_t>(squares));
  const std::uint32_t q = (std::uint32_t{1} << 31) / root;
  return static_cast<std::int32_t>(
      (q * sqrt_d + (std::uint32_t{1} << (reciprocal_shift - 1))) >>
      reciprocal_shift);
}

void LayerNormS8Ref(const LayerNorm& norm, MatrixView<const std::int16_t> x,
                    MatrixView<std::int8_t> y) noexcept {
  for (std::size_t r = 0; r < x.rows(); ++r) {
    const RowStatistics row = Measure(norm, x.row(r));
    for (std::size_t i = 0; i < norm.d; ++i) {
      y.row(r)[i] = Quantise8(Normalise(norm, row, x.row(r)[i], i), norm.shift);
    }
  }
}

void LayerNormS16Ref(const LayerNorm& norm, MatrixView<const std::int16_t> x,
                     MatrixView<std::int16_t> y) noexcept {
  for (std::size_t r = 0; r < x.rows(); ++r) {
    const RowStatistics row = Measure(norm, x.row(r));
    for (std::size_t i = 0; i < norm.d; ++i) {
      y.row(r)[i] = Normalise(norm, row, x.row(r)[i], i);
    }
  }
}

void QuantiseS8Ref(unsigned shift, Span<const std::int16_t> x,
                   std::int8_t* y) noexcept {
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = Quantise8(x[i], shift);
}

}  // namespace atto
