// The fixed-point primitives that every integer op is made of.
// Definitions and bounds: docs/quantization.md.
#ifndef ATTO_OPS_BASE_FIXED_POINT_H_
#define ATTO_OPS_BASE_FIXED_POINT_H_

#include <cstdint>

namespace atto {

// Signed right shift is arithmetic on every compiler that atto supports (C++20
// makes it law); fail the build where it is not.
static_assert((std::int32_t{-3} >> 1) == -2, "arithmetic right shift needed");

constexpr std::int32_t Clamp(std::int32_t x, std::int32_t lo,
                             std::int32_t hi) noexcept {
  return x < lo ? lo : (x > hi ? hi : x);
}

// x clamped to the int16 range.
constexpr std::int16_t Sat16(std::int32_t x) noexcept {
  return static_cast<std::int16_t>(Clamp(x, -32768, 32767));
}

// x clamped to [-127, 127], the range of every int8 activation and weight.
constexpr std::int8_t Clamp127(std::int32_t x) noexcept {
  return static_cast<std::int8_t>(Clamp(x, -127, 127));
}

// Rounding doubling high multiply: (a * b + 2^14) >> 15.
// Legal: a, b in the int16 range and not both -32768; the result is then int16.
constexpr std::int32_t Rdh16(std::int32_t a, std::int32_t b) noexcept {
  return (a * b + (1 << 14)) >> 15;
}

// int32 accumulator -> int16. Legal: 0 <= shift <= 24, 1 <= multiplier. The
// caller has already folded the rounding term 2^(shift-1) into `acc`.
constexpr std::int16_t Requant16(std::int32_t acc, unsigned shift,
                                 std::int16_t multiplier) noexcept {
  return static_cast<std::int16_t>(Rdh16(Sat16(acc >> shift), multiplier));
}

// Drops `shift` fraction bits with rounding. Legal: 0 <= shift <= 7.
constexpr std::int8_t Quantise8(std::int32_t u, unsigned shift) noexcept {
  const std::int32_t half = (std::int32_t{1} << shift) >> 1;
  return Clamp127(Sat16(u + half) >> shift);
}

// Number of significant bits; 0 for 0.
constexpr unsigned BitLength(std::uint32_t x) noexcept {
#if defined(__GNUC__)
  return x == 0 ? 0 : 32U - static_cast<unsigned>(__builtin_clz(x));
#else
  unsigned bits = 0;
  for (; x != 0; x >>= 1) ++bits;
  return bits;
#endif
}

// floor(sqrt(x)), bit by bit: 16 steps of compare and subtract, no division.
constexpr std::uint32_t IntegerSqrt(std::uint32_t x) noexcept {
  std::uint32_t root = 0;
  for (std::uint32_t bit = std::uint32_t{1} << 30; bit != 0; bit >>= 2) {
    if (x >= root + bit) {
      x -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return root;
}

// 127 * 256 * 2^(-f / 2048) to within 52 units (0.16 %), falling in f.
// Legal: 0 <= f < 2048.
constexpr std::int32_t Exp2Mantissa(std::int32_t f) noexcept {
  const std::int32_t x = 16 * f;  // 15 fraction bits
  return 32512 - Rdh16(x, 21944 - Rdh16(x, 5740));
}

// The mean a / sum of values in [-127, 127], keeping `6 - shift` fraction bits.
// Legal: |a| <= 127 sum, 1 <= sum <= 65,535, 0 <= shift <= 6.
// `MeanReciprocal` depends on the sum only: one division a row.
struct MeanReciprocal {
  unsigned left_shift;   // brings the sum to [2^15, 2^16)
  std::int32_t inverse;  // 2^30 / (sum << left_shift), at most 32,767
};

constexpr MeanReciprocal MakeMeanReciprocal(std::uint32_t sum) noexcept {
  const unsigned left_shift = 16 - BitLength(sum);
  const std::uint32_t inverse = (std::uint32_t{1} << 30) / (sum << left_shift);
  return {left_shift,
          inverse > 32767 ? 32767 : static_cast<std::int32_t>(inverse)};
}

constexpr std::int8_t WeightedMean8(std::int32_t a, MeanReciprocal reciprocal,
                                    unsigned shift) noexcept {
  // Multiplication instead of a shift: a may be negative.
  const std::int32_t scaled =
      (a * (std::int32_t{1} << reciprocal.left_shift) + 256) >> 9;
  return Quantise8(Rdh16(scaled, reciprocal.inverse), shift);
}

}  // namespace atto

#endif  // ATTO_OPS_BASE_FIXED_POINT_H_
