// LayerNorm of int16 rows. Ba, Kiros, Hinton, arXiv 1607.06450, section 3.
// Integer definition: docs/quantization.md, "LayerNorm".
#ifndef ATTO_OPS_LAYERNORM_LAYERNORM_H_
#define ATTO_OPS_LAYERNORM_LAYERNORM_H_

#include <cstddef>
#include <cstdint>

#include "ops/base/fixed_point.h"
#include "ops/base/span.h"

namespace atto {

// The arrays belong to the model file.
struct LayerNorm {
  static constexpr std::size_t kMinSize = 2;
  static constexpr std::size_t kMaxSize = 512;
  static constexpr unsigned kMaxShift = 7;

  const std::int16_t* gain = nullptr;  // [d], never -32,768
  const std::int16_t* bias = nullptr;  // [d]
  std::uint16_t d = 0;                 // kMinSize..kMaxSize
  std::uint16_t sqrt_d = 0;            // LayerNormSqrt(d)
  std::uint8_t shift = 0;              // fraction bits that int8 drops, 0..7
};

// floor(2^10 sqrt(d)).
constexpr std::uint16_t LayerNormSqrt(std::uint32_t d) noexcept {
  return static_cast<std::uint16_t>(IntegerSqrt(d << 20));
}

// floor(sqrt(x)). Legal: x >= 2^30.
std::uint32_t NormalisedSqrt(std::uint32_t x) noexcept;

// R of docs/quantization.md from V, the sum of squares of a row that is not
// constant, 2^28..2^39, and LayerNormSqrt(d).
std::int32_t LayerNormReciprocal(std::uint64_t squares,
                                 std::uint32_t sqrt_d) noexcept;

// y[i] = quantise8(u[i], shift): x [rows, d] int16 -> y [rows, d] int8.
void LayerNormS8Ref(const LayerNorm& norm, MatrixView<const std::int16_t> x,
                    MatrixView<std::int8_t> y) noexcept;

// y[i] = u[i]: x [rows, d] int16 -> y [rows, d] int16. y may be x.
void LayerNormS16Ref(const LayerNorm& norm, MatrixView<const std::int16_t> x,
                     MatrixView<std::int16_t> y) noexcept;

// y = quantise8(x, shift), elementwise; shift 0..7. Post-norm models take the
// int8 view of their residual stream with it.
void QuantiseS8Ref(unsigned shift, Span<const std::int16_t> x,
                   std::int8_t* y) noexcept;

// The same on other cores.
decltype(LayerNormS8Ref) LayerNormS8Dsp, LayerNormS8Helium;
decltype(LayerNormS16Ref) LayerNormS16Dsp, LayerNormS16Helium;
decltype(QuantiseS8Ref) QuantiseS8Dsp, QuantiseS8Helium;

}  // namespace atto

#endif  // ATTO_OPS_LAYERNORM_LAYERNORM_H_
