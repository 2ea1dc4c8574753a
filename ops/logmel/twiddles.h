// Twiddle factors of the FFT, computed by the compiler.
#ifndef ATTO_OPS_LOGMEL_TWIDDLES_H_
#define ATTO_OPS_LOGMEL_TWIDDLES_H_

#include <cstddef>
#include <cstdint>

#include "ops/logmel/logmel.h"

namespace atto {

// A negated root of unity with 15 fraction bits: negated, because -1 fits an
// int16 and 1 does not.
struct Twiddle {
  std::int16_t c = 0;  // -cos
  std::int16_t s = 0;  // -sin
};

constexpr std::size_t kTwiddles = LogMel::kMaxFft / 2;

struct TwiddleTable {
  Twiddle at[kTwiddles];  // angle pi k / kTwiddles
};

// Taylor series around 0; |x| <= pi leaves an error below 1e-15.
constexpr double SeriesFrom(double term, int power, double x) noexcept {
  double sum = 0;
  for (int k = 0; k < 20; ++k) {
    sum += term;
    term *= -x * x / ((power + 1) * (power + 2));
    power += 2;
  }
  return sum;
}

constexpr std::int16_t NegatedQ15(double x) noexcept {
  const double scaled = -32768 * x;
  const int rounded = static_cast<int>(scaled + (scaled < 0 ? -0.5 : 0.5));
  return static_cast<std::int16_t>(rounded > 32767 ? 32767 : rounded);
}

constexpr TwiddleTable MakeTwiddles() noexcept {
  constexpr double kPi = 3.14159265358979323846;
  TwiddleTable table;
  for (std::size_t k = 0; k < kTwiddles; ++k) {
    const double angle = kPi * static_cast<double>(k) / kTwiddles;
    table.at[k].c = NegatedQ15(SeriesFrom(1, 0, angle));
    table.at[k].s = NegatedQ15(SeriesFrom(angle, 1, angle));
  }
  return table;
}

inline constexpr TwiddleTable kTwiddleTable = MakeTwiddles();
static_assert(kTwiddleTable.at[0].c == -32768 && kTwiddleTable.at[0].s == 0);
static_assert(kTwiddleTable.at[kTwiddles / 2].c == 0 &&
              kTwiddleTable.at[kTwiddles / 2].s == -32768);

// The same, those of each stage in a row, for vectors: entry half + j is that
// of angle pi j / half.
struct StageTwiddles {
  std::int32_t c[2 * kTwiddles];
  std::int32_t s[2 * kTwiddles];
};

constexpr StageTwiddles MakeStageTwiddles() noexcept {
  StageTwiddles stages{};
  for (std::size_t half = 1; half <= kTwiddles; half *= 2) {
    for (std::size_t j = 0; j < half; ++j) {
      const Twiddle w = kTwiddleTable.at[j * (kTwiddles / half)];
      stages.c[half + j] = w.c;
      stages.s[half + j] = w.s;
    }
  }
  return stages;
}

inline constexpr StageTwiddles kStageTwiddles = MakeStageTwiddles();

}  // namespace atto

#endif  // ATTO_OPS_LOGMEL_TWIDDLES_H_
