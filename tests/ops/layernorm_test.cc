#include "ops/layernorm/layernorm.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

#include "ops/backend.h"
#include "tests/support/backends.h"
#include "tests/support/golden.h"

namespace atto {
namespace {

TEST_CASE("layernorm: golden vectors") {
  for (const testing::GoldenCase& golden : testing::ReadGolden("layernorm")) {
    CAPTURE(golden.name);
    const auto x = golden.Values<std::int16_t>("x");
    const auto gain = golden.Values<std::int16_t>("gain");
    const auto bias = golden.Values<std::int16_t>("bias");
    const std::size_t rows = golden.Dim("x", 0);
    const std::size_t d = golden.Dim("x", 1);
    LayerNorm norm;
    norm.gain = gain.data();
    norm.bias = bias.data();
    norm.d = static_cast<std::uint16_t>(d);
    norm.sqrt_d = LayerNormSqrt(norm.d);
    norm.shift = static_cast<std::uint8_t>(golden.Scalar("shift"));
    for (const Backend& backend : testing::RunnableBackends()) {
      CAPTURE(backend.name);
      std::vector<std::int8_t> s8(x.size());
      auto s16 = x;  // in place
      backend.layernorm_s8(norm, {x.data(), rows, d}, {s8.data(), rows, d});
      backend.layernorm_s16(norm, {s16.data(), rows, d}, {s16.data(), rows, d});
      CHECK(s8 == golden.Values<std::int8_t>("layernorm_s8"));
      CHECK(s16 == golden.Values<std::int16_t>("layernorm_s16"));
      // The int8 result is the int16 one with its fraction bits dropped.
      std::vector<std::int8_t> quantised(x.size());
      backend.quantise_s8(norm.shift, {s16.data(), s16.size()},
                          quantised.data());
      CHECK(quantised == s8);
    }
  }
}

TEST_CASE("layernorm: quantise8 of every number is the definition's") {
  std::vector<std::int16_t> x;
  for (std::int32_t u = -32768; u <= 32767; ++u) {
    x.push_back(static_cast<std::int16_t>(u));
  }
  std::vector<std::int8_t> expected(x.size());
  expected.push_back(99);  // beyond the end: not written
  std::vector<std::int8_t> y(expected);
  for (unsigned shift = 0; shift <= LayerNorm::kMaxShift; ++shift) {
    CAPTURE(shift);
    const std::int32_t half = (1 << shift) >> 1;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::int32_t rounded = x[i] + half > 32767 ? 32767 : x[i] + half;
      const std::int32_t floor = rounded >> shift;
      expected[i] = static_cast<std::int8_t>(
          floor > 127 ? 127 : (floor < -127 ? -127 : floor));
    }
    for (const Backend& backend : testing::RunnableBackends()) {
      CAPTURE(backend.name);
      backend.quantise_s8(shift, {x.data(), x.size()}, y.data());
      CHECK(y == expected);
    }
  }
}

TEST_CASE("layernorm: close to double arithmetic at every magnitude") {
  std::mt19937 random(7);
  for (const std::size_t d : {8U, 64U, 512U}) {
    for (const double magnitude : {3.0, 50.0, 1000.0, 9000.0}) {
      std::normal_distribution<double> normal(0.25 * magnitude, magnitude);
      std::vector<std::int16_t> x(d);
      for (std::int16_t& value : x) {
        value = Sat16(static_cast<std::int32_t>(normal(random)));
      }
      double mean = 0;
      for (const std::int16_t value : x) mean += value / static_cast<double>(d);
      double variance = 0;
      for (const std::int16_t value : x) {
        variance += (value - mean) * (value - mean) / static_cast<double>(d);
      }
      const std::vector<std::int16_t> gain(d, 32767);
      const std::vector<std::int16_t> bias(d, 0);
      LayerNorm norm;
      norm.gain = gain.data();
      norm.bias = bias.data();
      norm.d = static_cast<std::uint16_t>(d);
      norm.sqrt_d = LayerNormSqrt(norm.d);
      for (const Backend& backend : testing::RunnableBackends()) {
        CAPTURE(backend.name);
        auto y = x;
        backend.layernorm_s16(norm, {y.data(), 1, d}, {y.data(), 1, d});
        for (std::size_t i = 0; i < d; ++i) {
          // 9 fraction bits: one unit is 1/512 of the standard deviation.
          const double exact = 512 * (x[i] - mean) / std::sqrt(variance);
          CHECK(std::abs(y[i] - exact) <= 1.5 + 1e-3 * std::abs(exact));
        }
      }
    }
  }
}

TEST_CASE("layernorm: square root at and below every square") {
  bool exact = true;
  for (std::uint32_t root = 1U << 15; root < 1U << 16; ++root) {
    const std::uint32_t square = root * root;
    exact = exact && NormalisedSqrt(square) == root &&
            NormalisedSqrt(square + 2 * root) == root;  // next square - 1
  }
  CHECK(exact);
}

}  // namespace
}  // namespace atto
