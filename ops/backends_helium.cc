// The list of backends of a build for Armv8.1-M cores with MVE (Helium).
#include "ops/backend.h"
#include "ops/backend_ref.h"

namespace atto {
namespace {

constexpr Backend kHeliumBackend = {"helium",
                                    &EveryCpu,
                                    kCortexMMemory,
                                    nullptr,
                                    &MatmulS8Helium,
                                    &MatmulS16Helium,
                                    &MatmulAddS16Helium,
                                    &EmbeddingSumS8Helium,
                                    &AddS16Helium,
                                    &AddShiftedS8Helium,
                                    &LayerNormS8Helium,
                                    &LayerNormS16Helium,
                                    &QuantiseS8Helium,
                                    &GeluS8Helium,
                                    &ReluS8Helium,
                                    &SoftmaxS8Helium,
                                    &AttentionS8Helium,
                                    &SumRowsS8Helium,
                                    &MeanS8Ref,
                                    nullptr};

constexpr const Backend* kBackends[] = {&kRefBackend, &kHeliumBackend};

}  // namespace

Span<const Backend* const> Backends() noexcept { return kBackends; }

// Without a question to the list, so that a program that asks for no other
// backend is linked without the scalar kernels.
const Backend* DefaultBackend() noexcept { return &kHeliumBackend; }

}  // namespace atto
