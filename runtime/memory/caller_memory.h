// What every Init checks of the memory that its caller gives.
#ifndef ATTO_RUNTIME_MEMORY_CALLER_MEMORY_H_
#define ATTO_RUNTIME_MEMORY_CALLER_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "ops/base/span.h"
#include "ops/base/status.h"
#include "runtime/error_info.h"

namespace atto {

// Neither may be null; the arena is aligned to kArenaAlignment.
// kNullPointer, kMisaligned; `error`, if given, names the argument.
Status CheckCallerMemory(Span<const std::uint8_t> model,
                         Span<const std::uint8_t> arena,
                         ErrorInfo* error) noexcept;

// kBufferTooSmall if the arena has fewer than `needed` bytes.
Status CheckArenaSize(std::size_t bytes, std::size_t needed,
                      ErrorInfo* error) noexcept;

}  // namespace atto

#endif  // ATTO_RUNTIME_MEMORY_CALLER_MEMORY_H_
