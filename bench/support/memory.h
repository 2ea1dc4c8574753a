// Memory and numbers that are the same in every run, so that times and
// checksums compare.
#ifndef ATTO_BENCH_SUPPORT_MEMORY_H_
#define ATTO_BENCH_SUPPORT_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "ops/backend_memory.h"
#include "ops/base/span.h"

namespace atto::bench {

// Zeroed elements that start on a page: no run has luckier cache lines than
// another.
template <typename T>
class PageArray {
 public:
  static constexpr std::size_t kPage = 4096;

  explicit PageArray(std::size_t size)
      : size_(size),
        data_(static_cast<T*>(std::aligned_alloc(
            kPage, RoundUpTo(size * sizeof(T) + 1, kPage)))) {
    if (data_ == nullptr) throw std::bad_alloc();
    for (T& value : span()) value = T();
  }

  T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  Span<T> span() const { return {data(), size_}; }
  MatrixView<T> matrix(std::size_t rows, std::size_t cols) const {
    return {data(), rows, cols};
  }

 private:
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };

  std::size_t size_;
  std::unique_ptr<T[], Free> data_;
};

// Pseudo-random integers: the upper bits of x = 1664525 x + 1013904223 mod 2^32
// (Numerical Recipes), from x = 1. bench/peers/atto_model.py has the same.
class Noise {
 public:
  // In [-limit, limit].
  std::int32_t In(std::int32_t limit) {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<std::int32_t>(
               (state_ >> 8) % (2U * static_cast<std::uint32_t>(limit) + 1U)) -
           limit;
  }
  // About normal, the sum of four uniform numbers: standard deviation
  // limit / 3.46, in [-limit, limit] like weights that an exporter has scaled.
  std::int32_t Bell(std::int32_t limit) {
    std::int32_t sum = 0;
    for (int i = 0; i < 4; ++i) sum += In(limit);
    return sum / 4;
  }
  template <typename T>
  void Fill(Span<T> values, std::int32_t limit) {
    for (T& value : values) value = static_cast<T>(In(limit));
  }

 private:
  std::uint32_t state_ = 1;
};

}  // namespace atto::bench

#endif  // ATTO_BENCH_SUPPORT_MEMORY_H_
