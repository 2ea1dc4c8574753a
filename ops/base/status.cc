#include "ops/base/status.h"

namespace atto {

#if ATTO_STATUS_TEXT

const char* StatusName(Status status) noexcept {
  switch (status) {
    case Status::kOk: return "ok";
    case Status::kNullPointer: return "null_pointer";
    case Status::kInvalidArgument: return "invalid_argument";
    case Status::kNotInitialized: return "not_initialized";
    case Status::kBufferTooSmall: return "buffer_too_small";
    case Status::kMisaligned: return "misaligned";
    case Status::kEmptyInput: return "empty_input";
    case Status::kBadMagic: return "bad_magic";
    case Status::kBadVersion: return "bad_version";
    case Status::kTruncated: return "truncated";
    case Status::kBadChecksum: return "bad_checksum";
    case Status::kMissingKey: return "missing_key";
    case Status::kBadKey: return "bad_key";
    case Status::kMissingTensor: return "missing_tensor";
    case Status::kBadTensor: return "bad_tensor";
    case Status::kUnsupported: return "unsupported";
  }
  return "unknown";
}

const char* StatusMessage(Status status) noexcept {
  switch (status) {
    case Status::kOk: return "success";
    case Status::kNullPointer:
      return "a required pointer is null: pass caller-owned memory";
    case Status::kInvalidArgument:
      return "an argument is out of its documented range";
    case Status::kNotInitialized:
      return "the object was not initialised: call Init and check its status";
    case Status::kBufferTooSmall:
      return "the given memory is too small: size it with the matching "
             "size function";
    case Status::kMisaligned:
      return "the given memory is not aligned: align it to 16 bytes";
    case Status::kEmptyInput:
      return "the input holds no token: there is nothing to classify";
    case Status::kBadMagic:
      return "not a GGUF file: the first four bytes are not 'GGUF'";
    case Status::kBadVersion:
      return "unknown format version: convert the model with the tools of "
             "this release";
    case Status::kTruncated:
      return "the file ends before its contents do: copy it again";
    case Status::kBadChecksum:
      return "the checksum does not match: the file is damaged, copy it again";
    case Status::kMissingKey: return "a required metadata key is absent";
    case Status::kBadKey:
      return "a metadata key has the wrong type or an illegal value";
    case Status::kMissingTensor: return "a required tensor is absent";
    case Status::kBadTensor:
      return "a tensor has the wrong type, shape or illegal values";
    case Status::kUnsupported:
      return "the model is well-formed, but this build cannot run it";
  }
  return "unknown status";
}

#else

const char* StatusName(Status) noexcept { return ""; }

const char* StatusMessage(Status) noexcept { return ""; }

#endif

}  // namespace atto
