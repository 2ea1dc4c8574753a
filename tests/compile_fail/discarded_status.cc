// A Status that is dropped on the floor is a warning, and atto's warnings are
// errors.
// expect: ignoring return(ed)? value.*nodiscard
#pragma GCC diagnostic error "-Wunused-result"
#include "ops/base/status.h"

atto::Status Work() { return atto::Status::kOk; }

int main() {
#ifdef ATTO_COMPILE_FAIL
  Work();
#else
  return Work() == atto::Status::kOk ? 0 : 1;
#endif
}
