// What fuzz targets are made of: choices drawn from the input's bytes, and
// promises that abort when they are broken.
#ifndef ATTO_TESTS_FUZZ_FUZZ_INPUT_H_
#define ATTO_TESTS_FUZZ_FUZZ_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <type_traits>
#include <vector>

#include "ops/base/span.h"

namespace atto::fuzz {

// A promise of the library; the fuzzer keeps the input that breaks it.
inline void Require(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

// Choices: each takes the next bytes of the input, and is the lowest one when
// none are left.
class FuzzInput {
 public:
  FuzzInput(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

  bool empty() const { return rest_.empty(); }

  // In [low, high].
  std::int64_t In(std::int64_t low, std::int64_t high) {
    const auto range = static_cast<std::uint64_t>(high - low);
    std::uint64_t value = 0;
    for (std::uint64_t left = range; left != 0; left >>= 8) {
      value = value << 8 | Byte();
    }
    if (range + 1 != 0) value %= range + 1;
    return low + static_cast<std::int64_t>(value);
  }
  std::size_t Size(std::size_t low, std::size_t high) {
    return static_cast<std::size_t>(
        In(static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)));
  }
  // Index of something that there are `count` of; legal: count >= 1.
  std::size_t Index(std::size_t count) { return Size(0, count - 1); }
  bool Coin() { return In(0, 1) != 0; }
  std::uint8_t Byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t byte = rest_[0];
    rest_ = rest_.subspan(1, rest_.size() - 1);
    return byte;
  }

  std::vector<std::uint8_t> Bytes(std::size_t size) {
    if (size > rest_.size()) size = rest_.size();
    std::vector<std::uint8_t> bytes(rest_.begin(), rest_.begin() + size);
    rest_ = rest_.subspan(size, rest_.size() - size);
    return bytes;
  }
  std::vector<std::uint8_t> Rest() { return Bytes(rest_.size()); }

 private:
  Span<const std::uint8_t> rest_;
};

// Numbers in [low, high] at an address that the input chooses, in memory that
// ends with them. The input chooses a seed and how extreme they are: drawn one
// by one they would exhaust it.
template <typename T>
class Numbers {
 public:
  Numbers(FuzzInput* input, std::size_t size, std::int64_t low,
          std::int64_t high)
      : offset_(input->Index(16)), values_(size + offset_) {
    std::minstd_rand random(static_cast<unsigned>(input->In(1, 65535)));
    const std::size_t kind = input->Index(4);
    const T constant = static_cast<T>(input->In(low, high));
    std::uniform_int_distribution<std::int64_t> draw(low, high);
    for (T& value : values_) {
      switch (kind) {
        case 0: value = static_cast<T>(draw(random)); break;
        case 1:
          value = static_cast<T>((random() & 64) != 0 ? low : high);
          break;
        case 2: value = constant; break;
        default:
          value =
              (random() & 448) == 0 ? static_cast<T>(draw(random)) : constant;
      }
    }
  }

  T* data() { return values_.data() + offset_; }
  std::size_t size() const { return values_.size() - offset_; }
  Span<T> span() { return {data(), size()}; }
  bool operator==(const Numbers& other) const {
    return values_ == other.values_;
  }

 private:
  std::size_t offset_;
  std::vector<T> values_;
};

}  // namespace atto::fuzz

#endif  // ATTO_TESTS_FUZZ_FUZZ_INPUT_H_
