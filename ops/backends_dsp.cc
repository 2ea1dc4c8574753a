// The list of backends of a build for cores with the DSP extension.
#include "ops/backend.h"
#include "ops/backend_ref.h"

namespace atto {
namespace {

constexpr Backend kDspBackend = {
    "dsp",           &EveryCpu,        kCortexMMemory,        nullptr,
    &MatmulS8Dsp,    &MatmulS16Dsp,    &MatmulAddS16Dsp, &EmbeddingSumS8Ref,
    &AddS16Ref,      &AddShiftedS8Ref, &LayerNormS8Ref,  &LayerNormS16Ref,
    &QuantiseS8Ref,  &GeluS8Ref,       &ReluS8Ref,       &SoftmaxS8Dsp,
    &AttentionS8Dsp, &SumRowsS8Ref,    &MeanS8Ref};

constexpr const Backend* kBackends[] = {&kRefBackend, &kDspBackend};

}  // namespace

Span<const Backend* const> Backends() noexcept { return kBackends; }

}  // namespace atto
