// The float kernels of one architecture: compiled once for each, with
//   ATTO_XSIMD_ARCH     its tag, such as xsimd::fma3<xsimd::avx2>
//   ATTO_FLOAT_BACKEND  its id in ops/float_backend_list.h, such as Avx2
//   ATTO_FLOAT_NAME     the backend's name, such as "f32_avx2"
// and the flags of that architecture: see cmake/AttoFloat.cmake.
#include "ops/activation/activation_xsimd-inl.h"
#include "ops/add/add_xsimd-inl.h"
#include "ops/attention/attention_xsimd-inl.h"
#include "ops/embedding/embedding_xsimd-inl.h"
#include "ops/float_backend.h"
#include "ops/float_backend_list.h"
#include "ops/layernorm/layernorm_xsimd-inl.h"
#include "ops/matmul/matmul_xsimd-inl.h"
#include "ops/pooling/pooling_xsimd-inl.h"
#include "ops/softmax/softmax_xsimd-inl.h"

namespace atto {
namespace {

static_assert(kFloatMemory.panel % kPanel == 0);
static_assert(kFloatMemory.score_rows >= kMaxRows);

}  // namespace

#define ATTO_JOIN_NAME(a, b, c) a##b##c
#define ATTO_JOIN(a, b, c) ATTO_JOIN_NAME(a, b, c)

constexpr FloatBackend ATTO_JOIN(k, ATTO_FLOAT_BACKEND, FloatBackend) = {
    ATTO_FLOAT_NAME,    &ATTO_JOIN(CpuHas, ATTO_FLOAT_BACKEND, ),
    kFloatMemory,       &PackLinearF32,
    &MatmulF32,         &MatmulAddF32,
    &EmbeddingSumF32,   &AddF32,
    &LayerNormF32,      &GeluF32,
    &ReluF32,           &SoftmaxF32,
    &PackKeysValuesF32, &AttentionF32,
    &SumRowsF32,        &MeanF32};

}  // namespace atto
