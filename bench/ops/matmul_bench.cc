#include "bench/ops/register.h"
#include "bench/support/linear.h"
#include "bench/support/memory.h"

namespace atto::bench {
namespace {

// Output is T: int8 for matmul_s8, int16 for the others.
template <typename T, auto kOp>
void Run(benchmark::State& state, const Backend& backend, MatmulShape shape) {
  const RandomLinear layer(shape.in, shape.out, Pairs::kBounded, backend);
  const PageArray<std::int8_t> x(shape.rows * shape.in);
  const PageArray<T> y(shape.rows * shape.out);
  Noise().Fill(x.span(), 127);
  for (auto _ : state) {
    (backend.*kOp)(layer.linear(), x.matrix(shape.rows, shape.in),
                   y.matrix(shape.rows, shape.out));
    benchmark::ClobberMemory();
  }
  CountMultiplyAdds(state, shape.multiply_adds());
}

}  // namespace

void RegisterMatmul(const ShapeLists& lists) {
  for (const MatmulShape& shape : lists.matmuls) {
    RegisterOp("matmul_s8", shape.name(),
               [shape](benchmark::State& state, const Backend& backend) {
                 Run<std::int8_t, &Backend::matmul_s8>(state, backend, shape);
               });
    RegisterOp("matmul_s16", shape.name(),
               [shape](benchmark::State& state, const Backend& backend) {
                 Run<std::int16_t, &Backend::matmul_s16>(state, backend, shape);
               });
    RegisterOp("matmul_add_s16", shape.name(),
               [shape](benchmark::State& state, const Backend& backend) {
                 Run<std::int16_t, &Backend::matmul_add_s16>(state, backend,
                                                             shape);
               });
  }
}

}  // namespace atto::bench
