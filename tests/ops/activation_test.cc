#include "ops/activation/activation.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

#include "ops/backend.h"
#include "tests/support/backends.h"
#include "tests/support/golden.h"

namespace atto {
namespace {

TEST_CASE("activation: golden vectors, every int8 input") {
  for (const testing::GoldenCase& golden : testing::ReadGolden("activation")) {
    CAPTURE(golden.name);
    REQUIRE(golden.Array("x").values.size() == 255);
    for (const Backend& backend : testing::RunnableBackends()) {
      CAPTURE(backend.name);
      auto x = golden.Values<std::int8_t>("x");
      if (golden.name == "relu") {
        backend.relu_s8({x.data(), x.size()});
      } else {
        backend.gelu_s8(static_cast<unsigned>(golden.Scalar("fraction_bits")),
                        {x.data(), x.size()});
      }
      CHECK(x == golden.Values<std::int8_t>("y"));
    }
  }
}

TEST_CASE("activation: GELU is within 0.67 of its unit and 0.07 of exact") {
  for (unsigned bits = kGeluMinFractionBits; bits <= kGeluMaxFractionBits;
       ++bits) {
    for (int q = -127; q <= 127; ++q) {
      CAPTURE(bits);
      CAPTURE(q);
      const double x = std::ldexp(q, -static_cast<int>(bits));
      const double exact = 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
      const double error = std::abs(GeluOne(q, bits) -
                                    std::ldexp(exact, static_cast<int>(bits)));
      CHECK(error <= 0.67);
      CHECK(std::ldexp(error, -static_cast<int>(bits)) <= 0.07);
    }
  }
}

}  // namespace
}  // namespace atto
