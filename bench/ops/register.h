// Benchmarks of the ops, one file an op: each function registers its op over
// the shapes with every backend that this CPU runs. Names are
// op/backend/shape.
#ifndef ATTO_BENCH_OPS_REGISTER_H_
#define ATTO_BENCH_OPS_REGISTER_H_

#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>
#include <utility>

#include "bench/support/shapes.h"
#include "ops/backend.h"

namespace atto::bench {

void RegisterActivation(const ShapeLists& lists);
void RegisterAdd(const ShapeLists& lists);
void RegisterAttention(const ShapeLists& lists);
void RegisterEmbedding(const ShapeLists& lists);
void RegisterLayerNorm(const ShapeLists& lists);
void RegisterLogMel();
void RegisterMatmul(const ShapeLists& lists);
void RegisterPooling(const ShapeLists& lists);
void RegisterSoftmax(const ShapeLists& lists);

// Registers body(state, backend) for every backend.
template <typename Body>
void RegisterOp(const std::string& op, const std::string& shape,
                const Body& body) {
  for (const Backend* const backend : Backends()) {
    if (!backend->supported()) continue;
    std::string name = op;
    name.append("/").append(backend->name).append("/").append(shape);
    benchmark::RegisterBenchmark(
        name.c_str(),
        [body, backend](benchmark::State& state) { body(state, *backend); });
  }
}

// Work a second: multiply-adds of matrix products, elements of the rest.
inline void CountMultiplyAdds(benchmark::State& state, std::size_t count) {
  state.counters["MAC/s"] =
      benchmark::Counter(static_cast<double>(count),
                         benchmark::Counter::kIsIterationInvariantRate);
}
inline void CountElements(benchmark::State& state, std::size_t count) {
  state.SetItemsProcessed(state.iterations() *
                          static_cast<std::int64_t>(count));
}

inline std::string RowsByColumns(std::size_t rows, std::size_t columns) {
  return std::to_string(rows) + "x" + std::to_string(columns);
}

}  // namespace atto::bench

#endif  // ATTO_BENCH_OPS_REGISTER_H_
