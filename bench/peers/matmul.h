// The same int8 matrix products in several libraries: what their programs
// share. Each prints a JSON list of {shape, runtime, precision, us_min,
// us_median}.
#ifndef ATTO_BENCH_PEERS_MATMUL_H_
#define ATTO_BENCH_PEERS_MATMUL_H_

#include <functional>
#include <string>
#include <vector>

#include "bench/support/shapes.h"

namespace atto::bench {

// One way of computing a product.
struct MatmulPeer {
  std::string runtime;
  std::string precision;  // of left times right operand to result
  // Prepares a product; the function it returns runs it once on one thread.
  std::function<std::function<void()>(const MatmulShape&)> prepare;
};

// The whole program: options, measuring, output. Returns the exit status.
int MatmulMain(int argc, char** argv, const char* name,
               const std::vector<MatmulPeer>& peers);

}  // namespace atto::bench

#endif  // ATTO_BENCH_PEERS_MATMUL_H_
