// Memory that a backend's kernels want beyond the model's own buffers, as
// constant expressions of the shape.
#ifndef ATTO_OPS_BACKEND_MEMORY_H_
#define ATTO_OPS_BACKEND_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "ops/attention/attention.h"
#include "ops/logmel/logmel.h"

namespace atto {

// What kernels ask of their caller.
struct BackendMemory {
  // Rows that pass through a block's layers together. Wider tiles reuse packed
  // weights and keys better, narrower ones need less memory.
  std::uint16_t tile_rows;
  // Most channels that a panel of packed weights has; 0 when the weights are
  // read where the model file has them.
  std::uint16_t panel_channels;
  // Query rows whose attention is computed together.
  std::uint16_t query_rows;
};

// The scalar kernels: small tiles, nothing packed.
inline constexpr BackendMemory kRefMemory = {8, 0, 1};

// Cortex-M cores with SIMD instructions: the same, but four query rows share
// each key.
inline constexpr BackendMemory kCortexMMemory = {8, 0, 4};

// Enough for every Highway target: vectors of 128 to 512 bits.
inline constexpr BackendMemory kHighwayMemory = {64, 32, 4};

// Enough for every backend of this build: the size of an arena that must not
// care which one runs.
#if ATTO_WITH_HIGHWAY
inline constexpr BackendMemory kBuildMemory = kHighwayMemory;
#elif ATTO_WITH_DSP || ATTO_WITH_HELIUM
inline constexpr BackendMemory kBuildMemory = kCortexMMemory;
#else
inline constexpr BackendMemory kBuildMemory = kRefMemory;
#endif

// Whether any backend of this build packs weights. Where none does, code for it
// is not even compiled.
inline constexpr bool kBuildPacks = kBuildMemory.panel_channels != 0;

// Packed parts start at multiples of this many bytes, one cache line.
constexpr std::size_t kPackAlignment = 64;

constexpr std::size_t RoundUpTo(std::size_t x, std::size_t unit) noexcept {
  return (x + unit - 1) / unit * unit;
}

// `address` moved up to kPackAlignment; buffers have the slack for it.
inline std::uint8_t* AlignPack(std::uint8_t* address) noexcept {
  const std::size_t past =
      reinterpret_cast<std::uintptr_t>(address) % kPackAlignment;
  return past == 0 ? address : address + (kPackAlignment - past);
}

// Quads of inputs that packing may append to a panel of `quads`.
constexpr std::size_t MaxSplitQuads(std::size_t quads) noexcept {
  return quads / 8 + 1;
}

// Upper bound of one packed linear layer [out, in]. Panels have 8 or more
// channels, whatever the vector.
constexpr std::size_t PackedLinearBytes(const BackendMemory& memory,
                                        std::size_t in,
                                        std::size_t out) noexcept {
  if (!kBuildPacks || memory.panel_channels == 0) return 0;
  const std::size_t quads = (in + 3) / 4;
  const std::size_t splits = MaxSplitQuads(quads);
  const std::size_t channels = RoundUpTo(out, memory.panel_channels);
  // A channel: weights, bias, multiplier. A panel: split indices, padding.
  return channels * (4 * (quads + splits) + 4 + 2) +
         channels / 8 * (2 * (splits + 1) + kPackAlignment);
}

// Upper bound of the scratch of one attention call. Grows with n, never with
// n x n.
constexpr std::size_t AttentionScratchBytes(const BackendMemory& memory,
                                            std::size_t tokens,
                                            std::size_t d_head) noexcept {
  if (memory.query_rows == 1) return AttentionScratchBytes(tokens);
  if (!kBuildPacks || memory.panel_channels == 0) {
    // Scores of four rows; their weights, where the queries were before.
    const std::size_t padded = RoundUpTo(tokens, 16);
    const std::size_t weights = 4 * padded;
    const std::size_t queries = 4 * sizeof(std::int16_t) * RoundUpTo(d_head, 4);
    return 4 * sizeof(std::int32_t) * padded +
           (weights > queries ? weights : queries);
  }
  const std::size_t panel = memory.panel_channels;
  const std::size_t padded = RoundUpTo(tokens, panel);
  const std::size_t steps = (d_head + 1) / 2;  // of 16-bit pairs
  const std::size_t row = padded * (4 + 1);    // scores, weights
  return padded * (4 * steps + 4) +            // keys and their sums
         RoundUpTo(tokens, 4) * RoundUpTo(d_head, panel) +  // values
         4 * (4 * steps + row) +  // four query rows at a time
         7 * kPackAlignment;
}

// Bytes of scratch of one frame's log-mel features.
constexpr std::size_t LogMelScratchBytes(const BackendMemory& memory,
                                         std::size_t fft_length) noexcept {
  const std::size_t bytes = LogMelScratchBytes(fft_length);
  return memory.panel_channels == 0 ? bytes : 2 * bytes;
}

}  // namespace atto

#endif  // ATTO_OPS_BACKEND_MEMORY_H_
