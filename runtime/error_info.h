// What went wrong, for people: which key, tensor or argument, what was found
// and what was expected.
#ifndef ATTO_RUNTIME_ERROR_INFO_H_
#define ATTO_RUNTIME_ERROR_INFO_H_

#include <cstddef>
#include <cstdint>

#include "ops/base/status.h"

namespace atto {

// A sentence for people. With ATTO_STATUS_TEXT=OFF it holds nothing, so that
// the compiler drops the text: numbers remain.
class Sentence {
 public:
#if ATTO_STATUS_TEXT
  // Literals become sentences where they stand. `text` must be static.
  constexpr Sentence(const char* text) noexcept : text_(text) {}
  constexpr const char* text() const noexcept { return text_; }

 private:
  const char* text_;
#else
  constexpr Sentence(const char*) noexcept {}
  constexpr const char* text() const noexcept { return ""; }
#endif
};

// Fixed size, filled by Init functions on failure; optional everywhere.
struct ErrorInfo {
  static constexpr std::size_t kMaxSubject = 64;

  Status status = Status::kOk;
  // Name of the key, tensor or argument; cut to fit, always terminated.
  char subject[kMaxSubject] = {};
  // What about it: a static sentence such as "must be at most"; empty with
  // ATTO_STATUS_TEXT=OFF. Never null.
  const char* expectation = "";
  // The value found and the value (or bound) expected, in the subject's unit.
  std::int64_t found = 0;
  std::int64_t expected = 0;
};

// Fills `error` (if not null) and returns `status`, so that a check reads
// `return Fail(error, Status::kBadKey, name, "must be at most", found, bound);`
Status Fail(ErrorInfo* error, Status status, const char* subject,
            Sentence expectation, std::int64_t found,
            std::int64_t expected) noexcept;

// The same for a subject that is `size` bytes without a terminator.
Status Fail(ErrorInfo* error, Status status, const char* subject,
            std::size_t size, Sentence expectation, std::int64_t found,
            std::int64_t expected) noexcept;

}  // namespace atto

#endif  // ATTO_RUNTIME_ERROR_INFO_H_
