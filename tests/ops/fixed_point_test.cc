#include "ops/base/fixed_point.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "tests/support/golden.h"

namespace atto {
namespace {

using testing::GoldenCase;
using testing::ReadGolden;

bool StartsWith(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

TEST_CASE("fixed point: golden vectors") {
  for (const GoldenCase& golden : ReadGolden("fixed_point")) {
    CAPTURE(golden.name);
    const auto& y = golden.Array("y").values;
    for (std::size_t i = 0; i < y.size(); ++i) {
      CAPTURE(i);
      const auto at = [&](const char* name) {
        return static_cast<std::int32_t>(golden.Array(name).values[i]);
      };
      if (golden.name == "rdh16") {
        CHECK(Rdh16(at("a"), at("b")) == y[i]);
      } else if (golden.name == "isqrt") {
        const auto x = static_cast<std::uint32_t>(golden.Array("x").values[i]);
        CHECK(IntegerSqrt(x) == y[i]);
      } else if (StartsWith(golden.name, "requant16")) {
        CHECK(Requant16(at("acc"),
                        static_cast<unsigned>(golden.Scalar("shift")),
                        static_cast<std::int16_t>(at("multiplier"))) == y[i]);
      } else {
        REQUIRE(StartsWith(golden.name, "quantise8"));
        CHECK(Quantise8(at("u"),
                        static_cast<unsigned>(golden.Scalar("shift"))) == y[i]);
      }
    }
  }
}

TEST_CASE("fixed point: bit length") {
  CHECK(BitLength(0) == 0);
  for (unsigned bits = 1; bits <= 32; ++bits) {
    const std::uint32_t high = std::uint32_t{1} << (bits - 1);
    CHECK(BitLength(high) == bits);
    CHECK(BitLength(high | (high - 1)) == bits);
  }
}

TEST_CASE("fixed point: the power of two falls and keeps within 0.16 %") {
  std::int32_t last = 32512;
  for (std::int32_t f = 0; f < 2048; ++f) {
    const std::int32_t mantissa = Exp2Mantissa(f);
    const double exact = 32512.0 * std::exp2(-f / 2048.0);
    CHECK(std::abs(mantissa - exact) <= 52.0);
    CHECK(mantissa <= last);
    last = mantissa;
  }
  CHECK(last >= 32512 / 2);  // it falls into the next octave too
}

TEST_CASE("fixed point: weighted mean is within 0.52 of the exact mean") {
  for (const std::uint32_t sum : {1U, 2U, 3U, 127U, 128U, 1000U, 65024U}) {
    const MeanReciprocal reciprocal = MakeMeanReciprocal(sum);
    const std::int32_t bound = static_cast<std::int32_t>(127 * sum);
    const std::int32_t step = bound / 997 + 1;
    for (std::int32_t a = -bound; a <= bound; a += step) {
      CAPTURE(sum);
      CAPTURE(a);
      const double exact = static_cast<double>(a) / sum;
      CHECK(std::abs(WeightedMean8(a, reciprocal, 6) - exact) <= 0.52);
    }
    CHECK(WeightedMean8(bound, reciprocal, 6) == 127);
    CHECK(WeightedMean8(-bound, reciprocal, 6) == -127);
  }
}

}  // namespace
}  // namespace atto
