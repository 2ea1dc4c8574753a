// atto_ops_bench: every op with every backend over the lists of bench/shapes.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <exception>

#include "bench/ops/register.h"

int main(int argc, char** argv) {
  try {
    const atto::bench::ShapeLists lists(ATTO_SHAPES_DIR);
    atto::bench::RegisterMatmul(lists);
    atto::bench::RegisterAttention(lists);
    atto::bench::RegisterSoftmax(lists);
    atto::bench::RegisterLayerNorm(lists);
    atto::bench::RegisterActivation(lists);
    atto::bench::RegisterAdd(lists);
    atto::bench::RegisterEmbedding(lists);
    atto::bench::RegisterPooling(lists);
    atto::bench::RegisterLogMel();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "atto_ops_bench: %s\n", error.what());
    return 1;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
