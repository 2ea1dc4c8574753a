// GELU and ReLU on int8. Integer definition: docs/quantization.md, "GELU".
#ifndef ATTO_OPS_ACTIVATION_ACTIVATION_H_
#define ATTO_OPS_ACTIVATION_ACTIVATION_H_

#include <cstdint>

#include "ops/base/fixed_point.h"
#include "ops/base/span.h"

namespace atto {

constexpr unsigned kGeluMinFractionBits = 3;
constexpr unsigned kGeluMaxFractionBits = 6;

// GELU of one value (Hendrycks, Gimpel, arXiv 1606.08415): q and the result
// have scale 2^-fraction_bits. Legal: |q| <= 127, fraction_bits 3..6.
constexpr std::int8_t GeluOne(std::int32_t q, unsigned fraction_bits) noexcept {
  const std::int32_t scaled = (q < 0 ? -q : q) << (13 - fraction_bits);
  const std::int32_t t = scaled < 32767 ? scaled : 32767;
  const std::int32_t w = 32767 - t;
  const std::int32_t inner = Rdh16(w, Rdh16(w, -10456) + 31414) - 14479;
  const std::int32_t h = Rdh16(w, inner) + 2190;
  const std::int32_t g = Rdh16(t, Rdh16(Rdh16(w, w), h));
  const unsigned drop = 12 - fraction_bits;
  return Clamp127((q > 0 ? q : 0) - ((g + (1 << (drop - 1))) >> drop));
}

// x = GELU(x), elementwise, in place.
void GeluS8Ref(unsigned fraction_bits, Span<std::int8_t> x) noexcept;

// x = max(x, 0), elementwise, in place.
void ReluS8Ref(Span<std::int8_t> x) noexcept;

// The same on other cores.
decltype(GeluS8Ref) GeluS8Dsp, GeluS8Helium;
decltype(ReluS8Ref) ReluS8Dsp, ReluS8Helium;

}  // namespace atto

#endif  // ATTO_OPS_ACTIVATION_ACTIVATION_H_
