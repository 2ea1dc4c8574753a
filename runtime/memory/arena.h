// Arena: the working memory of one classifier, sized by the compiler.
#ifndef ATTO_RUNTIME_MEMORY_ARENA_H_
#define ATTO_RUNTIME_MEMORY_ARENA_H_

#include <cstddef>
#include <cstdint>

#include "ops/base/span.h"
#include "runtime/memory/encoder_plan.h"

namespace atto {

// `ModelType` has `static constexpr EncoderShape kShape`: a model is a type.
// `kBudget` bytes of memory, by default exactly what the shape needs. A smaller
// budget does not compile; the error shows both numbers.
template <typename ModelType,
          std::size_t kBudget = ArenaBytes(ModelType::kShape)>
class Arena {
 public:
  static constexpr std::size_t kNeeded = ArenaBytes(ModelType::kShape);

  Span<std::uint8_t> bytes() noexcept { return bytes_; }

 private:
  template <std::size_t kBytes, std::size_t kAtLeast>
  struct Fits {
    static_assert(kBytes >= kAtLeast,
                  "arena budget is smaller than the model needs");
    static constexpr std::size_t kValue = kBytes;
  };

  alignas(kArenaAlignment) std::uint8_t bytes_[Fits<kBudget, kNeeded>::kValue];
};

}  // namespace atto

#endif  // ATTO_RUNTIME_MEMORY_ARENA_H_
