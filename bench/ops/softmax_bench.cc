#include <set>

#include "bench/ops/register.h"
#include "bench/support/memory.h"

namespace atto::bench {
namespace {

void Run(benchmark::State& state, const Backend& backend, std::size_t n) {
  const PageArray<std::int32_t> scores(n);
  const PageArray<std::int8_t> weights(n);
  Noise().Fill(scores.span(), 10000);
  const SoftmaxParams params = {20000, 0};
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        backend.softmax_s8(params, scores.span(), weights.data()));
    benchmark::ClobberMemory();
  }
  CountElements(state, n);
}

}  // namespace

void RegisterSoftmax(const ShapeLists& lists) {
  std::set<std::size_t> rows;
  for (const EncoderSizes& sizes : lists.encoders) rows.insert(sizes.tokens);
  for (const std::size_t n : rows) {
    RegisterOp("softmax_s8", std::to_string(n),
               [n](benchmark::State& state, const Backend& backend) {
                 Run(state, backend, n);
               });
  }
}

}  // namespace atto::bench
