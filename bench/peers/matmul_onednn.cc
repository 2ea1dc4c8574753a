// oneDNN: the raw gemm, and the matmul primitive that also requantises per
// channel. ONEDNN_MAX_CPU_ISA holds it to an instruction set.
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <vector>

#include "bench/peers/matmul.h"
#include "bench/support/memory.h"

namespace atto::bench {
namespace {

dnnl_dim_t Dim(std::size_t size) { return static_cast<dnnl_dim_t>(size); }

void FillWeights(Span<std::int8_t> weights) {
  Noise noise;
  for (std::int8_t& weight : weights) {
    weight = static_cast<std::int8_t>(noise.Bell(127));
  }
}

// u8 [rows, in] times s8 [in, out] -> s32.
struct Gemm {
  explicit Gemm(const MatmulShape& s)
      : shape(s), x(s.rows * s.in), w(s.in * s.out), y(s.rows * s.out) {
    Noise().Fill(x.span(), 255);
    FillWeights(w.span());
  }
  void Run() const {
    const std::int32_t no_offset = 0;
    dnnl::gemm_u8s8s32('N', 'N', 'F', Dim(shape.rows), Dim(shape.out),
                       Dim(shape.in), 1.0F, x.data(), Dim(shape.in), 0,
                       w.data(), Dim(shape.out), 0, 0.0F, y.data(),
                       Dim(shape.out), &no_offset);
  }

  MatmulShape shape;
  PageArray<std::uint8_t> x;
  PageArray<std::int8_t> w;
  PageArray<std::int32_t> y;
};

// u8 [rows, in] times s8 [in, out], reordered once, -> s8.
struct Primitive {
  explicit Primitive(const MatmulShape& shape)
      : engine(dnnl::engine::kind::cpu, 0),
        stream(engine),
        x(shape.rows * shape.in),
        y(shape.rows * shape.out) {
    using dnnl::memory;
    Noise().Fill(x.span(), 255);
    const PageArray<std::int8_t> plain_weights(shape.in * shape.out);
    FillWeights(plain_weights.span());
    const memory::dims w_dims = {Dim(shape.in), Dim(shape.out)};
    const memory::desc x_desc({Dim(shape.rows), Dim(shape.in)},
                              memory::data_type::u8, memory::format_tag::ab);
    const memory::desc w_any(w_dims, memory::data_type::s8,
                             memory::format_tag::any);
    const memory::desc bias_desc({1, Dim(shape.out)}, memory::data_type::s32,
                                 memory::format_tag::ab);
    const memory::desc y_desc({Dim(shape.rows), Dim(shape.out)},
                              memory::data_type::s8, memory::format_tag::ab);
    dnnl::primitive_attr attributes;
    attributes.set_output_scales(/*mask=*/2,
                                 std::vector<float>(shape.out, 0.002F));
    const dnnl::matmul::primitive_desc description(
        dnnl::matmul::desc(x_desc, w_any, bias_desc, y_desc), attributes,
        engine);
    memory plain({w_dims, memory::data_type::s8, memory::format_tag::ab},
                 engine, plain_weights.data());
    memory weights(description.weights_desc(), engine);
    dnnl::reorder(plain, weights).execute(stream, plain, weights);
    memory bias(bias_desc, engine);
    auto* const biases = static_cast<std::int32_t*>(bias.get_data_handle());
    Noise().Fill(Span<std::int32_t>(biases, shape.out), 1000);
    stream.wait();
    matmul = dnnl::matmul(description);
    arguments = {{DNNL_ARG_SRC, memory(x_desc, engine, x.data())},
                 {DNNL_ARG_WEIGHTS, weights},
                 {DNNL_ARG_BIAS, bias},
                 {DNNL_ARG_DST, memory(y_desc, engine, y.data())}};
  }
  void Run() {
    matmul.execute(stream, arguments);
    stream.wait();
  }

  dnnl::engine engine;
  dnnl::stream stream;
  PageArray<std::uint8_t> x;
  PageArray<std::int8_t> y;
  dnnl::matmul matmul;
  std::unordered_map<int, dnnl::memory> arguments;
};

template <typename Product>
std::function<void()> Prepare(const MatmulShape& shape) {
  const auto product = std::make_shared<Product>(shape);
  return [product] { product->Run(); };
}

}  // namespace

int Main(int argc, char** argv) {
  return MatmulMain(argc, argv, "matmul_onednn",
                    {{"oneDNN gemm", "u8 s8 -> s32", Prepare<Gemm>},
                     {"oneDNN matmul", "u8 s8 -> s8", Prepare<Primitive>}});
}

}  // namespace atto::bench

int main(int argc, char** argv) { return atto::bench::Main(argc, argv); }
