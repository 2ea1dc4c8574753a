// The list of backends of a build for cores with the DSP extension.
#include "ops/backend.h"
#include "ops/backend_ref.h"

namespace atto {
namespace {

constexpr Backend kDspBackend = {
    "dsp",           &EveryCpu,        kCortexMMemory,   nullptr,
    &MatmulS8Dsp,    &MatmulS16Dsp,    &MatmulAddS16Dsp, &EmbeddingSumS8Dsp,
    &AddS16Dsp,      &AddShiftedS8Dsp, &LayerNormS8Dsp,  &LayerNormS16Dsp,
    &QuantiseS8Dsp,  &GeluS8Dsp,       &ReluS8Dsp,       &SoftmaxS8Dsp,
    &AttentionS8Dsp, &SumRowsS8Dsp,    &MeanS8Ref,       nullptr};

constexpr const Backend* kBackends[] = {&kRefBackend, &kDspBackend};

}  // namespace

Span<const Backend* const> Backends() noexcept { return kBackends; }

// Without a question to the list, so that a program that asks for no other
// backend is linked without the scalar kernels.
const Backend* DefaultBackend() noexcept { return &kDspBackend; }

}  // namespace atto
