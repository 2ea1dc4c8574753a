// Bytes on the heap that are aligned as models and arenas must be.
#ifndef ATTO_TESTS_SUPPORT_ALIGNED_BYTES_H_
#define ATTO_TESTS_SUPPORT_ALIGNED_BYTES_H_

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "ops/base/span.h"

namespace atto::testing {

class AlignedBytes {
 public:
  static constexpr std::size_t kAlignment = 64;

  AlignedBytes() = default;
  explicit AlignedBytes(std::size_t size)
      : size_(size), chunks_(new Chunk[size / kAlignment + 1]()) {}
  explicit AlignedBytes(const std::vector<std::uint8_t>& bytes)
      : AlignedBytes(bytes.size()) {
    if (size_ != 0) std::memcpy(data(), bytes.data(), size_);
  }

  static AlignedBytes Read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    REQUIRE_MESSAGE(in.good(), path);
    return AlignedBytes(std::vector<std::uint8_t>(
        std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()));
  }

  std::uint8_t* data() { return chunks_[0].bytes; }
  std::size_t size() const { return size_; }
  Span<std::uint8_t> span() { return {data(), size_}; }

 private:
  struct alignas(kAlignment) Chunk {
    std::uint8_t bytes[kAlignment];
  };

  std::size_t size_ = 0;
  std::unique_ptr<Chunk[]> chunks_;
};

}  // namespace atto::testing

#endif  // ATTO_TESTS_SUPPORT_ALIGNED_BYTES_H_
