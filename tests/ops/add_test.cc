#include "ops/add/add.h"

#include <doctest/doctest.h>

#include <cstdint>

#include "ops/backend.h"
#include "tests/support/backends.h"
#include "tests/support/golden.h"

namespace atto {
namespace {

TEST_CASE("add: golden vectors") {
  for (const testing::GoldenCase& golden : testing::ReadGolden("add")) {
    CAPTURE(golden.name);
    for (const Backend& backend : testing::RunnableBackends()) {
      CAPTURE(backend.name);
      auto residual = golden.Values<std::int16_t>("residual");
      if (golden.Has("x")) {
        const auto x = golden.Values<std::int16_t>("x");
        backend.add_s16({x.data(), x.size()}, residual.data());
      } else {
        const auto position = golden.Values<std::int8_t>("position");
        backend.add_shifted_s8(static_cast<unsigned>(golden.Scalar("shift")),
                               {position.data(), position.size()},
                               residual.data());
      }
      CHECK(residual == golden.Values<std::int16_t>("y"));
    }
  }
}

}  // namespace
}  // namespace atto
