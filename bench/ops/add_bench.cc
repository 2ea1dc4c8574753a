#include "bench/ops/register.h"
#include "bench/support/memory.h"

namespace atto::bench {
namespace {

template <typename T, typename Body>
void Run(benchmark::State& state, std::size_t size, const Body& body) {
  const PageArray<T> x(size);
  const PageArray<std::int16_t> r(size);
  Noise().Fill(x.span(), 100);
  for (auto _ : state) {
    body(x.span(), r.data());
    benchmark::ClobberMemory();
  }
  CountElements(state, size);
}

}  // namespace

void RegisterAdd(const ShapeLists& lists) {
  for (const EncoderSizes& sizes : lists.encoders) {
    const std::size_t size = sizes.tokens * sizes.d_model;
    const std::string shape = RowsByColumns(sizes.tokens, sizes.d_model);
    RegisterOp("add_s16", shape,
               [size](benchmark::State& state, const Backend& backend) {
                 Run<std::int16_t>(state, size,
                                   [&](Span<std::int16_t> x, std::int16_t* r) {
                                     backend.add_s16(x, r);
                                   });
               });
    RegisterOp("add_shifted_s8", shape,
               [size](benchmark::State& state, const Backend& backend) {
                 Run<std::int8_t>(state, size,
                                  [&](Span<std::int8_t> x, std::int16_t* r) {
                                    backend.add_shifted_s8(2, x, r);
                                  });
               });
  }
}

}  // namespace atto::bench
