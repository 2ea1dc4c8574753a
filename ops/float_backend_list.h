// The constants behind FloatBackends(). Whether a CPU can run a backend is
// asked in ops/float_backend.cc, which is compiled for every CPU.
#ifndef ATTO_OPS_FLOAT_BACKEND_LIST_H_
#define ATTO_OPS_FLOAT_BACKEND_LIST_H_

#include "ops/float_backend.h"

// One line a backend of this build, slowest first, without the portable one:
// ATTO_BACKEND(id).
#if !ATTO_WITH_XSIMD
#define ATTO_FLOAT_BACKEND_LIST
#elif defined(__x86_64__) || defined(_M_X64)
#define ATTO_FLOAT_BACKEND_LIST \
  ATTO_BACKEND(Sse4)            \
  ATTO_BACKEND(Avx2)            \
  ATTO_BACKEND(Avx512)
#else
#define ATTO_FLOAT_BACKEND_LIST ATTO_BACKEND(Neon)
#endif

namespace atto {

#define ATTO_BACKEND(id)                         \
  extern const FloatBackend k##id##FloatBackend; \
  bool CpuHas##id() noexcept;
ATTO_FLOAT_BACKEND_LIST
#undef ATTO_BACKEND

}  // namespace atto

#endif  // ATTO_OPS_FLOAT_BACKEND_LIST_H_
