#include "ops/matmul/matmul_f32.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/support/float_backends.h"

namespace atto {
namespace {

using testing::CheckClose;
using testing::Floats;
using testing::RandomFloats;
using testing::Rows;
using testing::RunnableFloatBackends;
using testing::Unset;

struct Layer {
  Layer(std::mt19937* random, std::size_t in, std::size_t out,
        const FloatBackend& backend)
      : weights(RandomFloats(random, in * out)),
        bias(RandomFloats(random, out)),
        packed(Unset(PackedFloatLinearSize(backend.memory, in, out))) {
    linear.weights = weights.data();
    linear.bias = bias.data();
    linear.in = static_cast<std::uint16_t>(in);
    linear.out = static_cast<std::uint16_t>(out);
    const std::size_t size = backend.pack_linear(linear, packed.data());
    CHECK(size <= packed.size());
    linear.packed = packed.data();
  }

  std::vector<double> Expected(const Floats& x, std::size_t rows) const {
    const std::size_t in = linear.in;
    std::vector<double> y;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t c = 0; c < linear.out; ++c) {
        double sum = bias[c];
        for (std::size_t k = 0; k < in; ++k) {
          sum += double{x[i * in + k]} * double{weights[c * in + k]};
        }
        y.push_back(sum);
      }
    }
    return y;
  }

  Floats weights;
  Floats bias;
  Floats packed;
  FloatLinear linear;
};

void CheckShape(const FloatBackend& backend, std::size_t rows, std::size_t in,
                std::size_t out) {
  CAPTURE(rows);
  CAPTURE(in);
  CAPTURE(out);
  std::mt19937 random(static_cast<unsigned>(rows + 100 * in + 10000 * out));
  const Layer layer(&random, in, out, backend);
  const Floats x = RandomFloats(&random, rows * in);
  std::vector<double> wanted = layer.Expected(x, rows);
  // Sums of `in` products of magnitude 1: a few units in the last place each.
  const double tolerance = 1e-6 * static_cast<double>(in + 10);
  Floats y = Unset(rows * out);
  backend.matmul(layer.linear, Rows(x, rows), Rows(&y, rows));
  CheckClose(y, wanted, tolerance);
  Floats sums = RandomFloats(&random, rows * out);
  for (std::size_t i = 0; i < sums.size(); ++i) wanted[i] += double{sums[i]};
  backend.matmul_add(layer.linear, Rows(x, rows), Rows(&sums, rows));
  CheckClose(sums, wanted, tolerance);
}

TEST_CASE("float matmul: every number of rows and of channels") {
  for (const FloatBackend& backend : RunnableFloatBackends()) {
    CAPTURE(backend.name);
    for (std::size_t rows = 1; rows <= 27; ++rows) {
      for (const std::size_t out : {1U, 8U, 31U, 33U, 64U}) {
        CheckShape(backend, rows, 5, out);
      }
    }
    for (std::size_t out = 1; out <= 140; ++out) {
      CheckShape(backend, 1, 7, out);
      CheckShape(backend, 2, 3, out);
    }
  }
}

TEST_CASE("float matmul: every depth, and the largest") {
  for (const FloatBackend& backend : RunnableFloatBackends()) {
    CAPTURE(backend.name);
    for (std::size_t in = 1; in <= 40; ++in) CheckShape(backend, 3, in, 17);
    CheckShape(backend, 64, 64, 128);
    CheckShape(backend, 5, 4096, 3);
    CheckShape(backend, 1, 3, 4096);
  }
}

}  // namespace
}  // namespace atto
