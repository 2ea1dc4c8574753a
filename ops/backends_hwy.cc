// The list of backends of a host build: every Highway target that the build
// has, each with every op. Highway compiles this file once a target
// (hwy/foreach_target.h); the targets are fixed in cmake/AttoSimd.cmake.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/backends_hwy.cc"
// Must come before the kernels.
#include "hwy/foreach_target.h"
// Must come after foreach_target.h.
#include "hwy/highway.h"
#include "ops/activation/activation_hwy-inl.h"
#include "ops/add/add_hwy-inl.h"
#include "ops/attention/attention_hwy-inl.h"
#include "ops/backend.h"
#include "ops/backend_ref.h"
#include "ops/embedding/embedding_hwy-inl.h"
#include "ops/layernorm/layernorm_hwy-inl.h"
#include "ops/logmel/logmel_hwy-inl.h"
#include "ops/matmul/matmul_hwy-inl.h"
#include "ops/pooling/pooling_hwy-inl.h"
#include "ops/simd/target_name-inl.h"
#include "ops/softmax/softmax_hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace atto {
namespace HWY_NAMESPACE {

bool Supported() noexcept {
  return (hwy::SupportedTargets() & HWY_TARGET) != 0;
}

constexpr Backend kBackend = {
    ATTO_TARGET_NAME, &Supported,    kHighwayMemory, &PackLinear,
    &MatmulS8,        &MatmulS16,    &MatmulAddS16,  &EmbeddingSumS8,
    &AddS16,          &AddShiftedS8, &LayerNormS8,   &LayerNormS16,
    &QuantiseS8,      &GeluS8,       &ReluS8,        &SoftmaxS8,
    &AttentionS8,     &SumRowsS8,    &MeanS8,        &LogMelS8};

}  // namespace HWY_NAMESPACE
}  // namespace atto
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace atto {
namespace {

// Slowest first.
constexpr const Backend* kBackends[] = {
    &kRefBackend,
#if HWY_TARGETS & HWY_SSE2
    &N_SSE2::kBackend,
#endif
#if HWY_TARGETS & HWY_SSE4
    &N_SSE4::kBackend,
#endif
#if HWY_TARGETS & HWY_AVX2
    &N_AVX2::kBackend,
#endif
#if HWY_TARGETS & HWY_AVX3
    &N_AVX3::kBackend,
#endif
#if HWY_TARGETS & HWY_AVX3_DL
    &N_AVX3_DL::kBackend,
#endif
#if HWY_TARGETS & HWY_NEON_WITHOUT_AES
    &N_NEON_WITHOUT_AES::kBackend,
#endif
#if HWY_TARGETS & HWY_NEON_BF16
    &N_NEON_BF16::kBackend,
#endif
#if HWY_TARGETS & HWY_SVE2
    &N_SVE2::kBackend,
#endif
#if HWY_TARGETS & HWY_SVE2_128
    &N_SVE2_128::kBackend,
#endif
};

}  // namespace

Span<const Backend* const> Backends() noexcept { return kBackends; }

}  // namespace atto
#endif  // HWY_ONCE
