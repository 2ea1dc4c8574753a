// Instructions of every op of the build's fastest backend and of `ref`, a line
// each: backend, op, shape, instructions, and how many that is an element or a
// multiply-add. Counted by the board's clock, under `-icount shift=0` to within
// one tick; the same numbers on every run.
#include <cstddef>
#include <cstdint>

#include "board.h"
#include "ops/backend.h"

namespace {

using atto::Backend;
using atto::MatrixView;
using atto::Span;

// The largest shapes below.
constexpr std::size_t kTokens = 64;
constexpr std::size_t kIn = 512;
constexpr std::size_t kOut = 512;
constexpr std::size_t kD = 64;
constexpr std::size_t kHeads = 4;

struct {
  std::int8_t x[kTokens * kIn];
  std::int8_t weights[128 * kOut];
  std::int32_t bias[kOut];
  std::int16_t multiplier[kOut];
  std::int8_t y[kTokens * kOut];
  std::int16_t residual[kTokens * kD];
  std::int32_t scores[kTokens];
  std::int16_t gain[kD];
  std::int16_t norm_bias[kD];
  std::int32_t sums[kD];
} data;
alignas(16) std::uint8_t scratch[8192];

std::uint32_t noise = 1;

template <typename T, std::size_t kSize>
void Fill(T (&values)[kSize], std::int32_t low, std::int32_t high) {
  for (T& value : values) {
    noise = noise * 1664525U + 1013904223U;
    const std::uint32_t range = static_cast<std::uint32_t>(high - low + 1);
    value =
        static_cast<T>(low + static_cast<std::int32_t>((noise >> 8) % range));
  }
}

void FillAll() {
  Fill(data.x, -127, 127);
  Fill(data.weights, -127, 127);
  Fill(data.bias, -1000, 1000);
  Fill(data.multiplier, 16384, 32767);
  Fill(data.residual, -3000, 3000);
  Fill(data.scores, -20000, 20000);
  Fill(data.gain, -32767, 32767);
  Fill(data.norm_bias, -500, 500);
}

void PrintShape(const std::size_t* shape, std::size_t rank) {
  for (std::size_t i = 0; i < rank; ++i) {
    if (i != 0) board_print("x");
    board_print_number(static_cast<std::int64_t>(shape[i]));
  }
}

// Runs `body` and prints its line. `work`: elements or multiply-adds.
template <std::size_t kRank, typename Body>
void Count(const Backend& backend, const char* op,
           const std::size_t (&shape)[kRank], std::size_t work,
           const Body& body) {
  const std::uint64_t start = board_clock();
  body();
  const auto instructions = static_cast<std::int64_t>(board_clock() - start);
  board_print(backend.name);
  board_print(" ");
  board_print(op);
  board_print(" ");
  PrintShape(shape, kRank);
  board_print(" ");
  board_print_number(instructions);
  board_print(" ");
  const std::int64_t hundredths =
      instructions * 100 / static_cast<std::int64_t>(work);
  board_print_number(hundredths / 100);
  board_print(hundredths % 100 < 10 ? ".0" : ".");
  board_print_number(hundredths % 100);
  board_print("\r\n");
}

void CountMatmul(const Backend& backend, std::size_t rows, std::size_t in,
                 std::size_t out) {
  atto::Linear linear;
  linear.weights = data.weights;
  linear.bias = data.bias;
  linear.multiplier = data.multiplier;
  linear.in = static_cast<std::uint16_t>(in);
  linear.out = static_cast<std::uint16_t>(out);
  linear.shift = 9;
  Count(backend, "matmul_s8", {rows, in, out}, rows * in * out, [&] {
    backend.matmul_s8(linear, {data.x, rows, in}, {data.y, rows, out});
  });
  if (out > kD) return;
  Count(backend, "matmul_add_s16", {rows, in, out}, rows * in * out, [&] {
    backend.matmul_add_s16(linear, {data.x, rows, in},
                           {data.residual, rows, out});
  });
}

void CountAttention(const Backend& backend) {
  atto::Attention attention;
  attention.heads = kHeads;
  attention.d_head = kD / kHeads;
  attention.softmax.shift = 2;
  attention.softmax.multiplier = 20000;
  if (AttentionScratchBytes(backend.memory, kTokens, attention.d_head) >
      sizeof(scratch)) {
    board_exit(1);
  }
  Count(backend, "softmax_s8", {kTokens}, kTokens, [&] {
    const Span<const std::int32_t> scores(data.scores, kTokens);
    backend.softmax_s8(attention.softmax, scores, data.y);
  });
  const MatrixView<const std::int8_t> keys(data.x, kTokens, kD);
  const MatrixView<const std::int8_t> values(data.weights, kTokens, kD);
  const MatrixView<std::int8_t> y(data.y, kTokens, kD);
  Count(backend, "attention_s8", {kHeads, kTokens, kTokens, kD / kHeads},
        2 * kTokens * kTokens * kD, [&] {
          const std::size_t tile = backend.memory.tile_rows;
          for (std::size_t row = 0; row < kTokens; row += tile) {
            const std::size_t left = kTokens - row;
            const std::size_t rows = left < tile ? left : tile;
            backend.attention_s8(attention, keys.row_range(row, rows), keys,
                                 values, y.row_range(row, rows), scratch,
                                 nullptr);
          }
        });
}

void CountElementwise(const Backend& backend) {
  atto::LayerNorm norm;
  norm.gain = data.gain;
  norm.bias = data.norm_bias;
  norm.d = kD;
  norm.sqrt_d = atto::LayerNormSqrt(kD);
  norm.shift = 3;
  const std::size_t size = kTokens * kD;
  const MatrixView<std::int16_t> x(data.residual, kTokens, kD);
  const Span<std::int16_t> flat(data.residual, size);
  const MatrixView<std::int8_t> y(data.y, kTokens, kD);
  const Span<std::int8_t> bytes(data.y, size);
  Count(backend, "layernorm_s8", {kTokens, kD}, size,
        [&] { backend.layernorm_s8(norm, x, y); });
  Count(backend, "layernorm_s16", {kTokens, kD}, size,
        [&] { backend.layernorm_s16(norm, x, x); });
  Count(backend, "quantise_s8", {size}, size,
        [&] { backend.quantise_s8(3, flat, data.y); });
  Count(backend, "gelu_s8", {size}, size, [&] { backend.gelu_s8(4, bytes); });
  Count(backend, "relu_s8", {size}, size, [&] { backend.relu_s8(bytes); });
  Count(backend, "add_shifted_s8", {size}, size,
        [&] { backend.add_shifted_s8(2, bytes, data.residual); });
  Count(backend, "sum_rows_s8", {kTokens, kD}, size,
        [&] { backend.sum_rows_s8(y, data.sums); });
}

}  // namespace

int main() {
  for (const Backend* const backend : atto::Backends()) {
    FillAll();
    CountMatmul(*backend, 64, 64, 64);
    CountMatmul(*backend, 64, 64, 128);
    CountMatmul(*backend, 64, 128, 64);
    CountMatmul(*backend, 64, 128, 512);
    CountMatmul(*backend, 64, 512, 128);
    CountMatmul(*backend, 1, 64, 64);
    CountAttention(*backend);
    CountElementwise(*backend);
  }
  return 0;
}
