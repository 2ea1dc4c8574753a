// A random linear layer, packed for one backend.
#ifndef ATTO_BENCH_SUPPORT_LINEAR_H_
#define ATTO_BENCH_SUPPORT_LINEAR_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "bench/support/memory.h"
#include "ops/backend.h"

namespace atto::bench {

// Neighbouring weights |w[c][2i]| + |w[c][2i+1]|: at most 128, as training
// bounds them so that x86 can multiply pairs in one instruction, or anything.
enum class Pairs { kBounded, kFree };

class RandomLinear {
 public:
  RandomLinear(std::size_t in, std::size_t out, Pairs pairs,
               const Backend& backend)
      : weights_(in * out),
        bias_(out),
        multiplier_(out),
        packed_(PackedLinearBytes(backend.memory, in, out)) {
    Noise noise;
    for (std::int8_t& weight : weights_.span()) {
      weight = static_cast<std::int8_t>(noise.Bell(127));
    }
    for (std::size_t c = 0; pairs == Pairs::kBounded && c < out; ++c) {
      for (std::size_t k = 0; k + 1 < in; k += 2) {
        BoundPair(weights_.data() + c * in + k);
      }
    }
    noise.Fill(bias_.span(), 1000);
    for (std::int16_t& multiplier : multiplier_.span()) {
      multiplier = static_cast<std::int16_t>(16384 + noise.In(8000));
    }
    linear_.weights = weights_.data();
    linear_.bias = bias_.data();
    linear_.multiplier = multiplier_.data();
    linear_.in = static_cast<std::uint16_t>(in);
    linear_.out = static_cast<std::uint16_t>(out);
    linear_.shift = 9;
    if (backend.pack_linear != nullptr) {
      backend.pack_linear(linear_, packed_.data());
      linear_.packed = packed_.data();
    }
  }

  const Linear& linear() const { return linear_; }

 private:
  // Shrinks both weights by one factor if they break the bound.
  static void BoundPair(std::int8_t* pair) {
    const int total = std::abs(pair[0]) + std::abs(pair[1]);
    if (total <= 128) return;
    pair[0] = static_cast<std::int8_t>(pair[0] * 128 / total);
    pair[1] = static_cast<std::int8_t>(pair[1] * 128 / total);
  }

  PageArray<std::int8_t> weights_;
  PageArray<std::int32_t> bias_;
  PageArray<std::int16_t> multiplier_;
  PageArray<std::uint8_t> packed_;
  Linear linear_;
};

}  // namespace atto::bench

#endif  // ATTO_BENCH_SUPPORT_LINEAR_H_
