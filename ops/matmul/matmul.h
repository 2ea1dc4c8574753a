// int8 matrix product with per-channel requantisation.
// Integer definition: docs/quantization.md, "Matrix product".
#ifndef ATTO_OPS_MATMUL_MATMUL_H_
#define ATTO_OPS_MATMUL_MATMUL_H_

#include <cstddef>
#include <cstdint>

#include "ops/base/span.h"

namespace atto {

// A linear layer. All arrays belong to the model file.
struct Linear {
  static constexpr std::size_t kMaxIn = 4096;
  static constexpr std::size_t kMaxOut = 4096;
  static constexpr std::int32_t kMaxBias = std::int32_t{1} << 30;
  static constexpr unsigned kMaxShift = 24;

  const std::int8_t* weights = nullptr;      // [out, in], in [-127, 127]
  const std::int32_t* bias = nullptr;        // [out], |bias| <= 2^30, holds the
                                             // rounding term 2^(shift-1)
  const std::int16_t* multiplier = nullptr;  // [out], 1..32,767
  std::uint16_t in = 0;                      // 1..kMaxIn
  std::uint16_t out = 0;                     // 1..kMaxOut
  std::uint8_t shift = 0;                    // 0..kMaxShift
  // The same layer as Backend::pack_linear left it; null where kernels read
  // the arrays above. In the caller's memory.
  const std::uint8_t* packed = nullptr;
};

// y[i][c] = clamp127(u[i][c]).
// x [rows, in] int8 in [-127, 127]; y [rows, out]; they do not overlap.
void MatmulS8Ref(const Linear& linear, MatrixView<const std::int8_t> x,
                 MatrixView<std::int8_t> y) noexcept;

// y[i][c] = u[i][c]. x [rows, in] int8; y [rows, out] int16.
void MatmulS16Ref(const Linear& linear, MatrixView<const std::int8_t> x,
                  MatrixView<std::int16_t> y) noexcept;

// r[i][c] = sat16(r[i][c] + u[i][c]). x [rows, in] int8; r [rows, out] int16.
void MatmulAddS16Ref(const Linear& linear, MatrixView<const std::int8_t> x,
                     MatrixView<std::int16_t> r) noexcept;

// The same on other cores.
decltype(MatmulS8Ref) MatmulS8Dsp, MatmulS8Helium;
decltype(MatmulS16Ref) MatmulS16Dsp, MatmulS16Helium;
decltype(MatmulAddS16Ref) MatmulAddS16Dsp, MatmulAddS16Helium;

}  // namespace atto

#endif  // ATTO_OPS_MATMUL_MATMUL_H_
