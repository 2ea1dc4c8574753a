// A backend is one implementation of every op. `Backends()` lists them once;
// selection, tests and benches walk that list, so no kernel goes untested.
#ifndef ATTO_OPS_BACKEND_H_
#define ATTO_OPS_BACKEND_H_

#include <cstddef>
#include <cstdint>

#include "ops/activation/activation.h"
#include "ops/add/add.h"
#include "ops/attention/attention.h"
#include "ops/backend_memory.h"
#include "ops/base/span.h"
#include "ops/embedding/embedding.h"
#include "ops/layernorm/layernorm.h"
#include "ops/logmel/logmel.h"
#include "ops/matmul/matmul.h"
#include "ops/pooling/pooling.h"
#include "ops/softmax/softmax.h"

namespace atto {

// Function table. Contracts (shapes, ranges, aliasing): the op's header.
struct Backend {
  const char* name;
  // Whether this CPU can run it.
  bool (*supported)() noexcept;
  BackendMemory memory;
  // Writes the layer's weights into `packed`, aligned to kPackAlignment, as the
  // matmul kernels want them, and returns the bytes written: at most
  // PackedLinearBytes and a multiple of kPackAlignment. Null when they read the
  // model file.
  std::size_t (*pack_linear)(const Linear& linear, std::uint8_t* packed);

  decltype(&MatmulS8Ref) matmul_s8;
  decltype(&MatmulS16Ref) matmul_s16;
  decltype(&MatmulAddS16Ref) matmul_add_s16;
  decltype(&EmbeddingSumS8Ref) embedding_sum_s8;
  decltype(&AddS16Ref) add_s16;
  decltype(&AddShiftedS8Ref) add_shifted_s8;
  decltype(&LayerNormS8Ref) layernorm_s8;
  decltype(&LayerNormS16Ref) layernorm_s16;
  decltype(&QuantiseS8Ref) quantise_s8;
  decltype(&GeluS8Ref) gelu_s8;
  decltype(&ReluS8Ref) relu_s8;
  decltype(&SoftmaxS8Ref) softmax_s8;
  decltype(&AttentionS8Ref) attention_s8;
  decltype(&SumRowsS8Ref) sum_rows_s8;
  decltype(&MeanS8Ref) mean_s8;
  // Null: LogMelS8Ref. Ask LogMelKernel.
  decltype(&LogMelS8Ref) logmel_s8;
};

// The log-mel kernel that runs with a backend. A table that named the scalar
// one would have it linked into programs that never hear.
inline decltype(&LogMelS8Ref) LogMelKernel(const Backend& backend) noexcept {
  return backend.logmel_s8 != nullptr ? backend.logmel_s8 : &LogMelS8Ref;
}

// All backends of this build, slowest first, whether or not this CPU can run
// them. The first is always "ref", the integer truth that the others equal bit
// for bit.
Span<const Backend* const> Backends() noexcept;

// The backend of that name; null if this build has none.
const Backend* FindBackend(const char* name) noexcept;

// What Init uses unless told otherwise: the fastest backend that this CPU can
// run. In host builds the environment variable ATTO_FORCE_BACKEND chooses
// another one by name; null if it names one that is not there, because a silent
// fallback would make every measurement a guess.
const Backend* DefaultBackend() noexcept;

}  // namespace atto

#endif  // ATTO_OPS_BACKEND_H_
