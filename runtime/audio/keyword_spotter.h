// Samples in, keywords out: a stream of any length in constant memory.
//
//   static atto::SpotterArena<keywords_model::Model> arena;
//   atto::KeywordSpotter spotter;
//   atto::SpotterOptions options;
//   options.on_event = &Heard;
//   atto::Status s =
//       spotter.Init(keywords_model::kModel, arena.bytes(), options);
//   for (;;) s = spotter.Push(samples);
#ifndef ATTO_RUNTIME_AUDIO_KEYWORD_SPOTTER_H_
#define ATTO_RUNTIME_AUDIO_KEYWORD_SPOTTER_H_

#include <cstddef>
#include <cstdint>

#include "ops/base/span.h"
#include "ops/base/status.h"
#include "runtime/audio/event_detector.h"
#include "runtime/audio/feature_ring.h"
#include "runtime/encoder.h"
#include "runtime/error_info.h"
#include "runtime/memory/encoder_plan.h"

namespace atto {

// What one look at the stream found. Views are valid during the call.
struct SpotterLook {
  std::uint64_t start;  // the samples [start, end)
  std::uint64_t end;
  Span<const std::int16_t> logits;     // [c], units of 1/256 nat
  Span<const std::uint16_t> scores;    // [c], of kScoreOne
  Span<const std::uint16_t> smoothed;  // [c], mean of the last looks
};

struct SpotterOptions {
  // Called from within Push, in the order of the stream; may be null.
  void (*on_event)(void* context, const KeywordEvent& event) = nullptr;
  void (*on_look)(void* context, const SpotterLook& look) = nullptr;
  void* context = nullptr;
  // Rows of the encoder from look to look, 1..512; 0: what the model says. A
  // row is patch_stride * hop_length samples.
  std::uint16_t hop = 0;
};

// Where the parts of a spotter's memory begin.
struct SpotterPlan {
  std::size_t features;  // [frames of a window, bins] int8; the encoder's first
  std::size_t samples;   // [frame_length] int16
  std::size_t scores;    // [c] uint16
  std::size_t detector;  // EventDetector::MemoryBytes
  std::size_t bytes;     // in all
};

// Legal: the shape of an audio model.
constexpr SpotterPlan PlanSpotter(const EncoderShape& shape,
                                  std::size_t encoder_bytes) noexcept {
  const std::size_t frames = AudioFrames(shape.audio, AudioRows(shape));
  SpotterPlan plan{};
  plan.features = encoder_bytes;
  plan.samples = plan.features + AlignUp(frames * shape.audio.bins);
  plan.scores =
      plan.samples + AlignUp(shape.audio.frame_length * sizeof(std::int16_t));
  plan.detector = plan.scores + AlignUp(shape.classes * sizeof(std::uint16_t));
  plan.bytes =
      plan.detector + AlignUp(EventDetector::MemoryBytes(shape.classes));
  return plan;
}

// Bytes of arena that a spotter needs: by default enough for every backend.
constexpr std::size_t SpotterArenaBytes(
    const EncoderShape& shape,
    const BackendMemory& memory = kBuildMemory) noexcept {
  return PlanSpotter(shape, ArenaBytes(shape, memory)).bytes;
}

// As Arena, for a KeywordSpotter.
template <typename ModelType>
class SpotterArena {
 public:
  Span<std::uint8_t> bytes() noexcept { return bytes_; }

 private:
  alignas(kArenaAlignment)
      std::uint8_t bytes_[SpotterArenaBytes(ModelType::kShape)];
};

class KeywordSpotter {
 public:
  // As TextClassifier::Init, for a model with audio input; `arena` has at least
  // SpotterArenaBytes(shape). kInvalidArgument: options.hop.
  Status Init(Span<const std::uint8_t> model, Span<std::uint8_t> arena,
              const SpotterOptions& options, ErrorInfo* error = nullptr,
              const Backend* backend = DefaultBackend()) noexcept;
  Status Init(const EmbeddedModel& model, Span<std::uint8_t> arena,
              const SpotterOptions& options, ErrorInfo* error = nullptr,
              const Backend* backend = DefaultBackend()) noexcept;

  // Takes the next samples of the stream, mono, at the model's sample rate, any
  // number of them: how a stream is cut does not matter to what is found.
  // The first look is when the encoder's window is full; what comes after the
  // last look needs silence behind it to be seen.
  // kNotInitialized; kNullPointer: no samples at a null pointer.
  Status Push(Span<const std::int16_t> pcm) noexcept;

  // Starts a new stream; thresholds stay.
  void Reset() noexcept;

  // Threshold of a class, 0..kScoreOne, or more for never. The model's until it
  // is set. kNotInitialized; kInvalidArgument: the model has no such class.
  Status set_threshold(std::size_t word, std::uint16_t threshold) noexcept;
  // Legal: Init has succeeded, word < classes.
  std::uint16_t threshold(std::size_t word) const noexcept {
    return detector_.threshold(word);
  }

  const Model& model() const noexcept { return encoder_.model(); }
  Encoder& encoder() noexcept { return encoder_; }
  // Samples since the start of the stream.
  std::uint64_t samples() const noexcept { return samples_; }
  // Samples that one look sees, and samples from look to look.
  std::size_t window() const noexcept { return WindowSamples(model().shape()); }
  std::size_t hop() const noexcept {
    return hop_frames_ * model().shape().audio.hop_length;
  }

 private:
  Status Start(Span<std::uint8_t> arena, const SpotterOptions& options,
               ErrorInfo* error) noexcept;
  void SetThresholds() noexcept;
  void LookNow() noexcept;

  Encoder encoder_;
  FeatureRing ring_;
  EventDetector detector_;
  SpotterOptions options_;
  std::uint16_t* scores_ = nullptr;
  std::uint32_t hop_frames_ = 0;   // from look to look
  std::uint32_t frames_left_ = 0;  // to the next look
  std::uint64_t samples_ = 0;
  std::uint64_t look_start_ = 0;  // of the next look
};

}  // namespace atto

#endif  // ATTO_RUNTIME_AUDIO_KEYWORD_SPOTTER_H_
