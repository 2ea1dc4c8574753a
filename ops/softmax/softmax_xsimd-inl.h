#ifndef ATTO_OPS_SOFTMAX_SOFTMAX_XSIMD_INL_H_
#define ATTO_OPS_SOFTMAX_SOFTMAX_XSIMD_INL_H_

#include <cstddef>
#include <cstdint>

#include "ops/float_simd/vectors-inl.h"
#include "ops/softmax/softmax_f32.h"

namespace atto {
namespace {

constexpr float kLog2E = 1.44269504F;

// 2^x for x <= 0, 2^-126 below that. Without the tests for overflow and NaN of
// xsimd::exp2, which make the softmax a third slower. Adding 1.5 * 2^23 leaves
// the nearest integer in the lowest bits; 2^f of the rest f in [-1/2, 1/2] is a
// polynomial with a relative error of 9e-8.
ATTO_INLINE Vector Exp2OfNegative(Vector x) {
  const Vector round(12582912.0F);  // 1.5 * 2^23
  const Vector y = xsimd::max(x, Vector(-126.0F));
  const Vector shifted = y + round;
  const Vector f = y - (shifted - round);
  Vector p(0.00132647273F);
  p = xsimd::fma(p, f, Vector(0.00967151299F));
  p = xsimd::fma(p, f, Vector(0.0555073358F));
  p = xsimd::fma(p, f, Vector(0.240222424F));
  p = xsimd::fma(p, f, Vector(0.693147004F));
  p = xsimd::fma(p, f, Vector(1.0F));
  // The integer goes into the exponent.
  return xsimd::bitwise_cast<float>(
      xsimd::bitwise_cast<std::int32_t>(p) +
      (xsimd::bitwise_cast<std::int32_t>(shifted) << 23));
}

float SoftmaxF32(float scale, Span<float> x) noexcept {
  const std::size_t size = x.size();
  const std::size_t whole = size / kLanes * kLanes;
  float* const p = x.data();
  Vector largest(p[0]);
  for (std::size_t i = 0; i < whole; i += kLanes) {
    largest = xsimd::max(largest, Load(p + i));
  }
  float top = xsimd::reduce_max(largest);
  for (std::size_t i = whole; i < size; ++i) top = p[i] > top ? p[i] : top;
  const Vector factor(scale * kLog2E);
  const Vector highest(top);
  Vector sums(0.0F);
  for (std::size_t i = 0; i < whole; i += kLanes) {
    const Vector weight = Exp2OfNegative((Load(p + i) - highest) * factor);
    Store(weight, p + i);
    sums = sums + weight;
  }
  float sum = xsimd::reduce_add(sums);
  if (whole < size) {
    const std::size_t left = size - whole;
    const Vector tail = LoadPart(p + whole, left);
    StorePart(Exp2OfNegative((tail - highest) * factor), p + whole, left);
    for (std::size_t i = whole; i < size; ++i) sum += p[i];
  }
  return sum;
}

}  // namespace
}  // namespace atto

#endif  // ATTO_OPS_SOFTMAX_SOFTMAX_XSIMD_INL_H_
