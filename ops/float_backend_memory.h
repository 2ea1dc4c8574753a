// Memory that a float backend's kernels want beyond the model's own buffers, as
// constant expressions of the shape. Sizes are in floats.
#ifndef ATTO_OPS_FLOAT_BACKEND_MEMORY_H_
#define ATTO_OPS_FLOAT_BACKEND_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace atto {

// What kernels ask of their caller.
struct FloatBackendMemory {
  // Rows that pass through a block's layers together.
  std::uint16_t tile_rows;
  // Channels of a panel of packed weights, keys or values; 1: not in panels.
  std::uint16_t panel;
  // Query rows whose scores exist at the same time.
  std::uint16_t score_rows;
};

// The portable kernels.
inline constexpr FloatBackendMemory kFloatRefMemory = {16, 1, 1};

// Enough for every float backend: vectors of 128 to 512 bits. An arena of this
// size need not care which one runs.
inline constexpr FloatBackendMemory kFloatMemory = {64, 32, 12};

// Packed parts start at multiples of this many floats, one cache line.
constexpr std::size_t kFloatPackAlignment = 16;

constexpr std::size_t RoundUpFloats(std::size_t x, std::size_t unit) noexcept {
  return (x + unit - 1) / unit * unit;
}

// Upper bound of one packed linear layer [out, in]: a panel holds the bias and
// then the weights, channels innermost.
constexpr std::size_t PackedFloatLinearSize(const FloatBackendMemory& memory,
                                            std::size_t in,
                                            std::size_t out) noexcept {
  return RoundUpFloats(RoundUpFloats(out, memory.panel) * (in + 1),
                       kFloatPackAlignment);
}

// Upper bound of the packed keys and values of `tokens` tokens.
constexpr std::size_t PackedKeysValuesSize(const FloatBackendMemory& memory,
                                           std::size_t tokens,
                                           std::size_t heads,
                                           std::size_t d_head) noexcept {
  return heads * (RoundUpFloats(tokens, memory.panel) * d_head +
                  tokens * RoundUpFloats(d_head, memory.panel));
}

// Upper bound of the scratch of one attention call.
constexpr std::size_t FloatAttentionScratchSize(
    const FloatBackendMemory& memory, std::size_t tokens) noexcept {
  return memory.score_rows * RoundUpFloats(tokens, memory.panel);
}

}  // namespace atto

#endif  // ATTO_OPS_FLOAT_BACKEND_MEMORY_H_
