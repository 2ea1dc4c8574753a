// The list of backends of a build without SIMD kernels.
#include "ops/backend.h"
#include "ops/backend_ref.h"

namespace atto {
namespace {

constexpr const Backend* kBackends[] = {&kRefBackend};

}  // namespace

Span<const Backend* const> Backends() noexcept { return kBackends; }

}  // namespace atto
