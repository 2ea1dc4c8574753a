// Memory plan: who lives where and when, known to the compiler.
//
// Each buffer lives from its first to its last step, both included. Two
// buffers may share bytes when their lives do not meet. Placement is greedy by
// size: the largest buffer first, each at the lowest offset that is free during
// its whole life (Pisarchyk, Lee, "Efficient Memory Management for Deep Neural
// Net Inference", arXiv 2001.03288, section 5.2).
#ifndef ATTO_RUNTIME_MEMORY_PLAN_H_
#define ATTO_RUNTIME_MEMORY_PLAN_H_

#include <cstddef>
#include <cstdint>

namespace atto {

// Every buffer starts at a multiple of this many bytes; so must the arena.
constexpr std::size_t kArenaAlignment = 16;

constexpr std::size_t AlignUp(std::size_t bytes) noexcept {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

struct Buffer {
  std::size_t bytes = 0;
  std::uint8_t first_use = 0;  // step
  std::uint8_t last_use = 0;   // step, >= first_use
  std::size_t offset = 0;      // from the start of the arena, set by the plan
};

template <std::size_t kCount>
struct MemoryPlan {
  Buffer buffers[kCount] = {};
  std::size_t bytes = 0;  // of the whole arena
};

constexpr bool LivesMeet(const Buffer& a, const Buffer& b) noexcept {
  return a.first_use <= b.last_use && b.first_use <= a.last_use;
}

// Sets every offset and the total. Buffers of zero bytes get offset 0.
template <std::size_t kCount>
constexpr void PlaceBuffers(MemoryPlan<kCount>* plan) noexcept {
  bool placed[kCount] = {};
  plan->bytes = 0;
  for (std::size_t round = 0; round < kCount; ++round) {
    std::size_t next = kCount;
    for (std::size_t i = 0; i < kCount; ++i) {
      if (!placed[i] && (next == kCount ||
                         plan->buffers[i].bytes > plan->buffers[next].bytes)) {
        next = i;
      }
    }
    Buffer& buffer = plan->buffers[next];
    // Raise the offset past every conflicting buffer until nothing conflicts;
    // it only rises, so this ends after at most kCount sweeps.
    std::size_t offset = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t i = 0; i < kCount; ++i) {
        const Buffer& other = plan->buffers[i];
        if (!placed[i] || !LivesMeet(buffer, other)) continue;
        if (offset < other.offset + other.bytes &&
            other.offset < offset + buffer.bytes) {
          offset = AlignUp(other.offset + other.bytes);
          moved = true;
        }
      }
    }
    buffer.offset = buffer.bytes == 0 ? 0 : offset;
    placed[next] = true;
    const std::size_t end = AlignUp(buffer.offset + buffer.bytes);
    plan->bytes = end > plan->bytes ? end : plan->bytes;
  }
}

}  // namespace atto

#endif  // ATTO_RUNTIME_MEMORY_PLAN_H_
