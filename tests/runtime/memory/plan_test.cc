#include "runtime/memory/plan.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>

#include "runtime/memory/arena.h"
#include "runtime/memory/encoder_plan.h"

namespace atto {
namespace {

constexpr EncoderShape SpamSizedShape() {
  EncoderShape shape;
  shape.tokens = 64;
  shape.d_model = 64;
  shape.heads = 4;
  shape.d_ffn = 128;
  shape.blocks = 2;
  shape.d_input = 64;
  shape.classes = 2;
  return shape;
}

struct SpamSizedModel {
  static constexpr EncoderShape kShape = SpamSizedShape();
};

static_assert(AlignUp(0) == 0 && AlignUp(1) == 16 && AlignUp(15) == 16);
static_assert(AlignUp(16) == 16 && AlignUp(17) == 32);

// The promise: 64 tokens, d_model 64, 2 blocks, d_ffn 128 in 20 KiB in all.
static_assert(ArenaBytes(SpamSizedModel::kShape, kRefMemory) <= 20 * 1024);
static_assert(sizeof(Arena<SpamSizedModel>) ==
              ArenaBytes(SpamSizedModel::kShape));

template <std::size_t kCount>
void CheckPlan(const MemoryPlan<kCount>& plan) {
  std::size_t busiest = 0;  // no plan can be smaller than its fullest step
  for (unsigned step = 0; step < 8; ++step) {
    std::size_t live = 0;
    for (const Buffer& buffer : plan.buffers) {
      if (buffer.first_use <= step && step <= buffer.last_use) {
        live += buffer.bytes;
      }
    }
    busiest = live > busiest ? live : busiest;
  }
  CHECK(plan.bytes >= busiest);
  for (std::size_t i = 0; i < kCount; ++i) {
    const Buffer& a = plan.buffers[i];
    CAPTURE(i);
    CHECK(a.offset % kArenaAlignment == 0);
    CHECK(a.offset + a.bytes <= plan.bytes);
    for (std::size_t j = 0; j < i; ++j) {
      const Buffer& b = plan.buffers[j];
      if (a.bytes == 0 || b.bytes == 0 || !LivesMeet(a, b)) continue;
      CAPTURE(j);
      const bool apart =
          a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
      CHECK(apart);
    }
  }
}

TEST_CASE("plan: buffers share bytes only when their lives do not meet") {
  MemoryPlan<4> plan;
  plan.buffers[0] = {100, 0, 1, 0};  // first
  plan.buffers[1] = {50, 2, 3, 0};   // second
  plan.buffers[2] = {30, 1, 2, 0};   // both
  plan.buffers[3] = {0, 0, 3, 0};    // never
  PlaceBuffers(&plan);
  CheckPlan(plan);
  CHECK(plan.buffers[0].offset == 0);
  CHECK(plan.buffers[1].offset == 0);
  CHECK(plan.buffers[2].offset == 112);
  CHECK(plan.bytes == 144);
}

TEST_CASE("plan: every encoder shape gets a sound plan") {
  using Sizes = std::initializer_list<std::uint16_t>;
  for (const std::uint16_t tokens : Sizes{1, 2, 7, 8, 9, 64, 512}) {
    for (const std::uint16_t d_model : Sizes{8, 24, 64, 512}) {
      for (const std::uint16_t d_ffn : Sizes{1, 33, 128, 4096}) {
        for (const Input input : {Input::kText, Input::kAudio}) {
          EncoderShape shape = SpamSizedShape();
          shape.tokens = tokens;
          shape.d_model = d_model;
          shape.d_ffn = d_ffn;
          shape.input = input;
          CheckPlan(PlanEncoder(shape, kRefMemory));
          CheckPlan(PlanEncoder(shape, kHighwayMemory));
        }
      }
    }
  }
}

TEST_CASE("plan: every buffer holds what it is for") {
  EncoderShape shape;
  shape.tokens = 19;
  shape.d_model = 24;
  shape.heads = 3;
  shape.d_ffn = 37;
  shape.blocks = 2;
  shape.d_input = 30;
  shape.classes = 7;
  shape.input = Input::kAudio;
  shape.audio.frame_length = 25;
  shape.audio.fft_length = 32;
  shape.audio.bins = 10;
  shape.audio.patch_frames = 3;
  const struct {
    EncoderBuffer buffer;
    std::size_t bytes;
  } cases[] = {{kBlockTable, 2 * sizeof(BlockWeights)},
               {kPackedWeights, 0},
               {kResidual, 19 * 24 * 2},
               {kKeys, 19 * 24},
               {kValues, 19 * 24},
               {kTokenizer, 0},
               {kFrameScratch, LogMelScratchBytes(kRefMemory, 32)},
               {kFrameSamples, 25 * 2},
               {kRowFrames, 3 * 10},
               {kTileInput, 8 * 30},
               {kTileNorm, 8 * 24},
               {kTileQuery, 8 * 24},
               {kTileHidden, 8 * 37},
               {kScores, AttentionScratchBytes(kRefMemory, 19, 8)},
               {kPoolSums, 24 * 4},
               {kPooled, 24},
               {kLogits, 7 * 2},
               {kClassScores, 7 * 2}};
  static_assert(sizeof(cases) / sizeof(cases[0]) == kEncoderBuffers);
  const EncoderPlan plan = PlanEncoder(shape, kRefMemory);
  for (const auto& item : cases) {
    CAPTURE(item.buffer);
    const Buffer& buffer = plan.buffers[item.buffer];
    CHECK(buffer.bytes == item.bytes);
    CHECK(buffer.first_use <= buffer.last_use);
    CHECK(buffer.last_use < kEncoderSteps);
  }
  shape.tokens = 5;  // fewer than a tile has
  shape.input = Input::kText;
  const EncoderPlan small = PlanEncoder(shape, kRefMemory);
  CHECK(small.buffers[kTileInput].bytes == 5 * 30);
  CHECK(small.buffers[kTokenizer].bytes == sizeof(Tokenizer));
}

TEST_CASE("plan: memory grows with n, never with n x n") {
  EncoderShape shape = SpamSizedShape();
  for (const BackendMemory& memory : {kRefMemory, kHighwayMemory}) {
    shape.tokens = 256;
    const std::size_t at_256 = ArenaBytes(shape, memory);
    shape.tokens = 512;
    CHECK(ArenaBytes(shape, memory) <= 2 * at_256);
  }
}

}  // namespace
}  // namespace atto
