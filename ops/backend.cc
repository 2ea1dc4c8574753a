#include "ops/backend.h"

namespace atto {
namespace {

constexpr Backend kBackends[] = {
    {"ref", &MatmulS8Ref, &MatmulS16Ref, &MatmulAddS16Ref, &EmbeddingSumS8Ref,
     &AddS16Ref, &AddShiftedS8Ref, &LayerNormS8Ref, &LayerNormS16Ref,
     &QuantiseS8Ref, &GeluS8Ref, &ReluS8Ref, &SoftmaxS8Ref, &AttentionS8Ref,
     &SumRowsS8Ref, &MeanS8Ref},
};

}  // namespace

Span<const Backend> Backends() noexcept { return kBackends; }

const Backend& BestBackend() noexcept {
  const Span<const Backend> backends = Backends();
  return backends[backends.size() - 1];
}

}  // namespace atto
