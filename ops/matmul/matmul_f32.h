// float matrix product with bias, over weights packed once.
#ifndef ATTO_OPS_MATMUL_MATMUL_F32_H_
#define ATTO_OPS_MATMUL_MATMUL_F32_H_

#include <cstddef>
#include <cstdint>

#include "ops/base/span.h"

namespace atto {

// A linear layer. `weights` and `bias` belong to the model file.
struct FloatLinear {
  const float* weights = nullptr;  // [out, in]
  const float* bias = nullptr;     // [out]
  std::uint16_t in = 0;            // 1..4,096
  std::uint16_t out = 0;           // 1..4,096
  // The same layer as FloatBackend::pack_linear left it, in the caller's
  // memory.
  const float* packed = nullptr;
};

// Writes the layer as MatmulF32Ref wants it to `packed` and returns the floats
// written: at most PackedFloatLinearSize. Every backend has its own layout.
std::size_t PackLinearF32Ref(const FloatLinear& linear, float* packed) noexcept;

// y[i][c] = bias[c] + sum_k x[i][k] w[c][k], in the order that the kernel
// likes. x [rows, in], y [rows, out]; they do not overlap. Legal: linear.packed
// is set.
void MatmulF32Ref(const FloatLinear& linear, MatrixView<const float> x,
                  MatrixView<float> y) noexcept;

// r[i][c] += bias[c] + sum_k x[i][k] w[c][k]. x [rows, in]; r [rows, out].
void MatmulAddF32Ref(const FloatLinear& linear, MatrixView<const float> x,
                     MatrixView<float> r) noexcept;

}  // namespace atto

#endif  // ATTO_OPS_MATMUL_MATMUL_F32_H_
