#include "bench/ops/register.h"
#include "bench/support/memory.h"

namespace atto::bench {
namespace {

// Works in place: what it costs does not depend on the values.
template <typename Body>
void Run(benchmark::State& state, std::size_t size, const Body& body) {
  const PageArray<std::int8_t> x(size);
  Noise().Fill(x.span(), 127);
  for (auto _ : state) {
    body(x.span());
    benchmark::ClobberMemory();
  }
  CountElements(state, size);
}

}  // namespace

void RegisterActivation(const ShapeLists& lists) {
  for (const EncoderSizes& sizes : lists.encoders) {
    const std::size_t size = sizes.tokens * sizes.d_ffn;
    const std::string shape = RowsByColumns(sizes.tokens, sizes.d_ffn);
    RegisterOp("gelu_s8", shape,
               [size](benchmark::State& state, const Backend& backend) {
                 Run(state, size,
                     [&](Span<std::int8_t> x) { backend.gelu_s8(5, x); });
               });
    RegisterOp("relu_s8", shape,
               [size](benchmark::State& state, const Backend& backend) {
                 Run(state, size,
                     [&](Span<std::int8_t> x) { backend.relu_s8(x); });
               });
  }
}

}  // namespace atto::bench
