#include "ops/base/status.h"

#include <cstddef>

namespace atto {

#if ATTO_STATUS_TEXT

namespace {

// One text behind the other, in the order of the enumeration; the last is for
// what is none of it. No tables of pointers: a program that never asks for one
// list links the other alone.
constexpr char kNames[] =
    "ok\0"
    "null_pointer\0"
    "invalid_argument\0"
    "not_initialized\0"
    "buffer_too_small\0"
    "misaligned\0"
    "empty_input\0"
    "bad_magic\0"
    "bad_version\0"
    "truncated\0"
    "bad_checksum\0"
    "missing_key\0"
    "bad_key\0"
    "missing_tensor\0"
    "bad_tensor\0"
    "unsupported\0"
    "unknown";
constexpr char kMessages[] =
    "success\0"
    "a required pointer is null: pass caller-owned memory\0"
    "an argument is out of its documented range\0"
    "the object was not initialised: call Init and check its status\0"
    "the given memory is too small: size it with the matching "
    "size function\0"
    "the given memory is not aligned: align it to 16 bytes\0"
    "the input holds no token: there is nothing to classify\0"
    "not a GGUF file: the first four bytes are not 'GGUF'\0"
    "unknown format version: convert the model with the tools of "
    "this release\0"
    "the file ends before its contents do: copy it again\0"
    "the checksum does not match: the file is damaged, copy it again\0"
    "a required metadata key is absent\0"
    "a metadata key has the wrong type or an illegal value\0"
    "a required tensor is absent\0"
    "a tensor has the wrong type, shape or illegal values\0"
    "the model is well-formed, but this build cannot run it\0"
    "unknown status";

constexpr unsigned kStatuses = static_cast<unsigned>(Status::kUnsupported) + 1;

template <std::size_t kSize>
constexpr unsigned CountTexts(const char (&list)[kSize]) noexcept {
  unsigned texts = 0;
  for (const char c : list) texts += c == '\0' ? 1U : 0U;
  return texts;
}
static_assert(CountTexts(kNames) == kStatuses + 1);
static_assert(CountTexts(kMessages) == kStatuses + 1);

const char* Find(const char* list, Status status) noexcept {
  unsigned left = static_cast<unsigned>(status);
  if (left > kStatuses) left = kStatuses;
  for (; left > 0; --left) {
    while (*list++ != '\0') {
    }
  }
  return list;
}

}  // namespace

const char* StatusName(Status status) noexcept { return Find(kNames, status); }

const char* StatusMessage(Status status) noexcept {
  return Find(kMessages, status);
}

#else

const char* StatusName(Status) noexcept { return ""; }

const char* StatusMessage(Status) noexcept { return ""; }

#endif

}  // namespace atto
