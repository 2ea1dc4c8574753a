// Outcome of every call that can fail.
#ifndef ATTO_OPS_BASE_STATUS_H_
#define ATTO_OPS_BASE_STATUS_H_

#include <cstdint>

// 0 leaves all sentences out (CMake: ATTO_STATUS_TEXT=OFF); one value for the
// whole program.
#ifndef ATTO_STATUS_TEXT
#define ATTO_STATUS_TEXT 1
#endif

namespace atto {

// The numeric values are part of the C ABI (runtime/c_api.h): append only.
enum class [[nodiscard]] Status : std::uint8_t {
  kOk = 0,
  kNullPointer = 1,      // a required pointer is null
  kInvalidArgument = 2,  // an argument is out of its documented range
  kNotInitialized = 3,   // Init has not succeeded on this object
  kBufferTooSmall = 4,   // the caller's memory is smaller than needed
  kMisaligned = 5,       // the caller's memory is not aligned as documented
  kEmptyInput = 6,       // nothing to classify: no token in the input
  kBadMagic = 7,         // not a GGUF file
  kBadVersion = 8,       // a version that this reader does not know
  kTruncated = 9,        // the file ends before its contents do
  kBadChecksum = 10,     // the file's bytes are not those that were written
  kMissingKey = 11,      // a required metadata key is absent
  kBadKey = 12,          // a key has the wrong type or an illegal value
  kMissingTensor = 13,   // a required tensor is absent
  kBadTensor = 14,       // a tensor has the wrong type, shape or values
  kUnsupported = 15,     // well-formed, but this build cannot run it
};

// "kOk" -> "ok". Never null; a value outside the enumeration gives "unknown".
// With ATTO_STATUS_TEXT=OFF both functions give an empty text.
const char* StatusName(Status status) noexcept;

// One sentence in English: what happened and what to do about it.
const char* StatusMessage(Status status) noexcept;

}  // namespace atto

#endif  // ATTO_OPS_BASE_STATUS_H_
