#include <algorithm>

#include "bench/ops/register.h"
#include "bench/support/memory.h"

namespace atto::bench {
namespace {

// One tile of query rows over all keys, as the encoder calls it.
void Run(benchmark::State& state, const Backend& backend,
         const EncoderSizes& sizes) {
  const std::size_t d = sizes.d_model;
  const std::size_t n = sizes.tokens;
  const std::size_t rows = std::min<std::size_t>(n, backend.memory.tile_rows);
  Attention attention;
  attention.heads = static_cast<std::uint16_t>(sizes.heads);
  attention.d_head = static_cast<std::uint16_t>(d / sizes.heads);
  attention.softmax = {20000, 2};
  const PageArray<std::int8_t> q(rows * d), k(n * d), v(n * d), y(rows * d);
  Noise noise;
  noise.Fill(q.span(), 127);
  noise.Fill(k.span(), 127);
  noise.Fill(v.span(), 127);
  const PageArray<std::uint8_t> scratch(
      AttentionScratchBytes(backend.memory, n, attention.d_head));
  for (auto _ : state) {
    backend.attention_s8(attention, q.matrix(rows, d), k.matrix(n, d),
                         v.matrix(n, d), y.matrix(rows, d), scratch.data(),
                         nullptr);
    benchmark::ClobberMemory();
  }
  CountMultiplyAdds(state, 2 * rows * n * d);
}

}  // namespace

void RegisterAttention(const ShapeLists& lists) {
  for (const EncoderSizes& sizes : lists.encoders) {
    const std::string shape = RowsByColumns(sizes.tokens, sizes.d_model) + "/" +
                              std::to_string(sizes.heads) + "_heads";
    RegisterOp("attention_s8", shape,
               [sizes](benchmark::State& state, const Backend& backend) {
                 Run(state, backend, sizes);
               });
  }
}

}  // namespace atto::bench
