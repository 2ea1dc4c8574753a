// The worst cases that a legal model and any input can make: no sum overflows.
// The bounds are those of docs/quantization.md and docs/model_format.md; in a
// build with UndefinedBehaviorSanitizer the scalar kernels are watched, too.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "ops/backend.h"
#include "tests/support/backends.h"

namespace atto {
namespace {

constexpr std::int64_t kInt32Max = 0x7FFFFFFF;

// What the reader lets pass, and what it need not look at for that.
static_assert(std::int64_t{Linear::kMaxBias} +
                      std::int64_t{Linear::kMaxIn} * 127 * 127 <=
                  kInt32Max,
              "an accumulator with its bias");
// Kernels that shift activations by 128 take 128 sum |w| off again.
static_assert(std::int64_t{Linear::kMaxBias} +
                      std::int64_t{Linear::kMaxIn} * 127 * (255 + 128) <=
                  kInt32Max,
              "the same with activations as unsigned bytes");
static_assert(2 * 512 * 127 * 127 < (1 << 24), "the distance of two scores");
static_assert(512 * 127 * 127 <= kInt32Max >> 7, "a context sum, scaled");
static_assert(255 * 127 <= 32767, "an embedding sum in 16 bits");

// The definition of a requantised sum, where nothing can overflow.
std::int64_t Requantised(std::int64_t acc, unsigned shift,
                         std::int64_t multiplier) {
  std::int64_t u = acc >> shift;
  u = u < -32768 ? -32768 : u > 32767 ? 32767 : u;
  return (u * multiplier + (1 << 14)) >> 15;
}

TEST_CASE("bounds: the largest sums of a matrix product") {
  constexpr std::size_t kIn = Linear::kMaxIn;
  constexpr std::size_t kRows = 3;
  // Channels: all signs agree with the first row, none does, they alternate.
  constexpr std::size_t kOut = 3;
  std::vector<std::int8_t> x(kRows * kIn);
  std::vector<std::int8_t> weights(kOut * kIn);
  for (std::size_t k = 0; k < kIn; ++k) {
    const std::int8_t sign = k % 3 == 0 ? -1 : 1;
    const std::int8_t other = k % 2 == 0 ? -1 : 1;
    x[k] = static_cast<std::int8_t>(127 * sign);
    x[kIn + k] = static_cast<std::int8_t>(-127 * sign);
    x[2 * kIn + k] = 127;
    weights[k] = static_cast<std::int8_t>(127 * sign);
    weights[kIn + k] = static_cast<std::int8_t>(-127 * sign);
    weights[2 * kIn + k] = static_cast<std::int8_t>(127 * other);
  }
  const std::vector<std::int16_t> multiplier(kOut, 32767);
  for (const std::int32_t bias_value : {Linear::kMaxBias, -Linear::kMaxBias}) {
    const std::vector<std::int32_t> bias(kOut, bias_value);
    for (unsigned shift = 0; shift <= Linear::kMaxShift; ++shift) {
      Linear linear;
      linear.weights = weights.data();
      linear.bias = bias.data();
      linear.multiplier = multiplier.data();
      linear.in = kIn;
      linear.out = kOut;
      linear.shift = static_cast<std::uint8_t>(shift);
      std::vector<std::int16_t> expected;
      for (std::size_t row = 0; row < kRows; ++row) {
        for (std::size_t c = 0; c < kOut; ++c) {
          std::int64_t acc = bias[c];
          for (std::size_t k = 0; k < kIn; ++k) {
            acc += x[row * kIn + k] * weights[c * kIn + k];
          }
          expected.push_back(
              static_cast<std::int16_t>(Requantised(acc, shift, 32767)));
        }
      }
      for (const Backend& backend : testing::RunnableBackends()) {
        CAPTURE(backend.name);
        CAPTURE(shift);
        const testing::PackedLinear packed(linear, backend);
        std::vector<std::int16_t> y(kRows * kOut);
        backend.matmul_s16(packed.linear(), {x.data(), kRows, kIn},
                           {y.data(), kRows, kOut});
        CHECK(y == expected);
        // Into a residual that is full already.
        for (const std::int16_t full :
             std::initializer_list<std::int16_t>{32767, -32768}) {
          std::vector<std::int16_t> r(kRows * kOut, full);
          backend.matmul_add_s16(packed.linear(), {x.data(), kRows, kIn},
                                 {r.data(), kRows, kOut});
          for (std::size_t i = 0; i < r.size(); ++i) {
            const std::int32_t sum = full + expected[i];
            CHECK(r[i] == (sum < -32768 ? -32768 : sum > 32767 ? 32767 : sum));
          }
        }
      }
    }
  }
}

TEST_CASE("bounds: the largest scores and contexts of attention") {
  constexpr std::size_t kTokens = 512;
  constexpr std::size_t kHead = 512;
  std::vector<std::int8_t> q(kHead, 127);
  std::vector<std::int8_t> k(kTokens * kHead);
  for (std::size_t i = 0; i < k.size(); ++i) {
    // Scores of both signs, as far apart as can be; or all alike.
    k[i] = i / kHead % 2 == 0 ? 127 : -127;
  }
  for (const bool alike : {false, true}) {
    if (alike) k.assign(k.size(), 127);
    for (const std::int8_t value :
         std::initializer_list<std::int8_t>{127, -127}) {
      const std::vector<std::int8_t> v(kTokens * kHead, value);
      for (const int shift :
           {SoftmaxParams::kMinShift, 0, SoftmaxParams::kMaxShift}) {
        Attention attention;
        attention.heads = 1;
        attention.d_head = kHead;
        attention.softmax.multiplier = 32767;
        attention.softmax.shift = static_cast<std::int8_t>(shift);
        for (const Backend& backend : testing::RunnableBackends()) {
          CAPTURE(backend.name);
          CAPTURE(shift);
          testing::AlignedBytes scratch(
              AttentionScratchBytes(backend.memory, kTokens, kHead));
          std::vector<std::int8_t> y(kHead);
          backend.attention_s8(attention, {q.data(), 1, kHead},
                               {k.data(), kTokens, kHead},
                               {v.data(), kTokens, kHead}, {y.data(), 1, kHead},
                               scratch.data(), nullptr);
          // A mean of equal values.
          for (const std::int8_t mean : y) CHECK(mean == value);
        }
      }
    }
  }
}

TEST_CASE("bounds: rows of the largest variance and mean") {
  constexpr std::size_t kSize = LayerNorm::kMaxSize;
  const std::vector<std::int16_t> gain(kSize, 32767);
  for (const std::int16_t bias_value :
       std::initializer_list<std::int16_t>{32767, -32768}) {
    const std::vector<std::int16_t> bias(kSize, bias_value);
    LayerNorm norm;
    norm.gain = gain.data();
    norm.bias = bias.data();
    norm.d = kSize;
    norm.sqrt_d = LayerNormSqrt(kSize);
    for (const std::size_t period : {1U, 2U, 256U, 512U}) {
      std::vector<std::int16_t> x(kSize);
      for (std::size_t i = 0; i < kSize; ++i) {
        x[i] = i % period < (period + 1) / 2 ? -32768 : 32767;
      }
      std::vector<std::int16_t> expected;
      for (const Backend& backend : testing::RunnableBackends()) {
        CAPTURE(backend.name);
        std::vector<std::int16_t> y(kSize);
        backend.layernorm_s16(norm, {x.data(), 1, kSize}, {y.data(), 1, kSize});
        if (expected.empty()) expected = y;
        CHECK(y == expected);
        // A row without variance is the bias.
        if (period == 1) CHECK(y == bias);
      }
    }
  }
}

TEST_CASE("bounds: the largest sums of an embedding and of pooling") {
  constexpr std::size_t kWidth = 40;
  constexpr std::size_t kTokens = 512;
  for (const std::int8_t value :
       std::initializer_list<std::int8_t>{127, -127}) {
    const std::vector<std::int8_t> x(kTokens * kWidth, value);
    const std::vector<std::uint16_t> rows(Embedding::kMaxRowsPerToken, 0);
    Embedding embedding;
    embedding.table = x.data();
    embedding.rows = 1;
    embedding.width = kWidth;
    embedding.multiplier = 32767;
    for (const Backend& backend : testing::RunnableBackends()) {
      CAPTURE(backend.name);
      std::vector<std::int8_t> y(kWidth);
      backend.embedding_sum_s8(embedding, {rows.data(), rows.size()}, y.data());
      CHECK(y == std::vector<std::int8_t>(kWidth, value));
      std::vector<std::int32_t> sums(kWidth, 0);
      backend.sum_rows_s8({x.data(), kTokens, kWidth}, sums.data());
      CHECK(sums == std::vector<std::int32_t>(
                        kWidth, static_cast<std::int32_t>(kTokens) * value));
      backend.mean_s8({sums.data(), sums.size()}, kTokens, 6, y.data());
      CHECK(y == std::vector<std::int8_t>(kWidth, value));
    }
  }
}

}  // namespace
}  // namespace atto
