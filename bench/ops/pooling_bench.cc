#include "bench/ops/register.h"
#include "bench/support/memory.h"

namespace atto::bench {
namespace {

// Both halves of a mean over tokens.
void Run(benchmark::State& state, const Backend& backend, std::size_t rows,
         std::size_t d) {
  const PageArray<std::int8_t> x(rows * d), y(d);
  const PageArray<std::int32_t> sums(d);
  Noise().Fill(x.span(), 127);
  for (auto _ : state) {
    for (std::int32_t& sum : sums.span()) sum = 0;
    backend.sum_rows_s8(x.matrix(rows, d), sums.data());
    backend.mean_s8(sums.span(), rows, 4, y.data());
    benchmark::ClobberMemory();
  }
  CountElements(state, rows * d);
}

}  // namespace

void RegisterPooling(const ShapeLists& lists) {
  for (const EncoderSizes& sizes : lists.encoders) {
    const std::size_t rows = sizes.tokens;
    const std::size_t d = sizes.d_model;
    RegisterOp("pooling_s8", RowsByColumns(rows, d),
               [=](benchmark::State& state, const Backend& backend) {
                 Run(state, backend, rows, d);
               });
  }
}

}  // namespace atto::bench
