#include "ops/base/fixed_point.h"
#include "ops/matmul/matmul.h"

namespace atto {
namespace {

// One loop for the three results; `store(row, channel, u)` writes one. Two rows
// share each load of a weight, which is what a core without SIMD pays for most.
template <typename Store>
void Matmul(const Linear& linear, MatrixView<const std::int8_t> x,
            const Store& store) noexcept {
  const std::size_t in = linear.in;
  std::size_t row = 0;
  for (; row + 2 <= x.rows(); row += 2) {
    const std::int8_t* const x0 = x.row(row);
    const std::int8_t* const x1 = x.row(row + 1);
    const std::int8_t* w = linear.weights;
    for (std::size_t c = 0; c < linear.out; ++c, w += in) {
      std::int32_t acc0 = linear.bias[c];
      std::int32_t acc1 = acc0;
      for (std::size_t k = 0; k < in; ++k) {
        acc0 += x0[k] * w[k];
        acc1 += x1[k] * w[k];
      }
      const std::int16_t m = linear.multiplier[c];
      store(row, c, Requant16(acc0, linear.shift, m));
      store(row + 1, c, Requant16(acc1, linear.shift, m));
    }
  }
  if (row < x.rows()) {
    const std::int8_t* const x0 = x.row(row);
    const std::int8_t* w = linear.weights;
    for (std::size_t c = 0; c < linear.out; ++c, w += in) {
      std::int32_t acc = linear.bias[c];
      for (std::size_t k = 0; k < in; ++k) acc += x0[k] * w[k];
      store(row, c, Requant16(acc, linear.shift, linear.multiplier[c]));
    }
  }
}

}  // namespace

void MatmulS8Ref(const Linear& linear, MatrixView<const std::int8_t> x,
                 MatrixView<std::int8_t> y) noexcept {
  Matmul(linear, x, [y](std::size_t row, std::size_t c, std::int16_t u) {
    y.row(row)[c] = Clamp127(u);
  });
}

void MatmulS16Ref(const Linear& linear, MatrixView<const std::int8_t> x,
                  MatrixView<std::int16_t> y) noexcept {
  Matmul(linear, x, [y](std::size_t row, std::size_t c, std::int16_t u) {
    y.row(row)[c] = u;
  });
}

void MatmulAddS16Ref(const Linear& linear, MatrixView<const std::int8_t> x,
                     MatrixView<std::int16_t> r) noexcept {
  Matmul(linear, x, [r](std::size_t row, std::size_t c, std::int16_t u) {
    std::int16_t& sum = r.row(row)[c];
    sum = Sat16(sum + u);
  });
}

}  // namespace atto
