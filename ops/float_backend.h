// A float backend is one implementation of every op of the float encoder.
// `FloatBackends()` lists them once; selection, tests and benches walk that
// list. Host builds only: firmware has no float code.
//
// Results differ between backends in the last bits, since the order of sums
// does; tests/ops/*_f32_test.cc hold each to double arithmetic.
#ifndef ATTO_OPS_FLOAT_BACKEND_H_
#define ATTO_OPS_FLOAT_BACKEND_H_

#include "ops/activation/activation_f32.h"
#include "ops/add/add_f32.h"
#include "ops/attention/attention_f32.h"
#include "ops/base/span.h"
#include "ops/embedding/embedding_f32.h"
#include "ops/float_backend_memory.h"
#include "ops/layernorm/layernorm_f32.h"
#include "ops/matmul/matmul_f32.h"
#include "ops/pooling/pooling_f32.h"
#include "ops/softmax/softmax_f32.h"

namespace atto {

// Function table. Contracts (shapes, ranges, aliasing): the op's header.
struct FloatBackend {
  const char* name;
  // Whether this CPU can run it.
  bool (*supported)() noexcept;
  FloatBackendMemory memory;

  decltype(&PackLinearF32Ref) pack_linear;
  decltype(&MatmulF32Ref) matmul;
  decltype(&MatmulAddF32Ref) matmul_add;
  decltype(&EmbeddingSumF32Ref) embedding_sum;
  decltype(&AddF32Ref) add;
  decltype(&LayerNormF32Ref) layernorm;
  decltype(&GeluF32Ref) gelu;
  decltype(&ReluF32Ref) relu;
  decltype(&SoftmaxF32Ref) softmax;
  decltype(&PackKeysValuesF32Ref) pack_keys_values;
  decltype(&AttentionF32Ref) attention;
  decltype(&SumRowsF32Ref) sum_rows;
  decltype(&MeanF32Ref) mean;
};

// All float backends of this build, slowest first, whether or not this CPU can
// run them. The first is always "f32_ref", portable scalar code.
Span<const FloatBackend* const> FloatBackends() noexcept;

// The float backend of that name; null if this build has none.
const FloatBackend* FindFloatBackend(const char* name) noexcept;

// What FloatEncoder uses unless told otherwise: the fastest one that this CPU
// can run. The environment variable ATTO_FORCE_FLOAT_BACKEND chooses another by
// name; null if that is not there or cannot run here.
const FloatBackend* DefaultFloatBackend() noexcept;

}  // namespace atto

#endif  // ATTO_OPS_FLOAT_BACKEND_H_
