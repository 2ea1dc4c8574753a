// XNNPACK's qs8 fully connected operator: one scale a tensor, requantised.
#include <xnnpack.h>

#include <memory>
#include <stdexcept>

#include "bench/peers/matmul.h"
#include "bench/support/memory.h"

namespace atto::bench {
namespace {

void Check(xnn_status status) {
  if (status != xnn_status_success) {
    throw std::runtime_error("XNNPACK status " + std::to_string(status));
  }
}

// XNNPACK may read this many elements behind an operand.
constexpr std::size_t kSlack = XNN_EXTRA_BYTES;

struct Product {
  explicit Product(const MatmulShape& shape)
      : x(shape.rows * shape.in + kSlack), y(shape.rows * shape.out + kSlack) {
    Noise noise;
    noise.Fill(x.span(), 127);
    const PageArray<std::int8_t> weights(shape.in * shape.out);
    for (std::int8_t& weight : weights.span()) {
      weight = static_cast<std::int8_t>(noise.Bell(127));
    }
    const PageArray<std::int32_t> bias(shape.out);
    noise.Fill(bias.span(), 1000);
    Check(xnn_initialize(nullptr));
    Check(xnn_create_fully_connected_nc_qs8(
        shape.in, shape.out, shape.in, shape.out, /*input_zero_point=*/0,
        /*input_scale=*/0.02F, /*kernel_scale=*/0.01F, weights.data(),
        bias.data(), /*output_zero_point=*/0, /*output_scale=*/0.1F,
        /*output_min=*/-127, /*output_max=*/127, /*flags=*/0, &op));
    Check(xnn_setup_fully_connected_nc_qs8(op, shape.rows, x.data(), y.data(),
                                           /*threadpool=*/nullptr));
  }
  ~Product() { xnn_delete_operator(op); }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  PageArray<std::int8_t> x, y;
  xnn_operator_t op = nullptr;
};

std::function<void()> Prepare(const MatmulShape& shape) {
  const auto product = std::make_shared<Product>(shape);
  return [product] { xnn_run_operator(product->op, nullptr); };
}

}  // namespace

int Main(int argc, char** argv) {
  return MatmulMain(argc, argv, "matmul_xnnpack",
                    {{"XNNPACK", "qs8 qs8 -> qs8", Prepare}});
}

}  // namespace atto::bench

int main(int argc, char** argv) { return atto::bench::Main(argc, argv); }
