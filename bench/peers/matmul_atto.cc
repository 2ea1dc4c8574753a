// atto's matmul_s8, requantised per channel, with every backend of this CPU:
// over weights as training bounds them, and over any.
#include <memory>

#include "bench/peers/matmul.h"
#include "bench/support/linear.h"
#include "bench/support/memory.h"

namespace atto::bench {
namespace {

struct Product {
  Product(const MatmulShape& s, Pairs pairs, const Backend& b)
      : shape(s),
        backend(b),
        layer(s.in, s.out, pairs, b),
        x(s.rows * s.in),
        y(s.rows * s.out) {
    Noise().Fill(x.span(), 127);
  }
  void Run() const {
    backend.matmul_s8(layer.linear(), x.matrix(shape.rows, shape.in),
                      y.matrix(shape.rows, shape.out));
  }

  MatmulShape shape;
  const Backend& backend;
  RandomLinear layer;
  PageArray<std::int8_t> x, y;
};

MatmulPeer PeerOf(const Backend& backend, Pairs pairs,
                  const std::string& precision) {
  const auto prepare = [&backend, pairs](const MatmulShape& shape) {
    const auto product = std::make_shared<Product>(shape, pairs, backend);
    return [product] { product->Run(); };
  };
  return {std::string("atto ") + backend.name, precision, prepare};
}

std::vector<MatmulPeer> Peers() {
  std::vector<MatmulPeer> peers;
  for (const Backend* const backend : Backends()) {
    if (!backend->supported()) continue;
    peers.push_back(PeerOf(*backend, Pairs::kBounded, "s8 s8 -> s8"));
    // The instruction set whose kernels care most.
    if (std::string(backend->name) == "avx2") {
      peers.push_back(PeerOf(*backend, Pairs::kFree, "s8 any s8 -> s8"));
    }
  }
  return peers;
}

}  // namespace

int Main(int argc, char** argv) {
  return MatmulMain(argc, argv, "matmul_atto", Peers());
}

}  // namespace atto::bench

int main(int argc, char** argv) { return atto::bench::Main(argc, argv); }
