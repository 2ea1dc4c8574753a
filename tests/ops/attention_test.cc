#include "ops/attention/attention.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "ops/backend.h"
#include "tests/support/backends.h"
#include "tests/support/golden.h"

namespace atto {
namespace {

using Int8s = std::vector<std::int8_t>;

TEST_CASE("attention: golden vectors") {
  for (const testing::GoldenCase& golden : testing::ReadGolden("attention")) {
    CAPTURE(golden.name);
    const auto q = golden.Values<std::int8_t>("q");
    const auto k = golden.Values<std::int8_t>("k");
    const auto v = golden.Values<std::int8_t>("v");
    const std::size_t rows = golden.Dim("q", 0);
    const std::size_t tokens = golden.Dim("k", 0);
    const std::size_t d = golden.Dim("q", 1);
    Attention attention;
    attention.heads = static_cast<std::uint16_t>(golden.Scalar("heads"));
    attention.d_head = static_cast<std::uint16_t>(d / attention.heads);
    attention.softmax.shift = static_cast<std::int8_t>(golden.Scalar("shift"));
    attention.softmax.multiplier =
        static_cast<std::int16_t>(golden.Scalar("multiplier"));
    for (const Backend& backend : testing::RunnableBackends()) {
      CAPTURE(backend.name);
      testing::AlignedBytes scratch(
          AttentionScratchBytes(backend.memory, tokens, attention.d_head));
      Int8s y(q.size());
      backend.attention_s8(attention, {q.data(), rows, d},
                           {k.data(), tokens, d}, {v.data(), tokens, d},
                           {y.data(), rows, d}, scratch.data(), nullptr);
      CHECK(y == golden.Values<std::int8_t>("y"));
    }
  }
}

// A case for pencil and paper: A = softmax(Q K^T / sqrt(d_k)), y = A V.
//
// Real values: scale_q = ln(2) / 16, scale_k = 1 / 16, d_k = 4, so
//   Q = ln(2) (2, 0, 0, 0),  K = (1, 0, 0, 0), (0, 0, 0, 0), (-1, 0, 0, 0)
//   Q K^T / sqrt(4) = ln(2) (1, 0, -1)
//   A = (2, 1, 1/2) / 3.5 = (4, 2, 1) / 7
//   V = (70, 0), (0, 70), (7, -7)  ->  A V = (41, 19)
// Integers: q = (32, 0, 0, 0), k = (16, ...), 0, (-16, ...), scores 512, 0,
// -512; one step of 512 is one octave, 2,048 units: factor 4 = 2^3 m / 2^15
// with m = 2^14. Weights 127, 63.5 -> 64, 31.75 -> 32.
TEST_CASE("attention: an example that can be checked on paper") {
  const Int8s q = {32, 0, 0, 0};
  const Int8s k = {16, 0, 0, 0, 0, 0, 0, 0, -16, 0, 0, 0};
  const Int8s v = {70, 0, 0, 0, 0, 70, 0, 0, 7, -7, 0, 0};
  Attention attention;
  attention.heads = 1;
  attention.d_head = 4;
  attention.softmax.shift = -3;
  attention.softmax.multiplier = 1 << 14;
  for (const Backend& backend : testing::RunnableBackends()) {
    CAPTURE(backend.name);
    testing::AlignedBytes scratch(AttentionScratchBytes(backend.memory, 3, 4));
    Int8s y(4, 99);
    Int8s weights(3, -1);
    backend.attention_s8(attention, {q.data(), 1, 4}, {k.data(), 3, 4},
                         {v.data(), 3, 4}, {y.data(), 1, 4}, scratch.data(),
                         weights.data());
    CHECK(weights == Int8s{127, 64, 32});
    CHECK(y == Int8s{41, 19, 0, 0});
  }
}

TEST_CASE("attention: heads see their own columns only") {
  // Head 0 looks at key 0, head 1 at key 1: both by a distance of eight
  // octaves, beyond which a key weighs nothing.
  const Int8s q = {127, 127};
  const Int8s k = {127, -127, -127, 127};
  const Int8s v = {11, 22, 33, 44};
  Attention attention;
  attention.heads = 2;
  attention.d_head = 1;
  attention.softmax.shift = 0;
  attention.softmax.multiplier = 32767;
  for (const Backend& backend : testing::RunnableBackends()) {
    CAPTURE(backend.name);
    testing::AlignedBytes scratch(AttentionScratchBytes(backend.memory, 2, 1));
    Int8s y(2, 0);
    backend.attention_s8(attention, {q.data(), 1, 2}, {k.data(), 2, 2},
                         {v.data(), 2, 2}, {y.data(), 1, 2}, scratch.data(),
                         nullptr);
    CHECK(y == Int8s{11, 44});
  }
}

TEST_CASE("attention: equal keys average the values, whatever their number") {
  for (const std::size_t tokens : {1U, 2U, 3U, 7U, 64U, 511U, 512U}) {
    CAPTURE(tokens);
    const Int8s q(8, 5);
    const Int8s k(tokens * 8, 3);
    Int8s v(tokens * 8);
    for (std::size_t i = 0; i < v.size(); ++i) {
      v[i] = static_cast<std::int8_t>(i % 8 < 4 ? 127 : -127);
    }
    Attention attention;
    attention.heads = 2;
    attention.d_head = 4;
    attention.softmax.multiplier = 1;
    for (const Backend& backend : testing::RunnableBackends()) {
      CAPTURE(backend.name);
      testing::AlignedBytes scratch(
          AttentionScratchBytes(backend.memory, tokens, attention.d_head));
      Int8s y = q;  // the result may replace the query
      backend.attention_s8(attention, {y.data(), 1, 8}, {k.data(), tokens, 8},
                           {v.data(), tokens, 8}, {y.data(), 1, 8},
                           scratch.data(), nullptr);
      CHECK(y == Int8s{127, 127, 127, 127, -127, -127, -127, -127});
    }
  }
}

}  // namespace
}  // namespace atto
