// Every backend against the scalar truth, bit for bit, over random shapes,
// alignments and parameters. The golden vectors test the truth itself.
#include "tests/support/backends.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

#include "ops/backend.h"

namespace atto {
namespace {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  // Uniform in [low, high].
  std::int32_t In(std::int32_t low, std::int32_t high) {
    return std::uniform_int_distribution<std::int32_t>(low, high)(engine_);
  }
  std::size_t Size(std::int32_t low, std::int32_t high) {
    return static_cast<std::size_t>(In(low, high));
  }

 private:
  std::mt19937 engine_;
};

// Random numbers that start at any address, to try misaligned rows. Sometimes
// all are extreme.
template <typename T>
class Numbers {
 public:
  Numbers(Random* random, std::size_t size, std::int32_t low, std::int32_t high)
      : offset_(random->Size(0, 15)), size_(size), values_(size + offset_) {
    const bool extreme = random->In(0, 7) == 0;
    for (T& value : values_) {
      value = static_cast<T>(extreme ? (random->In(0, 1) == 0 ? low : high)
                                     : random->In(low, high));
    }
  }
  T* data() { return values_.data() + offset_; }
  std::size_t size() const { return size_; }
  Span<T> span() { return {data(), size_}; }
  bool operator==(const Numbers& other) const {
    return values_ == other.values_;
  }

