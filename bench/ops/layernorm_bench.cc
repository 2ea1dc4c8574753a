#include "bench/ops/register.h"
#include "bench/support/memory.h"

namespace atto::bench {
namespace {

struct Layer {
  explicit Layer(std::size_t d) : gain(d), bias(d) {
    Noise noise;
    noise.Fill(gain.span(), 32767);
    noise.Fill(bias.span(), 2000);
    norm.gain = gain.data();
    norm.bias = bias.data();
    norm.d = static_cast<std::uint16_t>(d);
    norm.sqrt_d = LayerNormSqrt(norm.d);
    norm.shift = 3;
  }

  PageArray<std::int16_t> gain, bias;
  LayerNorm norm;
};

template <typename T, auto kOp>
void RunNorm(benchmark::State& state, const Backend& backend, std::size_t rows,
             std::size_t d) {
  const Layer layer(d);
  const PageArray<std::int16_t> x(rows * d);
  const PageArray<T> y(rows * d);
  Noise().Fill(x.span(), 3000);
  for (auto _ : state) {
    (backend.*kOp)(layer.norm, x.matrix(rows, d), y.matrix(rows, d));
    benchmark::ClobberMemory();
  }
  CountElements(state, rows * d);
}

void RunQuantise(benchmark::State& state, const Backend& backend,
                 std::size_t size) {
  const PageArray<std::int16_t> x(size);
  const PageArray<std::int8_t> y(size);
  Noise().Fill(x.span(), 3000);
  for (auto _ : state) {
    backend.quantise_s8(3, x.span(), y.data());
    benchmark::ClobberMemory();
  }
  CountElements(state, size);
}

}  // namespace

void RegisterLayerNorm(const ShapeLists& lists) {
  for (const EncoderSizes& sizes : lists.encoders) {
    const std::size_t rows = sizes.tokens;
    const std::size_t d = sizes.d_model;
    const std::string shape = RowsByColumns(rows, d);
    RegisterOp("layernorm_s8", shape,
               [=](benchmark::State& state, const Backend& backend) {
                 RunNorm<std::int8_t, &Backend::layernorm_s8>(state, backend,
                                                              rows, d);
               });
    RegisterOp("layernorm_s16", shape,
               [=](benchmark::State& state, const Backend& backend) {
                 RunNorm<std::int16_t, &Backend::layernorm_s16>(state, backend,
                                                                rows, d);
               });
    RegisterOp("quantise_s8", shape,
               [=](benchmark::State& state, const Backend& backend) {
                 RunQuantise(state, backend, rows * d);
               });
  }
}

}  // namespace atto::bench
