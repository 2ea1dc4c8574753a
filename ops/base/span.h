// Views: a pointer with its extent. They own nothing and check nothing; shapes
// are validated once, before a kernel runs.
#ifndef ATTO_OPS_BASE_SPAN_H_
#define ATTO_OPS_BASE_SPAN_H_

#include <cstddef>
#include <type_traits>

namespace atto {

// A contiguous run of `size()` elements. C++17 has no std::span.
template <typename T>
class Span {
 public:
  constexpr Span() noexcept = default;
  constexpr Span(T* data, std::size_t size) noexcept
      : data_(data), size_(size) {}
  template <std::size_t kSize>
  constexpr Span(T (&array)[kSize]) noexcept : data_(array), size_(kSize) {}
  // Span<T> -> Span<const T>.
  template <typename U, typename = std::enable_if_t<
                            std::is_convertible_v<U (*)[], T (*)[]>>>
  constexpr Span(Span<U> other) noexcept
      : data_(other.data()), size_(other.size()) {}

  constexpr T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T& operator[](std::size_t i) const noexcept { return data_[i]; }
  constexpr T* begin() const noexcept { return data_; }
  constexpr T* end() const noexcept { return data_ + size_; }
  // Legal: offset + count <= size().
  constexpr Span subspan(std::size_t offset, std::size_t count) const noexcept {
    return Span(data_ + offset, count);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// A row-major matrix [rows, cols] without padding between rows.
template <typename T>
class MatrixView {
 public:
  constexpr MatrixView() noexcept = default;
  constexpr MatrixView(T* data, std::size_t rows, std::size_t cols) noexcept
      : data_(data), rows_(rows), cols_(cols) {}
  template <typename U, typename = std::enable_if_t<
                            std::is_convertible_v<U (*)[], T (*)[]>>>
  constexpr MatrixView(MatrixView<U> other) noexcept
      : data_(other.data()), rows_(other.rows()), cols_(other.cols()) {}

  constexpr T* data() const noexcept { return data_; }
  constexpr std::size_t rows() const noexcept { return rows_; }
  constexpr std::size_t cols() const noexcept { return cols_; }
  constexpr T* row(std::size_t i) const noexcept { return data_ + i * cols_; }
  // Legal: first + count <= rows().
  constexpr MatrixView row_range(std::size_t first,
                                 std::size_t count) const noexcept {
    return MatrixView(row(first), count, cols_);
  }

 private:
  T* data_ = nullptr;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
};

}  // namespace atto

#endif  // ATTO_OPS_BASE_SPAN_H_