 private:
  std::size_t offset_;
  std::size_t size_;
  std::vector<T> values_;
};

using Int8s = Numbers<std::int8_t>;
using Int16s = Numbers<std::int16_t>;
using Int32s = Numbers<std::int32_t>;

// Calls `body(backend, ref, &random)` many times for every backend but ref.
template <typename Body>
void Compare(int rounds, const Body& body) {
  const auto backends = testing::RunnableBackends();
  const Backend& ref = backends.front();
  for (const Backend& backend : backends) {
    if (&backend == &ref) continue;
    CAPTURE(backend.name);
    Random random(1);
    for (int round = 0; round < rounds; ++round) {
      CAPTURE(round);
      body(backend, ref, &random);
    }
  }
}

TEST_CASE("backends: matmul") {
  Compare(400, [](const Backend& backend, const Backend& ref, Random* random) {
    // Beyond two panels of the widest vector, and tails of every length.
    const std::size_t rows = random->Size(1, 9);
    const std::size_t in = random->Size(1, 150);
    const std::size_t out = random->Size(1, 70);
    const std::int32_t largest = random->In(1, 127);
    Int8s x(random, rows * in, -127, 127);
    Int8s weights(random, in * out, -largest, largest);
    Int32s bias(random, out, -(1 << 30), 1 << 30);
    Int16s multiplier(random, out, 1, 32767);
    Linear linear;
    linear.weights = weights.data();
    linear.bias = bias.data();
    linear.multiplier = multiplier.data();
    linear.in = static_cast<std::uint16_t>(in);
    linear.out = static_cast<std::uint16_t>(out);
    linear.shift = static_cast<std::uint8_t>(random->In(0, 24));
    if (random->In(0, 3) != 0) {  // mostly results that do not saturate
      bias = Int32s(random, out, -1000, 1000);
      linear.bias = bias.data();
      linear.shift = static_cast<std::uint8_t>(random->In(0, 8));
    }
    const testing::PackedLinear packed(linear, backend);
    const MatrixView<const std::int8_t> input(x.data(), rows, in);

    Int8s y(random, rows * out, 0, 0);
    Int8s y_ref = y;
    backend.matmul_s8(packed.linear(), input, {y.data(), rows, out});
    ref.matmul_s8(linear, input, {y_ref.data(), rows, out});
    CHECK(y == y_ref);

    Int16s u(random, rows * out, 0, 0);
    Int16s u_ref = u;
    backend.matmul_s16(packed.linear(), input, {u.data(), rows, out});
    ref.matmul_s16(linear, input, {u_ref.data(), rows, out});
    CHECK(u == u_ref);

    Int16s r(random, rows * out, -32768, 32767);
    Int16s r_ref = r;
    backend.matmul_add_s16(packed.linear(), input, {r.data(), rows, out});
    ref.matmul_add_s16(linear, input, {r_ref.data(), rows, out});
    CHECK(r == r_ref);
  });
}

TEST_CASE("backends: matmul with the longest rows") {
  Compare(2, [](const Backend& backend, const Backend& ref, Random* random) {
    Int8s x(random, 5 * Linear::kMaxIn, -127, 127);
    Int8s weights(random, 3 * Linear::kMaxIn, -127, 127);
    Int32s bias(random, 3, -(1 << 20), 1 << 20);
    Int16s multiplier(random, 3, 1, 32767);
    Linear linear;
    linear.weights = weights.data();
    linear.bias = bias.data();
    linear.multiplier = multiplier.data();
    linear.in = Linear::kMaxIn;
    linear.out = 3;
    linear.shift = 10;
    const testing::PackedLinear packed(linear, backend);
    const MatrixView<const std::int8_t> input(x.data(), 5, Linear::kMaxIn);
    Int16s u(random, 15, 0, 0);
    Int16s u_ref = u;
    backend.matmul_s16(packed.linear(), input, {u.data(), 5, 3});
    ref.matmul_s16(linear, input, {u_ref.data(), 5, 3});
    CHECK(u == u_ref);
  });
}

// One attention on one backend and on ref. The scratch has exactly the bytes
// that it was promised, and what stands behind them must stay.
void CompareAttention(const Backend& backend, const Backend& ref,
                      Random* random, std::size_t tokens, std::size_t heads,
                      std::size_t d_head, std::size_t rows) {
  CAPTURE(tokens);
  CAPTURE(d_head);
  const std::size_t d = heads * d_head;
  const std::int32_t largest = random->In(1, 127);
  Int8s q(random, rows * d, -largest, largest);
  Int8s k(random, tokens * d, -largest, largest);
  Int8s v(random, tokens * d, -127, 127);
  Attention attention;
  attention.heads = static_cast<std::uint16_t>(heads);
  attention.d_head = static_cast<std::uint16_t>(d_head);
  attention.softmax.shift = static_cast<std::int8_t>(random->In(-4, 12));
  attention.softmax.multiplier =
      static_cast<std::int16_t>(random->In(1, 32767));
  const auto run = [&](const Backend& which, Int8s* y, Int8s* tap) {
    constexpr std::size_t kBehind = 256;
    constexpr std::uint8_t kPattern = 0xA5;
    // Any address that is a multiple of 4 will do.
    const std::size_t offset = 4 * random->Size(0, 15);
    const std::size_t end =
        offset + AttentionScratchBytes(which.memory, tokens, d_head);
    testing::AlignedBytes scratch(end + kBehind);
    for (std::size_t i = 0; i < scratch.size(); ++i) {
      scratch.data()[i] = kPattern;
    }
    which.attention_s8(attention, {q.data(), rows, d}, {k.data(), tokens, d},
                       {v.data(), tokens, d}, {y->data(), rows, d},
                       scratch.data() + offset, tap->data());
    bool kept = true;
    for (std::size_t i = 0; i < offset; ++i) {
      kept = kept && scratch.data()[i] == kPattern;
    }
    for (std::size_t i = end; i < scratch.size(); ++i) {
      kept = kept && scratch.data()[i] == kPattern;
    }
    CHECK(kept);
  };
  Int8s y(random, rows * d, 0, 0);
  Int8s tap(random, rows * heads * tokens, 0, 0);
  Int8s y_ref = y;
  Int8s tap_ref = tap;
  run(backend, &y, &tap);
  run(ref, &y_ref, &tap_ref);
  CHECK(y == y_ref);
  CHECK(tap == tap_ref);
}

TEST_CASE("backends: attention") {
  Compare(300, [](const Backend& backend, const Backend& ref, Random* random) {
    const std::size_t tokens =
        random->In(0, 19) == 0 ? random->Size(500, 512) : random->Size(1, 70);
    CompareAttention(backend, ref, random, tokens, random->Size(1, 4),
                     random->Size(1, 40), random->Size(1, 9));
  });
}

TEST_CASE("backends: attention with the widest heads and most tokens") {
  Compare(1, [](const Backend& backend, const Backend& ref, Random* random) {
    for (const std::size_t d_head : {63U, 64U, 65U, 255U, 511U, 512U}) {
      for (const std::size_t tokens : {1U, 31U, 33U, 511U, 512U}) {
        CompareAttention(backend, ref, random, tokens, 1, d_head, 5);
      }
    }
  });
}

TEST_CASE("backends: softmax") {
  Compare(400, [](const Backend& backend, const Backend& ref, Random* random) {
    const std::int32_t magnitude = 1 << random->In(0, 22);
    Int32s scores(random, random->Size(1, 512), -magnitude, magnitude);
    SoftmaxParams params;
    params.shift = static_cast<std::int8_t>(
        random->In(SoftmaxParams::kMinShift, SoftmaxParams::kMaxShift));
    params.multiplier = static_cast<std::int16_t>(random->In(1, 32767));
    Int8s e(random, scores.size(), 0, 0);
    Int8s e_ref = e;
    CHECK(backend.softmax_s8(params, scores.span(), e.data()) ==
          ref.softmax_s8(params, scores.span(), e_ref.data()));
    CHECK(e == e_ref);
  });
}

TEST_CASE("backends: layernorm") {
  Compare(600, [](const Backend& backend, const Backend& ref, Random* random) {
    const std::size_t rows = random->Size(1, 5);
    const std::size_t d =
        random->In(0, 9) == 0 ? random->Size(500, 512) : random->Size(2, 130);
    const std::int32_t magnitude = 1 << random->In(0, 15);
    const std::int32_t mean = random->In(-32768, 32767);
    const auto clip = [](std::int32_t v) {
      return v < -32768 ? -32768 : (v > 32767 ? 32767 : v);
    };
    Int16s x(random, rows * d, clip(mean - magnitude), clip(mean + magnitude));
    Int16s gain(random, d, -32767, 32767);
    Int16s bias(random, d, -32768, 32767);
    LayerNorm norm;
    norm.gain = gain.data();
    norm.bias = bias.data();
    norm.d = static_cast<std::uint16_t>(d);
    norm.sqrt_d = LayerNormSqrt(norm.d);
    norm.shift = static_cast<std::uint8_t>(random->In(0, 7));
    Int8s y(random, rows * d, 0, 0);
    Int8s y_ref = y;
    backend.layernorm_s8(norm, {x.data(), rows, d}, {y.data(), rows, d});
    ref.layernorm_s8(norm, {x.data(), rows, d}, {y_ref.data(), rows, d});
    CHECK(y == y_ref);
    Int16s u = x;  // in place
    Int16s u_ref = x;
    backend.layernorm_s16(norm, {u.data(), rows, d}, {u.data(), rows, d});
    ref.layernorm_s16(norm, {u_ref.data(), rows, d}, {u_ref.data(), rows, d});
    CHECK(u == u_ref);
    backend.quantise_s8(norm.shift, x.span(), y.data());
    ref.quantise_s8(norm.shift, x.span(), y_ref.data());
    CHECK(y == y_ref);
  });
}

TEST_CASE("backends: activation") {
  Compare(200, [](const Backend& backend, const Backend& ref, Random* random) {
    // Long arrays may go by a table.
    const std::int32_t most = random->In(0, 3) == 0 ? 3000 : 300;
    Int8s gelu(random, random->Size(1, most), -127, 127);
    Int8s gelu_ref = gelu;
    const auto bits = static_cast<unsigned>(random->In(3, 6));
    backend.gelu_s8(bits, gelu.span());
    ref.gelu_s8(bits, gelu_ref.span());
    CHECK(gelu == gelu_ref);
    Int8s relu(random, random->Size(1, 300), -127, 127);
    Int8s relu_ref = relu;
    backend.relu_s8(relu.span());
    ref.relu_s8(relu_ref.span());
    CHECK(relu == relu_ref);
  });
}

TEST_CASE("backends: add") {
  Compare(200, [](const Backend& backend, const Backend& ref, Random* random) {
    const std::size_t size = random->Size(1, 200);
    Int16s x(random, size, -32768, 32767);
    Int16s r(random, size, -32768, 32767);
    Int16s r_ref = r;
    backend.add_s16(x.span(), r.data());
    ref.add_s16(x.span(), r_ref.data());
    CHECK(r == r_ref);
    Int8s position(random, size, -127, 127);
    const auto shift = static_cast<unsigned>(random->In(0, 8));
    backend.add_shifted_s8(shift, position.span(), r.data());
    ref.add_shifted_s8(shift, position.span(), r_ref.data());
    CHECK(r == r_ref);
  });
}

TEST_CASE("backends: embedding") {
  Compare(300, [](const Backend& backend, const Backend& ref, Random* random) {
    Embedding embedding;
    embedding.rows = static_cast<std::uint16_t>(random->In(1, 50));
    embedding.width = static_cast<std::uint16_t>(random->In(1, 100));
    embedding.multiplier = static_cast<std::int16_t>(random->In(1, 32767));
    Int8s table(random, std::size_t{embedding.rows} * embedding.width, -127,
                127);
    embedding.table = table.data();
    Numbers<std::uint16_t> rows(random, random->Size(0, 255), 0,
                                embedding.rows - 1);
    Int8s y(random, embedding.width, 0, 0);
    Int8s y_ref = y;
    backend.embedding_sum_s8(embedding, rows.span(), y.data());
    ref.embedding_sum_s8(embedding, rows.span(), y_ref.data());
    CHECK(y == y_ref);
  });
}

TEST_CASE("backends: pooling") {
  Compare(200, [](const Backend& backend, const Backend& ref, Random* random) {
    const std::size_t rows = random->Size(1, 512);
    const std::size_t d = random->Size(1, 90);
    Int8s x(random, rows * d, -127, 127);
    Int32s sums(random, d, 0, 0);
    Int32s sums_ref = sums;
    backend.sum_rows_s8({x.data(), rows, d}, sums.data());
    ref.sum_rows_s8({x.data(), rows, d}, sums_ref.data());
    CHECK(sums == sums_ref);
    Int8s y(random, d, 0, 0);
    Int8s y_ref = y;
    const auto shift = static_cast<unsigned>(random->In(0, 6));
    backend.mean_s8(sums.span(), rows, shift, y.data());
    ref.mean_s8(sums_ref.span(), rows, shift, y_ref.data());
    CHECK(y == y_ref);
  });
}

TEST_CASE("backends: log-mel") {
  Compare(60, [](const Backend& backend, const Backend& ref, Random* random) {
    const auto fft = static_cast<std::uint16_t>(32 << random->In(0, 4));
    const std::size_t length = random->Size(1, fft);
    const std::int32_t loudest = 1 << random->In(0, 15);
    Int16s pcm(random, length, -loudest, loudest - 1);
    Int16s window(random, length, 0, 32767);
    const std::size_t bins = random->Size(1, 128);
    std::vector<std::int16_t> filters;
    std::size_t total = 0;
    for (std::size_t i = 0; i < bins; ++i) {
      const std::int32_t first = random->In(1, fft / 2 - 1);
      const std::int32_t count = random->In(1, fft / 2 - first);
      filters.push_back(static_cast<std::int16_t>(first));
      filters.push_back(static_cast<std::int16_t>(count));
      total += static_cast<std::size_t>(count);
    }
    Int16s weights(random, total, 0, 32767);
    LogMel mel;
    mel.window = window.data();
    mel.filters = filters.data();
    mel.weights = weights.data();
    mel.frame_length = static_cast<std::uint16_t>(length);
    mel.fft_length = fft;
    mel.bins = static_cast<std::uint16_t>(bins);
    mel.multiplier = static_cast<std::int16_t>(random->In(1, 2000));
    mel.offset = random->In(0, 60 << 15);
    Int8s y(random, bins, 0, 0);
    Int8s y_ref = y;
    std::vector<std::int32_t> scratch(LogMelScratchBytes(backend.memory, fft) /
                                      4);
    std::vector<std::int32_t> scratch_ref(LogMelScratchBytes(ref.memory, fft) /
                                          4);
    LogMelKernel(backend)(mel, pcm.data(), y.data(), scratch.data());
    LogMelS8Ref(mel, pcm.data(), y_ref.data(), scratch_ref.data());
    CHECK(y == y_ref);
  });
}

}  // namespace
}  // namespace atto
