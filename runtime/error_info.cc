#include "runtime/error_info.h"

#include <cstring>

namespace atto {

Status Fail(ErrorInfo* error, Status status, const char* subject,
            std::size_t size, Sentence expectation, std::int64_t found,
            std::int64_t expected) noexcept {
  if (error != nullptr) {
    error->status = status;
    const std::size_t limit = ErrorInfo::kMaxSubject - 1;
    const std::size_t length = size < limit ? size : limit;
    std::memcpy(error->subject, subject, length);
    error->subject[length] = '\0';
    error->expectation = expectation.text();
    error->found = found;
    error->expected = expected;
  }
  return status;
}

Status Fail(ErrorInfo* error, Status status, const char* subject,
            Sentence expectation, std::int64_t found,
            std::int64_t expected) noexcept {
  return Fail(error, status, subject, std::strlen(subject), expectation, found,
              expected);
}

}  // namespace atto
