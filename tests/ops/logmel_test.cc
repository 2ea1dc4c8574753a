#include "ops/logmel/logmel.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ops/logmel/twiddles.h"
#include "tests/support/backends.h"
#include "tests/support/golden.h"

namespace atto {
namespace {

TEST_CASE("logmel: golden vectors, in exactly the scratch it is promised") {
  std::size_t frames = 0;
  for (const testing::GoldenCase& golden : testing::ReadGolden("logmel")) {
    if (golden.name == "log2") continue;
    CAPTURE(golden.name);
    const auto window = golden.Values<std::int16_t>("window");
    const auto filters = golden.Values<std::int16_t>("filters");
    const auto weights = golden.Values<std::int16_t>("weights");
    const auto pcm = golden.Values<std::int16_t>("pcm");
    const auto wanted = golden.Values<std::int8_t>("y");
    LogMel mel;
    mel.window = window.data();
    mel.filters = filters.data();
    mel.weights = weights.data();
    mel.frame_length = static_cast<std::uint16_t>(window.size());
    mel.fft_length = static_cast<std::uint16_t>(golden.Scalar("fft_length"));
    mel.bins = static_cast<std::uint16_t>(filters.size() / 2);
    mel.multiplier = static_cast<std::int16_t>(golden.Scalar("multiplier"));
    mel.offset = static_cast<std::int32_t>(golden.Scalar("offset"));
    for (const Backend& backend : testing::RunnableBackends()) {
      CAPTURE(backend.name);
      // On the heap, so that a sanitizer sees the first byte beyond.
      std::vector<std::int32_t> scratch(
          LogMelScratchBytes(backend.memory, mel.fft_length) / 4);
      std::vector<std::int8_t> y(wanted.size());
      for (std::size_t i = 0; i < golden.Dim("pcm", 0); ++i) {
        const std::vector<std::int16_t> frame(
            pcm.begin() + static_cast<std::ptrdiff_t>(i * window.size()),
            pcm.begin() + static_cast<std::ptrdiff_t>((i + 1) * window.size()));
        LogMelKernel(backend)(mel, frame.data(), y.data() + i * mel.bins,
                              scratch.data());
        ++frames;
      }
      CHECK(y == wanted);
    }
  }
  CHECK(frames >= 64);
}

TEST_CASE("logmel: a front end that nobody has filled is empty") {
  const LogMel mel;
  CHECK(mel.window == nullptr);
  CHECK(mel.filters == nullptr);
  CHECK(mel.weights == nullptr);
  CHECK(mel.frame_length == 0);
  CHECK(mel.fft_length == 0);
  CHECK(mel.bins == 0);
  CHECK(mel.multiplier == 1);
  CHECK(mel.offset == 0);
}

TEST_CASE("logmel: logarithm") {
  for (const testing::GoldenCase& golden : testing::ReadGolden("logmel")) {
    if (golden.name != "log2") continue;
    const auto x = golden.Values<std::uint32_t>("x");
    const auto y = golden.Values<std::int32_t>("y");
    for (std::size_t i = 0; i < x.size(); ++i) {
      CHECK(Log2Q15(x[i]) == y[i]);
      // Scaling by a power of two adds its exponent, nothing else.
      if (x[i] >= 32768) {
        CHECK(Log2Q15(std::uint64_t{x[i]} << 24) == y[i] + (24 << 15));
      }
    }
    return;
  }
  FAIL("no case");
}

TEST_CASE("logmel: the logarithm is monotonic and close at every mantissa") {
  std::int32_t last = -1;
  bool monotonic = true;
  double largest = 0;
  for (std::uint32_t f = 32768; f < 65536; ++f) {
    const std::int32_t found = Log2Q15(f);
    monotonic = monotonic && found >= last;
    largest = std::fmax(
        largest, std::abs(found - 32768 * std::log2(static_cast<double>(f))));
    last = found;
  }
  CHECK(monotonic);
  CHECK(largest < 5.0);
}

TEST_CASE("logmel: twiddles are the nearest numbers") {
  const double pi = std::acos(-1.0);
  for (std::size_t k = 0; k < kTwiddles; ++k) {
    const double angle = pi * static_cast<double>(k) / kTwiddles;
    const Twiddle w = kTwiddleTable.at[k];
    CHECK(w.c == std::fmin(std::nearbyint(-32768 * std::cos(angle)), 32767));
    CHECK(w.s == std::nearbyint(-32768 * std::sin(angle)));
  }
}

TEST_CASE("logmel: bit lengths") {
  CHECK(BitLength64(0) == 0);
  for (unsigned i = 0; i < 64; ++i) {
    CHECK(BitLength64(std::uint64_t{1} << i) == i + 1);
    CHECK(BitLength64((std::uint64_t{2} << i) - 1) == i + 1);
  }
}

}  // namespace
}  // namespace atto
