#include "ops/matmul/matmul_f32.h"

#include <cstring>

namespace atto {
namespace {

float Dot(const float* a, const float* b, std::size_t size) noexcept {
  float sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

// Row-major as in the file, the bias behind the weights.
std::size_t PackLinearF32Ref(const FloatLinear& linear,
                             float* packed) noexcept {
  const std::size_t weights = std::size_t{linear.in} * linear.out;
  std::memcpy(packed, linear.weights, weights * sizeof(float));
  std::memcpy(packed + weights, linear.bias, linear.out * sizeof(float));
  return weights + linear.out;
}

void MatmulF32Ref(const FloatLinear& linear, MatrixView<const float> x,
                  MatrixView<float> y) noexcept {
  const std::size_t in = linear.in;
  const float* const bias = linear.packed + in * linear.out;
  for (std::size_t i = 0; i < x.rows(); ++i) {
    for (std::size_t c = 0; c < linear.out; ++c) {
      y.row(i)[c] = bias[c] + Dot(x.row(i), linear.packed + c * in, in);
    }
  }
}

void MatmulAddF32Ref(const FloatLinear& linear, MatrixView<const float> x,
                     MatrixView<float> r) noexcept {
  const std::size_t in = linear.in;
  const float* const bias = linear.packed + in * linear.out;
  for (std::size_t i = 0; i < x.rows(); ++i) {
    for (std::size_t c = 0; c < linear.out; ++c) {
      r.row(i)[c] += bias[c] + Dot(x.row(i), linear.packed + c * in, in);
    }
  }
}

}  // namespace atto
