#include "ops/matmul/matmul.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "ops/backend.h"
#include "tests/support/backends.h"
#include "tests/support/golden.h"

namespace atto {
namespace {

TEST_CASE("matmul: golden vectors") {
  for (const testing::GoldenCase& golden : testing::ReadGolden("matmul")) {
    CAPTURE(golden.name);
    const auto x = golden.Values<std::int8_t>("x");
    const auto weight = golden.Values<std::int8_t>("weight");
    const auto bias = golden.Values<std::int32_t>("bias");
    const auto multiplier = golden.Values<std::int16_t>("multiplier");
    const std::size_t rows = golden.Dim("x", 0);
    const std::size_t in = golden.Dim("x", 1);
    const std::size_t out = golden.Dim("weight", 0);
    Linear linear;
    linear.weights = weight.data();
    linear.bias = bias.data();
    linear.multiplier = multiplier.data();
    linear.in = static_cast<std::uint16_t>(in);
    linear.out = static_cast<std::uint16_t>(out);
    linear.shift = static_cast<std::uint8_t>(golden.Scalar("shift"));
    for (const Backend& backend : testing::RunnableBackends()) {
      CAPTURE(backend.name);
      const MatrixView<const std::int8_t> input(x.data(), rows, in);
      std::vector<std::int8_t> s8(rows * out);
      std::vector<std::int16_t> s16(rows * out);
      auto residual = golden.Values<std::int16_t>("residual");
      const testing::PackedLinear packed(linear, backend);
      backend.matmul_s8(packed.linear(), input, {s8.data(), rows, out});
      backend.matmul_s16(packed.linear(), input, {s16.data(), rows, out});
      backend.matmul_add_s16(packed.linear(), input,
                             {residual.data(), rows, out});
      CHECK(s8 == golden.Values<std::int8_t>("matmul_s8"));
      CHECK(s16 == golden.Values<std::int16_t>("matmul_s16"));
      CHECK(residual == golden.Values<std::int16_t>("matmul_add_s16"));
    }
  }
}

}  // namespace
}  // namespace atto
