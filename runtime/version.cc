#include "runtime/version.h"

#define ATTO_STRING_OF(x) #x
#define ATTO_STRING(x) ATTO_STRING_OF(x)

namespace atto {

const char* version() noexcept {
  return ATTO_STRING(ATTO_VERSION_MAJOR) "." ATTO_STRING(
      ATTO_VERSION_MINOR) "." ATTO_STRING(ATTO_VERSION_PATCH);
}

}  // namespace atto
