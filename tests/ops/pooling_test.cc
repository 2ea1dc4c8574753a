#include "ops/pooling/pooling.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "ops/backend.h"
#include "ops/base/fixed_point.h"
#include "tests/support/backends.h"
#include "tests/support/golden.h"

namespace atto {
namespace {

TEST_CASE("pooling: golden vectors") {
  for (const testing::GoldenCase& golden : testing::ReadGolden("pooling")) {
    CAPTURE(golden.name);
    const auto shift = static_cast<unsigned>(golden.Scalar("shift"));
    const auto expected = golden.Values<std::int8_t>("y");
    if (!golden.Has("x")) {
      const auto a = golden.Values<std::int32_t>("a");
      const auto sum = golden.Values<std::uint32_t>("sum");
      for (std::size_t i = 0; i < a.size(); ++i) {
        CHECK(WeightedMean8(a[i], MakeMeanReciprocal(sum[i]), shift) ==
              expected[i]);
      }
      continue;
    }
    const auto x = golden.Values<std::int8_t>("x");
    const std::size_t rows = golden.Dim("x", 0);
    const std::size_t d = golden.Dim("x", 1);
    for (const Backend& backend : testing::RunnableBackends()) {
      CAPTURE(backend.name);
      std::vector<std::int32_t> sums(d);
      std::vector<std::int8_t> y(d);
      // In two parts: sums are carried over from tile to tile.
      const std::size_t part = rows / 2;
      backend.sum_rows_s8({x.data(), part, d}, sums.data());
      backend.sum_rows_s8({x.data() + part * d, rows - part, d}, sums.data());
      backend.mean_s8({sums.data(), d}, rows, shift, y.data());
      CHECK(y == expected);
    }
  }
}

}  // namespace
}  // namespace atto
