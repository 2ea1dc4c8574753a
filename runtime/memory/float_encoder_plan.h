// The float encoder's memory as a function of its shape, for compiler and run
// time alike: as encoder_plan.h, in floats.
#ifndef ATTO_RUNTIME_MEMORY_FLOAT_ENCODER_PLAN_H_
#define ATTO_RUNTIME_MEMORY_FLOAT_ENCODER_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "ops/float_backend_memory.h"
#include "runtime/memory/encoder_plan.h"
#include "runtime/memory/plan.h"
#include "runtime/model/float_model.h"
#include "runtime/model/shape.h"

namespace atto {

enum FloatEncoderBuffer : std::size_t {
  kFloatBlockTable,     // [blocks] FloatBlockWeights
  kFloatPackedWeights,  // all linear layers
  kFloatResidual,       // [n, d]
  kFloatKeysValues,     // PackedKeysValuesSize
  kFloatTokenizer,      // a Tokenizer, text only
  kFloatTileInput,      // [tile, e]
  kFloatTileNorm,       // [tile, d]
  kFloatTileKeys,       // [tile, d]: keys before packing; queries, then context
  kFloatTileValues,     // [tile, d]: values before packing
  kFloatTileHidden,     // [tile, f]
  kFloatScores,         // FloatAttentionScratchSize
  kFloatPooled,         // [d]
  kFloatLogits,         // [c]
  kFloatEncoderBuffers,
};

using FloatEncoderPlan = MemoryPlan<kFloatEncoderBuffers>;

// Floats of all linear layers as a backend packs them.
constexpr std::size_t PackedFloatWeightsSize(
    const EncoderShape& shape, const FloatBackendMemory& memory) noexcept {
  const std::size_t d = shape.d_model;
  const std::size_t f = shape.d_ffn;
  const std::size_t block = 4 * PackedFloatLinearSize(memory, d, d) +
                            PackedFloatLinearSize(memory, d, f) +
                            PackedFloatLinearSize(memory, f, d);
  return PackedFloatLinearSize(memory, shape.d_input, d) +
         shape.blocks * block + PackedFloatLinearSize(memory, d, shape.classes);
}

// Legal: a shape within the ranges of docs/model_format.md.
constexpr FloatEncoderPlan PlanFloatEncoder(
    const EncoderShape& shape,
    const FloatBackendMemory& memory = kFloatMemory) noexcept {
  const std::size_t n = shape.tokens;
  const std::size_t d = shape.d_model;
  const std::size_t h = shape.heads;
  const std::size_t tile = n < memory.tile_rows ? n : memory.tile_rows;
  const std::size_t tokenizer =
      shape.input == Input::kText ? sizeof(Tokenizer) : 0;
  const std::uint8_t last = kEncoderSteps - 1;
  const auto floats = [](std::size_t count) { return count * sizeof(float); };
  FloatEncoderPlan plan;
  plan.buffers[kFloatBlockTable] = {shape.blocks * sizeof(FloatBlockWeights), 0,
                                    last, 0};
  plan.buffers[kFloatPackedWeights] = {
      floats(PackedFloatWeightsSize(shape, memory)) + kPackAlignment, 0, last,
      0};
  plan.buffers[kFloatResidual] = {floats(n * d), kEmbedStep, kPoolStep, 0};
  plan.buffers[kFloatKeysValues] = {
      floats(PackedKeysValuesSize(memory, n, h, d / h)), kKeysValuesStep,
      kFeedForwardStep, 0};
  plan.buffers[kFloatTokenizer] = {tokenizer, kEmbedStep, kEmbedStep, 0};
  plan.buffers[kFloatTileInput] = {floats(tile * shape.d_input), kEmbedStep,
                                   kEmbedStep, 0};
  plan.buffers[kFloatTileNorm] = {floats(tile * d), kKeysValuesStep, kPoolStep,
                                  0};
  plan.buffers[kFloatTileKeys] = {floats(tile * d), kKeysValuesStep,
                                  kAttentionStep, 0};
  plan.buffers[kFloatTileValues] = {floats(tile * d), kKeysValuesStep,
                                    kKeysValuesStep, 0};
  plan.buffers[kFloatTileHidden] = {floats(tile * shape.d_ffn),
                                    kFeedForwardStep, kFeedForwardStep, 0};
  plan.buffers[kFloatScores] = {floats(FloatAttentionScratchSize(memory, n)),
                                kAttentionStep, kAttentionStep, 0};
  plan.buffers[kFloatPooled] = {floats(d), kPoolStep, kHeadStep, 0};
  plan.buffers[kFloatLogits] = {floats(shape.classes), kHeadStep, kHeadStep, 0};
  PlaceBuffers(&plan);
  return plan;
}

// Bytes of arena that a float model of this shape needs, aligned to
// kArenaAlignment: by default enough for every float backend.
constexpr std::size_t FloatArenaBytes(
    const EncoderShape& shape,
    const FloatBackendMemory& memory = kFloatMemory) noexcept {
  return PlanFloatEncoder(shape, memory).bytes;
}

}  // namespace atto

#endif  // ATTO_RUNTIME_MEMORY_FLOAT_ENCODER_PLAN_H_
