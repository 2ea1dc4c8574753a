// The encoder's memory as a function of its shape, for compiler and run time
// alike. The picture and its reasons: docs/memory.md.
#ifndef ATTO_RUNTIME_MEMORY_ENCODER_PLAN_H_
#define ATTO_RUNTIME_MEMORY_ENCODER_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "ops/backend_memory.h"
#include "runtime/memory/plan.h"
#include "runtime/model/model.h"
#include "runtime/model/shape.h"
#include "runtime/text/tokenizer.h"

namespace atto {

// Steps of the work, in order; blocks repeat the middle three.
enum EncoderStep : std::uint8_t {
  kEmbedStep = 0,        // input rows -> residual stream
  kKeysValuesStep = 1,   // keys and values of all rows
  kAttentionStep = 2,    // a tile: queries, attention, W_O
  kFeedForwardStep = 3,  // the same tile: feed-forward layer
  kPoolStep = 4,
  kHeadStep = 5,
  kEncoderSteps = 6,
};

enum EncoderBuffer : std::size_t {
  kBlockTable,     // [blocks] BlockWeights
  kPackedWeights,  // all linear layers, if the backend packs them
  kResidual,       // [n, d] int16
  kKeys,           // [n, d] int8
  kValues,         // [n, d] int8
  kTokenizer,      // a Tokenizer, text only
  kFrameScratch,   // LogMelScratchBytes, audio only
  kFrameSamples,   // [frame_length] int16, audio only
  kRowFrames,      // [patch_frames, bins] int8, audio only
  kTileInput,      // [tile, e] int8
  kTileNorm,       // [tile, d] int8
  kTileQuery,      // [tile, d] int8: queries, then context
  kTileHidden,     // [tile, f] int8
  kScores,         // AttentionScratchBytes
  kPoolSums,       // [d] int32
  kPooled,         // [d] int8
  kLogits,         // [c] int16
  kClassScores,    // [c] uint16
  kEncoderBuffers,
};

// What people call them.
constexpr const char* kEncoderBufferNames[] = {
    "block table", "packed weights", "residual stream", "keys",
    "values",      "tokenizer",      "frame scratch",   "frame samples",
    "row frames",  "tile input",     "tile norm",       "tile query",
    "tile hidden", "scores",         "pool sums",       "pooled",
    "logits",      "class scores",
};
static_assert(sizeof(kEncoderBufferNames) / sizeof(char*) == kEncoderBuffers);

using EncoderPlan = MemoryPlan<kEncoderBuffers>;

// Bytes of all linear layers as the backend packs them.
constexpr std::size_t PackedWeightBytes(const EncoderShape& shape,
                                        const BackendMemory& memory) noexcept {
  if (!kBuildPacks || memory.panel_channels == 0) return 0;
  const std::size_t d = shape.d_model;
  const std::size_t f = shape.d_ffn;
  const std::size_t block = 4 * PackedLinearBytes(memory, d, d) +
                            PackedLinearBytes(memory, d, f) +
                            PackedLinearBytes(memory, f, d);
  return PackedLinearBytes(memory, shape.d_input, d) + shape.blocks * block +
         PackedLinearBytes(memory, d, shape.classes) + kPackAlignment;
}

// Legal: a shape within the ranges of docs/model_format.md.
constexpr EncoderPlan PlanEncoder(
    const EncoderShape& shape,
    const BackendMemory& memory = kBuildMemory) noexcept {
  const std::size_t n = shape.tokens;
  const std::size_t d = shape.d_model;
  const std::size_t tile = n < memory.tile_rows ? n : memory.tile_rows;
  const std::size_t tokenizer =
      shape.input == Input::kText ? sizeof(Tokenizer) : 0;
  const std::uint8_t last = kEncoderSteps - 1;
  EncoderPlan plan;
  plan.buffers[kBlockTable] = {shape.blocks * sizeof(BlockWeights), 0, last, 0};
  plan.buffers[kPackedWeights] = {PackedWeightBytes(shape, memory), 0, last, 0};
  plan.buffers[kResidual] = {n * d * sizeof(std::int16_t), kEmbedStep,
                             kPoolStep, 0};
  plan.buffers[kKeys] = {n * d, kKeysValuesStep, kFeedForwardStep, 0};
  plan.buffers[kValues] = {n * d, kKeysValuesStep, kFeedForwardStep, 0};
  plan.buffers[kTokenizer] = {tokenizer, kEmbedStep, kEmbedStep, 0};
  const AudioShape& audio = shape.audio;
  plan.buffers[kFrameScratch] = {LogMelScratchBytes(memory, audio.fft_length),
                                 kEmbedStep, kEmbedStep, 0};
  plan.buffers[kFrameSamples] = {audio.frame_length * sizeof(std::int16_t),
                                 kEmbedStep, kEmbedStep, 0};
  plan.buffers[kRowFrames] = {std::size_t{audio.patch_frames} * audio.bins,
                              kEmbedStep, kEmbedStep, 0};
  plan.buffers[kTileInput] = {tile * shape.d_input, kEmbedStep, kEmbedStep, 0};
  plan.buffers[kTileNorm] = {tile * d, kKeysValuesStep, kPoolStep, 0};
  plan.buffers[kTileQuery] = {tile * d, kAttentionStep, kAttentionStep, 0};
  plan.buffers[kTileHidden] = {tile * shape.d_ffn, kFeedForwardStep,
                               kFeedForwardStep, 0};
  plan.buffers[kScores] = {AttentionScratchBytes(memory, n, d / shape.heads),
                           kAttentionStep, kAttentionStep, 0};
  plan.buffers[kPoolSums] = {d * sizeof(std::int32_t), kPoolStep, kHeadStep, 0};
  plan.buffers[kPooled] = {d, kPoolStep, kHeadStep, 0};
  plan.buffers[kLogits] = {shape.classes * sizeof(std::int16_t), kHeadStep,
                           kHeadStep, 0};
  plan.buffers[kClassScores] = {shape.classes * sizeof(std::uint16_t),
                                kHeadStep, kHeadStep, 0};
  PlaceBuffers(&plan);
  return plan;
}

// Bytes of arena that a model of this shape needs, aligned to kArenaAlignment:
// by default enough for every backend of this build.
constexpr std::size_t ArenaBytes(
    const EncoderShape& shape,
    const BackendMemory& memory = kBuildMemory) noexcept {
  return PlanEncoder(shape, memory).bytes;
}

// All of a plan that is of use at run time.
struct ArenaLayout {
  std::uint32_t offsets[kEncoderBuffers] = {};
  std::uint32_t bytes = 0;  // of the whole arena
};

constexpr ArenaLayout LayOutArena(
    const EncoderShape& shape,
    const BackendMemory& memory = kBuildMemory) noexcept {
  const EncoderPlan plan = PlanEncoder(shape, memory);
  ArenaLayout layout;
  for (std::size_t i = 0; i < kEncoderBuffers; ++i) {
    layout.offsets[i] = static_cast<std::uint32_t>(plan.buffers[i].offset);
  }
  layout.bytes = static_cast<std::uint32_t>(plan.bytes);
  return layout;
}

}  // namespace atto

#endif  // ATTO_RUNTIME_MEMORY_ENCODER_PLAN_H_
