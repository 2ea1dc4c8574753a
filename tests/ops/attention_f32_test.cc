#include "ops/attention/attention_f32.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/float_backends.h"

namespace atto {
namespace {

using testing::CheckClose;
using testing::Floats;
using testing::RandomFloats;
using testing::RunnableFloatBackends;
using testing::Unset;

struct Shape {
  std::size_t rows;
  std::size_t tokens;
  std::size_t heads;
  std::size_t d_head;
};

std::vector<double> Expected(const Shape& shape, const Floats& q,
                             const Floats& k, const Floats& v) {
  const std::size_t d = shape.heads * shape.d_head;
  std::vector<double> y(shape.rows * d);
  for (std::size_t i = 0; i < shape.rows; ++i) {
    for (std::size_t column = 0; column < d; column += shape.d_head) {
      std::vector<double> weights(shape.tokens);
      double sum = 0;
      for (std::size_t j = 0; j < shape.tokens; ++j) {
        double score = 0;
        for (std::size_t c = column; c < column + shape.d_head; ++c) {
          score += double{q[i * d + c]} * double{k[j * d + c]};
        }
        weights[j] =
            std::exp(score / std::sqrt(static_cast<double>(shape.d_head)));
        sum += weights[j];
      }
      for (std::size_t c = column; c < column + shape.d_head; ++c) {
        for (std::size_t j = 0; j < shape.tokens; ++j) {
          y[i * d + c] += weights[j] / sum * double{v[j * d + c]};
        }
      }
    }
  }
  return y;
}

// `step`: keys and values are packed so many rows at a time.
void CheckShape(const FloatBackend& backend, const Shape& shape,
                std::size_t step) {
  CAPTURE(shape.rows);
  CAPTURE(shape.tokens);
  CAPTURE(shape.heads);
  CAPTURE(shape.d_head);
  const std::size_t d = shape.heads * shape.d_head;
  std::mt19937 random(static_cast<unsigned>(shape.tokens * 1000 + d));
  Floats q = RandomFloats(&random, shape.rows * d);
  const Floats k = RandomFloats(&random, shape.tokens * d);
  const Floats v = RandomFloats(&random, shape.tokens * d);
  const std::vector<double> wanted = Expected(shape, q, k, v);
  FloatAttention attention;
  attention.heads = static_cast<std::uint16_t>(shape.heads);
  attention.d_head = static_cast<std::uint16_t>(shape.d_head);
  attention.scale = 1 / std::sqrt(static_cast<float>(shape.d_head));
  Floats packed = Unset(PackedKeysValuesSize(backend.memory, shape.tokens,
                                             shape.heads, shape.d_head));
  for (std::size_t first = 0; first < shape.tokens; first += step) {
    const std::size_t count = std::min(step, shape.tokens - first);
    backend.pack_keys_values(attention, shape.tokens, first,
                             {k.data() + first * d, count, d},
                             {v.data() + first * d, count, d}, packed.data());
  }
  Floats scratch =
      Unset(FloatAttentionScratchSize(backend.memory, shape.tokens));
  const MatrixView<float> rows(q.data(), shape.rows, d);
  backend.attention(attention, shape.tokens, rows, packed.data(), rows,
                    scratch.data());
  CheckClose(q, wanted, 1e-5);
}

TEST_CASE("float attention: sizes around the panels, in place") {
  for (const FloatBackend& backend : RunnableFloatBackends()) {
    CAPTURE(backend.name);
    for (const std::size_t tokens : {1U, 2U, 7U, 8U, 9U, 31U, 32U, 33U, 65U}) {
      for (const std::size_t d_head : {1U, 3U, 8U, 9U, 16U, 17U, 33U}) {
        CheckShape(backend, {tokens, tokens, 2, d_head}, 64);
      }
    }
  }
}

TEST_CASE("float attention: packed in parts, many tokens, one row") {
  for (const FloatBackend& backend : RunnableFloatBackends()) {
    CAPTURE(backend.name);
    CheckShape(backend, {1, 512, 4, 16}, 64);
    CheckShape(backend, {13, 100, 8, 16}, 7);
    CheckShape(backend, {64, 64, 1, 64}, 64);
    CheckShape(backend, {3, 50, 1, 512}, 64);
  }
}

}  // namespace
}  // namespace atto
