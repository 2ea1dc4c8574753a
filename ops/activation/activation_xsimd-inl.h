#ifndef ATTO_OPS_ACTIVATION_ACTIVATION_XSIMD_INL_H_
#define ATTO_OPS_ACTIVATION_ACTIVATION_XSIMD_INL_H_

#include <cstddef>

#include "ops/activation/activation_f32.h"
#include "ops/float_simd/vectors-inl.h"

namespace atto {
namespace {

// GELU(x) = max(x, 0) - t Q(t), t = |x|, Q(t) = erfc(t / sqrt(2)) / 2. Q is a
// polynomial of degree 16 in 2 t / kGeluEnd - 1 over [0, kGeluEnd], fitted for
// the smallest largest error of t Q(t): 3.3e-8, and 2.4e-7 in float arithmetic.
// Beyond kGeluEnd, where t Q(t) <= 1e-7, it stays what it is there. Against
// x (1 + xsimd::erf(x / sqrt(2))) / 2, with its exponential, division and two
// branches, 2.3 times as fast with AVX2.
constexpr float kGeluEnd = 5.5F;
constexpr float kGeluPolynomial[] = {
    0.00297976914F, -0.0250074919F, 0.0945580527F,   -0.206835896F,
    0.271902651F,   -0.176783487F,  -0.0516571216F,  0.216179445F,
    -0.161288276F,  -0.0282222293F, 0.127540916F,    -0.0595674142F,
    -0.0342407599F, 0.0383773856F,  -0.00216966821F, -0.00814160332F,
    0.00237573404F};
constexpr std::size_t kGeluTerms =
    sizeof(kGeluPolynomial) / sizeof(kGeluPolynomial[0]);

ATTO_INLINE Vector Gelu(Vector x) {
  const Vector t = xsimd::min(xsimd::abs(x), Vector(kGeluEnd));
  const Vector s = xsimd::fma(t, Vector(2 / kGeluEnd), Vector(-1.0F));
  Vector q(kGeluPolynomial[kGeluTerms - 1]);
  for (std::size_t i = kGeluTerms - 1; i > 0; --i) {
    q = xsimd::fma(q, s, Vector(kGeluPolynomial[i - 1]));
  }
  return xsimd::fnma(t, q, xsimd::max(x, Vector(0.0F)));
}

void GeluF32(Span<float> x) noexcept {
  Map(x.data(), x.data(), x.size(), [](Vector v) { return Gelu(v); });
}

void ReluF32(Span<float> x) noexcept {
  Map(x.data(), x.data(), x.size(),
      [](Vector v) { return xsimd::max(v, Vector(0.0F)); });
}

}  // namespace
}  // namespace atto

#endif  // ATTO_OPS_ACTIVATION_ACTIVATION_XSIMD_INL_H_
