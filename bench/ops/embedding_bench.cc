#include <set>

#include "bench/ops/register.h"
#include "bench/support/memory.h"

namespace atto::bench {
namespace {

// A token of `features` rows of a table that the first-level cache cannot hold.
void Run(benchmark::State& state, const Backend& backend, std::size_t width,
         std::size_t features) {
  constexpr int kRows = 4096;
  constexpr std::size_t kTokens = 64;
  const PageArray<std::int8_t> table(std::size_t{kRows} * width), y(width);
  Noise noise;
  noise.Fill(table.span(), 127);
  const PageArray<std::uint16_t> rows(kTokens * features);
  for (std::uint16_t& row : rows.span()) {
    row = static_cast<std::uint16_t>(noise.In(kRows / 2 - 1) + kRows / 2);
  }
  Embedding embedding;
  embedding.table = table.data();
  embedding.rows = kRows;
  embedding.width = static_cast<std::uint16_t>(width);
  embedding.multiplier = 8000;
  for (auto _ : state) {
    for (std::size_t token = 0; token < kTokens; ++token) {
      backend.embedding_sum_s8(
          embedding, rows.span().subspan(token * features, features), y.data());
      benchmark::ClobberMemory();
    }
  }
  CountElements(state, kTokens * features * width);
}

}  // namespace

void RegisterEmbedding(const ShapeLists& lists) {
  constexpr std::size_t kFeatures = 8;  // of a word of average length
  std::set<std::size_t> widths;
  for (const EncoderSizes& sizes : lists.encoders) widths.insert(sizes.d_model);
  for (const std::size_t width : widths) {
    RegisterOp("embedding_sum_s8", RowsByColumns(kFeatures, width),
               [width](benchmark::State& state, const Backend& backend) {
                 Run(state, backend, width, kFeatures);
               });
  }
}

}  // namespace atto::bench
