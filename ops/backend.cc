#include "ops/backend.h"

#include <cstring>

#if ATTO_WITH_HIGHWAY
#include <cstdlib>
#endif

namespace atto {

const Backend* FindBackend(const char* name) noexcept {
  for (const Backend* const backend : Backends()) {
    if (std::strcmp(backend->name, name) == 0) return backend;
  }
  return nullptr;
}

#if !ATTO_WITH_DSP && !ATTO_WITH_HELIUM
const Backend* DefaultBackend() noexcept {
#if ATTO_WITH_HIGHWAY
  const char* const forced = std::getenv("ATTO_FORCE_BACKEND");
  if (forced != nullptr && forced[0] != '\0') {
    const Backend* const backend = FindBackend(forced);
    return backend != nullptr && backend->supported() ? backend : nullptr;
  }
#endif
  const Backend* best = nullptr;
  for (const Backend* const backend : Backends()) {
    if (backend->supported()) best = backend;
  }
  return best;
}
#endif

}  // namespace atto
