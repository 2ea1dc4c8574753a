#include "ops/float_backend.h"

#include <cstdlib>
#include <cstring>

#include "ops/float_backend_list.h"

namespace atto {

#if ATTO_WITH_XSIMD
#if defined(__x86_64__) || defined(_M_X64)
// __builtin_cpu_supports also asks whether the system saves the registers.
bool CpuHasSse4() noexcept { return __builtin_cpu_supports("sse4.2") != 0; }

bool CpuHasAvx2() noexcept {
  return __builtin_cpu_supports("avx2") != 0 &&
         __builtin_cpu_supports("fma") != 0;
}

bool CpuHasAvx512() noexcept {
  return CpuHasAvx2() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512cd") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0;
}
#else
// Every A-class CPU of 64 bits has it.
bool CpuHasNeon() noexcept { return true; }
#endif
#endif

namespace {

bool AnyCpu() noexcept { return true; }

constexpr FloatBackend kRefFloatBackend = {"f32_ref",
                                           &AnyCpu,
                                           kFloatRefMemory,
                                           &PackLinearF32Ref,
                                           &MatmulF32Ref,
                                           &MatmulAddF32Ref,
                                           &EmbeddingSumF32Ref,
                                           &AddF32Ref,
                                           &LayerNormF32Ref,
                                           &GeluF32Ref,
                                           &ReluF32Ref,
                                           &SoftmaxF32Ref,
                                           &PackKeysValuesF32Ref,
                                           &AttentionF32Ref,
                                           &SumRowsF32Ref,
                                           &MeanF32Ref};

constexpr const FloatBackend* kFloatBackends[] = {&kRefFloatBackend,
#define ATTO_BACKEND(id) &k##id##FloatBackend,
                                                  ATTO_FLOAT_BACKEND_LIST
#undef ATTO_BACKEND
};

}  // namespace

Span<const FloatBackend* const> FloatBackends() noexcept {
  return kFloatBackends;
}

const FloatBackend* FindFloatBackend(const char* name) noexcept {
  for (const FloatBackend* const backend : FloatBackends()) {
    if (std::strcmp(backend->name, name) == 0) return backend;
  }
  return nullptr;
}

const FloatBackend* DefaultFloatBackend() noexcept {
  const char* const forced = std::getenv("ATTO_FORCE_FLOAT_BACKEND");
  if (forced != nullptr && forced[0] != '\0') {
    const FloatBackend* const backend = FindFloatBackend(forced);
    return backend != nullptr && backend->supported() ? backend : nullptr;
  }
  const FloatBackend* best = nullptr;
  for (const FloatBackend* const backend : FloatBackends()) {
    if (backend->supported()) best = backend;
  }
  return best;
}

}  // namespace atto
