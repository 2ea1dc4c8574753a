#include "runtime/memory/caller_memory.h"

#include "runtime/memory/plan.h"

namespace atto {

Status CheckCallerMemory(Span<const std::uint8_t> model,
                         Span<const std::uint8_t> arena,
                         ErrorInfo* error) noexcept {
  if (model.data() == nullptr) {
    return Fail(error, Status::kNullPointer, "model", "must not be null", 0, 0);
  }
  if (arena.data() == nullptr) {
    return Fail(error, Status::kNullPointer, "arena", "must not be null", 0, 0);
  }
  const std::size_t misalignment =
      reinterpret_cast<std::uintptr_t>(arena.data()) % kArenaAlignment;
  if (misalignment != 0) {
    return Fail(error, Status::kMisaligned, "arena",
                "address modulo 16 must be",
                static_cast<std::int64_t>(misalignment), 0);
  }
  static_assert(kArenaAlignment == 16, "the sentence above says 16");
  return Status::kOk;
}

Status CheckArenaSize(std::size_t bytes, std::size_t needed,
                      ErrorInfo* error) noexcept {
  if (bytes >= needed) return Status::kOk;
  return Fail(error, Status::kBufferTooSmall, "arena", "bytes must be at least",
              static_cast<std::int64_t>(bytes),
              static_cast<std::int64_t>(needed));
}

}  // namespace atto
