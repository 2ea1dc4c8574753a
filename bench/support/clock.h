// Times of something that runs again and again.
#ifndef ATTO_BENCH_SUPPORT_CLOCK_H_
#define ATTO_BENCH_SUPPORT_CLOCK_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace atto::bench {

using Clock = std::chrono::steady_clock;

inline double Nanoseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::nano>(duration).count();
}

// Nanoseconds of one run.
struct Latency {
  double min = 0;
  double median = 0;
  double p99 = 0;
  std::size_t samples = 0;
};

// Legal: at least one sample.
inline Latency Summarize(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t last = samples.size() - 1;
  return {samples.front(), samples[last / 2], samples[last * 99 / 100],
          samples.size()};
}

// Runs `body` for about `seconds`, after a tenth of that to warm up. A sample
// is one run, or, for bodies much shorter than the clock's own cost, the mean
// of as many as take `batch_ns`.
template <typename Body>
Latency Measure(double seconds, double batch_ns, const Body& body) {
  const auto time = [&](std::size_t runs) {
    const Clock::time_point start = Clock::now();
    for (std::size_t i = 0; i < runs; ++i) body();
    return Nanoseconds(Clock::now() - start);
  };
  double spent = 0;
  double fastest = time(1);
  for (spent = fastest; spent < 1e8 * seconds;) {
    const double once = time(1);
    spent += once;
    fastest = std::min(fastest, once);
  }
  const auto batch = static_cast<std::size_t>(
      std::max(1.0, batch_ns / std::max(fastest, 1.0)));
  std::vector<double> samples;
  spent = 0;
  while (samples.empty() || spent < 1e9 * seconds) {
    const double total = time(batch);
    spent += total;
    samples.push_back(total / static_cast<double>(batch));
  }
  return Summarize(std::move(samples));
}

}  // namespace atto::bench

#endif  // ATTO_BENCH_SUPPORT_CLOCK_H_
