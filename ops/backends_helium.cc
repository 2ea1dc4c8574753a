// The list of backends of a build for Armv8.1-M cores with MVE (Helium).
#include "ops/backend.h"
#include "ops/backend_ref.h"

namespace atto {
namespace {

constexpr Backend kHeliumBackend = {
    "helium",           &EveryCpu,        kCortexMMemory,   nullptr,
    &MatmulS8Helium,    &MatmulS16Helium,    &MatmulAddS16Helium, &EmbeddingSumS8Ref,
    &AddS16Ref,      &AddShiftedS8Ref, &LayerNormS8Ref,  &LayerNormS16Ref,
    &QuantiseS8Ref,  &GeluS8Ref,       &ReluS8Ref,       &SoftmaxS8Ref,
    &AttentionS8Ref, &SumRowsS8Ref,    &MeanS8Ref};

constexpr const Backend* kBackends[] = {&kRefBackend, &kHeliumBackend};

}  // namespace

Span<const Backend* const> Backends() noexcept { return kBackends; }

}  // namespace atto
