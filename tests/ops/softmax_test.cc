#include "ops/softmax/softmax.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "ops/backend.h"
#include "tests/support/backends.h"
#include "tests/support/golden.h"

namespace atto {
namespace {

TEST_CASE("softmax: golden vectors") {
  for (const testing::GoldenCase& golden : testing::ReadGolden("softmax")) {
    CAPTURE(golden.name);
    if (golden.name == "exp2m") {
      const auto f = golden.Values<std::int32_t>("f");
      const auto y = golden.Values<std::int32_t>("y");
      for (std::size_t i = 0; i < f.size(); ++i) {
        CHECK(Exp2Mantissa(f[i]) == y[i]);
      }
      continue;
    }
    const auto acc = golden.Values<std::int32_t>("acc");
    SoftmaxParams params;
    params.shift = static_cast<std::int8_t>(golden.Scalar("shift"));
    params.multiplier = static_cast<std::int16_t>(golden.Scalar("multiplier"));
    for (const Backend& backend : testing::RunnableBackends()) {
      CAPTURE(backend.name);
      std::vector<std::int8_t> e(acc.size());
      const std::int32_t sum =
          backend.softmax_s8(params, {acc.data(), acc.size()}, e.data());
      CHECK(e == golden.Values<std::int8_t>("e"));
      CHECK(sum == std::accumulate(e.begin(), e.end(), 0));
    }
  }
}

TEST_CASE("class scores: golden vectors") {
  for (const testing::GoldenCase& golden : testing::ReadGolden("score")) {
    CAPTURE(golden.name);
    const auto logits = golden.Values<std::int16_t>("logits");
    std::vector<std::uint16_t> scores(logits.size());
    ClassScores({logits.data(), logits.size()}, {scores.data(), scores.size()});
    CHECK(scores == golden.Values<std::uint16_t>("scores"));
  }
}

}  // namespace
}  // namespace atto
