// Every operation of every backend against ref, bit for bit, over shapes,
// parameters, values and addresses that the input chooses.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/backend.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/support/model_file.h"

namespace atto::fuzz {
namespace {

using Int8s = Numbers<std::int8_t>;
using Int16s = Numbers<std::int16_t>;
using Int32s = Numbers<std::int32_t>;

void CompareMatmul(const Backend& backend, const Backend& ref,
                   FuzzInput* input) {
  const std::size_t rows = input->Size(1, 9);
  const bool longest = input->Index(64) == 63;
  const std::size_t in = longest ? Linear::kMaxIn : input->Size(1, 150);
  const std::size_t out = longest ? 3 : input->Size(1, 70);
  const std::int64_t largest = input->In(1, 127);
  const std::int64_t largest_bias = std::int64_t{1} << input->In(0, 30);
  Int8s x(input, rows * in, -127, 127);
  Int8s weights(input, in * out, -largest, largest);
  Int32s bias(input, out, -largest_bias, largest_bias);
  Int16s multiplier(input, out, 1, 32767);
  Linear linear;
  linear.weights = weights.data();
  linear.bias = bias.data();
  linear.multiplier = multiplier.data();
  linear.in = static_cast<std::uint16_t>(in);
  linear.out = static_cast<std::uint16_t>(out);
  linear.shift = static_cast<std::uint8_t>(input->In(0, Linear::kMaxShift));
  Linear packed = linear;
  std::vector<std::uint8_t> memory(PackedLinearBytes(backend.memory, in, out) +
                                   kPackAlignment);
  if (backend.pack_linear != nullptr) {
    std::uint8_t* const start = AlignPack(memory.data());
    const std::size_t bytes = backend.pack_linear(linear, start);
    Require(bytes <= PackedLinearBytes(backend.memory, in, out),
            "packed weights fit their bound");
    packed.packed = start;
  }
  const MatrixView<const std::int8_t> view(x.data(), rows, in);
  Int8s y(input, rows * out, 0, 0);
  Int8s y_ref = y;
  backend.matmul_s8(packed, view, {y.data(), rows, out});
  ref.matmul_s8(linear, view, {y_ref.data(), rows, out});
  Require(y == y_ref, "matmul_s8 equals ref");
  Int16s r(input, rows * out, -32768, 32767);
  Int16s r_ref = r;
  backend.matmul_add_s16(packed, view, {r.data(), rows, out});
  ref.matmul_add_s16(linear, view, {r_ref.data(), rows, out});
  Require(r == r_ref, "matmul_add_s16 equals ref");
  backend.matmul_s16(packed, view, {r.data(), rows, out});
  ref.matmul_s16(linear, view, {r_ref.data(), rows, out});
  Require(r == r_ref, "matmul_s16 equals ref");
}

SoftmaxParams DrawSoftmax(FuzzInput* input) {
  SoftmaxParams params;
  params.shift = static_cast<std::int8_t>(
      input->In(SoftmaxParams::kMinShift, SoftmaxParams::kMaxShift));
  params.multiplier = static_cast<std::int16_t>(input->In(1, 32767));
  return params;
}

void CompareAttention(const Backend& backend, const Backend& ref,
                      FuzzInput* input) {
  const std::size_t tokens =
      input->Index(32) == 31 ? input->Size(500, 512) : input->Size(1, 70);
  Attention attention;
  attention.heads = static_cast<std::uint16_t>(input->In(1, 4));
  attention.d_head = static_cast<std::uint16_t>(input->In(1, 40));
  attention.softmax = DrawSoftmax(input);
  const std::size_t d = std::size_t{attention.heads} * attention.d_head;
  const std::size_t rows = input->Size(1, 9);
  Int8s q(input, rows * d, -127, 127);
  Int8s k(input, tokens * d, -127, 127);
  Int8s v(input, tokens * d, -127, 127);
  Int8s y(input, rows * d, 0, 0);
  Int8s tap(input, rows * attention.heads * tokens, 0, 0);
  Int8s y_ref = y;
  Int8s tap_ref = tap;
  const auto run = [&](const Backend& which, Int8s* to, Int8s* weights) {
    // Any address that is a multiple of 4 will do.
    testing::FileBytes scratch(testing::Bytes(AttentionScratchBytes(
                                   which.memory, tokens, attention.d_head)),
                               4 * input->Index(16));
    which.attention_s8(attention, {q.data(), rows, d}, {k.data(), tokens, d},
                       {v.data(), tokens, d}, {to->data(), rows, d},
                       scratch.data(), weights->data());
  };
  run(backend, &y, &tap);
  run(ref, &y_ref, &tap_ref);
  Require(y == y_ref, "attention equals ref");
  Require(tap == tap_ref, "attention's tap equals ref");
}

void CompareSoftmax(const Backend& backend, const Backend& ref,
                    FuzzInput* input) {
  const SoftmaxParams params = DrawSoftmax(input);
  const std::int64_t magnitude = (std::int64_t{1} << input->In(0, 23)) - 1;
  Int32s scores(input, input->Size(1, 512), -magnitude, magnitude);
  Int8s e(input, scores.size(), 0, 0);
  Int8s e_ref = e;
  Require(backend.softmax_s8(params, scores.span(), e.data()) ==
              ref.softmax_s8(params, scores.span(), e_ref.data()),
          "softmax's sum equals ref");
  Require(e == e_ref, "softmax equals ref");
}

void CompareLayerNorm(const Backend& backend, const Backend& ref,
                      FuzzInput* input) {
  const std::size_t rows = input->Size(1, 9);
  const std::size_t d =
      input->Index(16) == 15 ? input->Size(500, 512) : input->Size(2, 130);
  const std::int64_t low = input->In(-32768, 32767);
  const std::int64_t high = input->In(low, 32767);
  Int16s x(input, rows * d, low, high);
  Int16s gain(input, d, -32767, 32767);
  Int16s bias(input, d, -32768, 32767);
  LayerNorm norm;
  norm.gain = gain.data();
  norm.bias = bias.data();
  norm.d = static_cast<std::uint16_t>(d);
  norm.sqrt_d = LayerNormSqrt(norm.d);
  norm.shift = static_cast<std::uint8_t>(input->In(0, LayerNorm::kMaxShift));
  Int8s y(input, rows * d, 0, 0);
  Int8s y_ref = y;
  backend.layernorm_s8(norm, {x.data(), rows, d}, {y.data(), rows, d});
  ref.layernorm_s8(norm, {x.data(), rows, d}, {y_ref.data(), rows, d});
  Require(y == y_ref, "layernorm_s8 equals ref");
  Int16s u = x;  // in place
  Int16s u_ref = x;
  backend.layernorm_s16(norm, {u.data(), rows, d}, {u.data(), rows, d});
  ref.layernorm_s16(norm, {u_ref.data(), rows, d}, {u_ref.data(), rows, d});
  Require(u == u_ref, "layernorm_s16 equals ref");
  backend.quantise_s8(norm.shift, x.span(), y.data());
  ref.quantise_s8(norm.shift, x.span(), y_ref.data());
  Require(y == y_ref, "quantise equals ref");
}

void CompareElementwise(const Backend& backend, const Backend& ref,
                        FuzzInput* input) {
  const std::size_t size = input->Size(1, 300);
  Int8s x(input, size, -127, 127);
  Int8s x_ref = x;
  const auto fraction_bits = static_cast<unsigned>(
      input->In(kGeluMinFractionBits, kGeluMaxFractionBits));
  backend.gelu_s8(fraction_bits, x.span());
  ref.gelu_s8(fraction_bits, x_ref.span());
  Require(x == x_ref, "gelu equals ref");
  Int16s r(input, size, -32768, 32767);
  Int16s r_ref = r;
  const auto shift = static_cast<unsigned>(input->In(0, 8));
  backend.add_shifted_s8(shift, x.span(), r.data());
  ref.add_shifted_s8(shift, x.span(), r_ref.data());
  Require(r == r_ref, "add_shifted equals ref");
  Int16s other(input, size, -32768, 32767);
  backend.add_s16(other.span(), r.data());
  ref.add_s16(other.span(), r_ref.data());
  Require(r == r_ref, "add equals ref");
  backend.relu_s8(x.span());
  ref.relu_s8(x_ref.span());
  Require(x == x_ref, "relu equals ref");
}

void CompareEmbedding(const Backend& backend, const Backend& ref,
                      FuzzInput* input) {
  Embedding embedding;
  embedding.rows = static_cast<std::uint16_t>(input->In(1, 50));
  embedding.width = static_cast<std::uint16_t>(input->In(1, 100));
  embedding.multiplier = static_cast<std::int16_t>(input->In(1, 32767));
  Int8s table(input, std::size_t{embedding.rows} * embedding.width, -127, 127);
  embedding.table = table.data();
  Numbers<std::uint16_t> rows(input,
                              input->Size(0, Embedding::kMaxRowsPerToken), 0,
                              embedding.rows - 1);
  Int8s y(input, embedding.width, 0, 0);
  Int8s y_ref = y;
  backend.embedding_sum_s8(embedding, rows.span(), y.data());
  ref.embedding_sum_s8(embedding, rows.span(), y_ref.data());
  Require(y == y_ref, "embedding equals ref");
}

void ComparePooling(const Backend& backend, const Backend& ref,
                    FuzzInput* input) {
  const std::size_t rows = input->Size(1, 512);
  const std::size_t d = input->Size(1, 90);
  const auto shift = static_cast<unsigned>(input->In(0, 6));
  Int8s x(input, rows * d, -127, 127);
  Int32s sums(input, d, 0, 0);
  Int32s sums_ref = sums;
  backend.sum_rows_s8({x.data(), rows, d}, sums.data());
  ref.sum_rows_s8({x.data(), rows, d}, sums_ref.data());
  Require(sums == sums_ref, "sum_rows equals ref");
  Int8s y(input, d, 0, 0);
  Int8s y_ref = y;
  backend.mean_s8(sums.span(), rows, shift, y.data());
  ref.mean_s8(sums_ref.span(), rows, shift, y_ref.data());
  Require(y == y_ref, "mean equals ref");
}

using Comparison = void (*)(const Backend& backend, const Backend& ref,
                            FuzzInput* input);
constexpr Comparison kComparisons[] = {
    &CompareMatmul,      &CompareAttention, &CompareSoftmax, &CompareLayerNorm,
    &CompareElementwise, &CompareEmbedding, &ComparePooling,
};

}  // namespace
}  // namespace atto::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace atto::fuzz;
  FuzzInput choice(data, size);
  const Comparison compare = kComparisons[choice.Index(
      sizeof(kComparisons) / sizeof(kComparisons[0]))];
  const atto::Backend& ref = *atto::Backends()[0];
  for (const atto::Backend* const backend : atto::Backends()) {
    if (!backend->supported()) continue;
    // ref against itself: for the sanitizers.
    FuzzInput input = choice;
    compare(*backend, ref, &input);
  }
  return 0;
}
