// The backend of the scalar kernels: part of every build.
#ifndef ATTO_OPS_BACKEND_REF_H_
#define ATTO_OPS_BACKEND_REF_H_

#include "ops/backend.h"

namespace atto {

inline bool EveryCpu() noexcept { return true; }

inline constexpr Backend kRefBackend = {
    "ref",           &EveryCpu,        kRefMemory,       nullptr,
    &MatmulS8Ref,    &MatmulS16Ref,    &MatmulAddS16Ref, &EmbeddingSumS8Ref,
    &AddS16Ref,      &AddShiftedS8Ref, &LayerNormS8Ref,  &LayerNormS16Ref,
    &QuantiseS8Ref,  &GeluS8Ref,       &ReluS8Ref,       &SoftmaxS8Ref,
    &AttentionS8Ref, &SumRowsS8Ref,    &MeanS8Ref,       nullptr};

}  // namespace atto

#endif  // ATTO_OPS_BACKEND_REF_H_
