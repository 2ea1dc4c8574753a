// GGUF version 3, read front to back and in place, without trusting a byte.
//
// The container only: keys with their values, tensors with their data. What
// they mean is the business of model.cc. Specification:
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#ifndef ATTO_RUNTIME_MODEL_GGUF_H_
#define ATTO_RUNTIME_MODEL_GGUF_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ops/base/span.h"
#include "ops/base/status.h"
#include "runtime/error_info.h"

namespace atto {

// Bytes that are not owned, such as a string in the file: not terminated.
using StringView = Span<const char>;

// A string literal without its terminator.
template <std::size_t kSize>
constexpr StringView Literal(const char (&text)[kSize]) noexcept {
  return StringView(text, kSize - 1);
}

inline bool Equal(StringView a, StringView b) noexcept {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

// Little-endian numbers at any address.
constexpr std::uint16_t LoadU16(const std::uint8_t* p) noexcept {
  return static_cast<std::uint16_t>(p[0] | p[1] << 8);
}
constexpr std::uint32_t LoadU32(const std::uint8_t* p) noexcept {
  return LoadU16(p) | static_cast<std::uint32_t>(LoadU16(p + 2)) << 16;
}
// A count or size, u64 in the file. All that a file can hold is below 2^32:
// larger numbers become 2^32-1, which no check lets pass. That keeps 64-bit
// arithmetic out of small processors, and overflow out of sums.
constexpr std::uint32_t LoadSize(const std::uint8_t* p) noexcept {
  return LoadU32(p + 4) == 0 ? LoadU32(p) : 0xFFFFFFFF;
}

// Types of metadata values; the numbers are those of the file.
enum class GgufType : std::uint8_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};

// Types of tensor elements that atto reads; the numbers are those of the file.
enum class TensorType : std::uint8_t {
  kF32 = 0,
  kI8 = 24,
  kI16 = 25,
  kI32 = 26,
};

// One key-value pair.
struct GgufKey {
  StringView name;
  GgufType type = GgufType::kU8;
  GgufType element = GgufType::kU8;  // of an array; otherwise as `type`
  // The value, or the first element of an array, whose number of elements
  // (u64) stands right before it. A string begins with its size (u64).
  const std::uint8_t* value = nullptr;
};

struct GgufTensor {
  static constexpr std::size_t kMaxDims = 4;

  StringView name;
  TensorType type = TensorType::kF32;
  std::uint32_t dims = 0;              // 1..kMaxDims
  std::uint32_t shape[kMaxDims] = {};  // innermost first; 1 beyond `dims`
  std::uint32_t offset = 0;            // of the data, in the data section
  std::uint32_t bytes = 0;             // of the data
  const std::uint8_t* data = nullptr;  // aligned to GgufReader::alignment()
};

// Reads a file in its order: Open, all keys, OpenTensors, all tensors. Time is
// linear in the number of keys, strings and tensors, whatever the size of the
// file, memory constant. On failure `error` names the key
// or tensor, and nothing more may be read. The file's first byte must be
// aligned to kMinAlignment for the tensors to be.
class GgufReader {
 public:
  static constexpr std::uint32_t kVersion = 3;
  static constexpr std::uint32_t kMaxFileBytes = 0x3FFFFFFF;
  static constexpr std::uint32_t kMaxKeys = 4096;
  static constexpr std::uint32_t kMaxTensors = 4096;
  static constexpr std::uint32_t kMaxNameBytes = 255;
  // Of all keys together. Names and strings are all that is read piece by
  // piece: these bounds are what keeps the time short that a large file of
  // garbage can take.
  static constexpr std::uint32_t kMaxStrings = 1U << 20;
  static constexpr std::uint32_t kMinAlignment = 16;
  static constexpr std::uint32_t kMaxAlignment = 4096;
  static constexpr std::uint32_t kDefaultAlignment = 32;

  // `file` must outlive the reader and all that it hands out.
  Status Open(Span<const std::uint8_t> file, ErrorInfo* error) noexcept;

  std::uint32_t key_count() const noexcept { return key_count_; }
  std::uint32_t tensor_count() const noexcept { return tensor_count_; }
  std::uint32_t alignment() const noexcept { return alignment_; }

  // Legal: key_count() times after Open.
  Status NextKey(GgufKey* key) noexcept;

  // Legal: after the last key. Checks that the tensors' data fill the rest of
  // the file one after another, each padded to the alignment: so none overlap
  // and nothing hides between or behind them.
  Status OpenTensors() noexcept;

  // Legal: tensor_count() times after OpenTensors, which has checked them.
  GgufTensor NextTensor() noexcept;

 private:
  const std::uint8_t* Take(std::uint32_t bytes) noexcept;
  bool TakeString(StringView* text) noexcept;
  Status TakeStrings(std::uint32_t count) noexcept;
  Status TakeArray(GgufType element, std::uint32_t count) noexcept;
  Status TakeName(StringView what, Status bad, StringView* name) noexcept;
  Status TakeTensor(GgufTensor* tensor) noexcept;
  Status SetAlignment(const GgufKey& key) noexcept;
  // Failures of what `subject_` names.
  Status Bad(Status status, Sentence expectation, std::uint32_t found = 0,
             std::uint32_t expected = 0) const noexcept;
  Status Truncated() const noexcept;
  // Open has bounded it.
  std::uint32_t file_bytes() const noexcept {
    return static_cast<std::uint32_t>(file_.size());
  }
  // Legal: bytes <= 3 * kMaxFileBytes.
  std::uint32_t AlignUp(std::uint32_t bytes) const noexcept {
    return (bytes + alignment_ - 1) & ~(alignment_ - 1);
  }

  Span<const std::uint8_t> file_;
  ErrorInfo* error_ = nullptr;
  StringView subject_;            // what is being read: the key, the tensor
  std::uint32_t position_ = 0;    // of the next byte to read
  std::uint32_t needed_ = 0;      // file size that the failed Take asked for
  std::uint32_t data_start_ = 0;  // of the data section
  std::uint32_t key_count_ = 0;
  std::uint32_t tensor_count_ = 0;
  std::uint32_t string_count_ = 0;  // of the keys so far
  std::uint32_t alignment_ = kDefaultAlignment;
  bool has_alignment_ = false;
};

}  // namespace atto

#endif  // ATTO_RUNTIME_MODEL_GGUF_H_
