#include "runtime/audio/keyword_spotter.h"

#include "ops/softmax/softmax.h"
#include "runtime/memory/caller_memory.h"

namespace atto {
namespace {

template <typename T>
T* Part(Span<std::uint8_t> arena, std::size_t offset) noexcept {
  void* const part = arena.data() + offset;
  return static_cast<T*>(part);
}

// The classes that a model file without thresholds keeps quiet about.
bool IsNoWord(StringView label) noexcept {
  return Equal(label, Literal("unknown")) || Equal(label, Literal("silence"));
}

// An arena is too small for the encoder, which has said what it needs: makes
// that what the whole spotter needs.
void NeedArena(const EncoderShape& shape, ErrorInfo* error) noexcept {
  if (shape.input != Input::kAudio) return;
  const auto encoder_bytes = static_cast<std::size_t>(error->expected);
  error->expected =
      static_cast<std::int64_t>(PlanSpotter(shape, encoder_bytes).bytes);
}

}  // namespace

Status KeywordSpotter::Init(Span<const std::uint8_t> model,
                            Span<std::uint8_t> arena,
                            const SpotterOptions& options, ErrorInfo* error,
                            const Backend* backend) noexcept {
  const Status status = encoder_.Init(model, arena, error, backend);
  if (status == Status::kOk) return Start(arena, options, error);
  EncoderShape shape;
  if (status == Status::kBufferTooSmall && error != nullptr &&
      Model::ReadShape(model, &shape) == Status::kOk) {
    NeedArena(shape, error);
  }
  return status;
}

Status KeywordSpotter::Init(const EmbeddedModel& model,
                            Span<std::uint8_t> arena,
                            const SpotterOptions& options, ErrorInfo* error,
                            const Backend* backend) noexcept {
  const Status status = encoder_.Init(model, arena, error, backend);
  if (status == Status::kOk) return Start(arena, options, error);
  if (status == Status::kBufferTooSmall && error != nullptr) {
    NeedArena(model.parts.shape, error);
  }
  return status;
}

// What is left of Init once the encoder is ready.
Status KeywordSpotter::Start(Span<std::uint8_t> arena,
                             const SpotterOptions& options,
                             ErrorInfo* error) noexcept {
  Status status = Status::kOk;
  const Backend& backend = encoder_.backend();
  const EncoderShape& shape = encoder_.model().shape();
  const SpotterPlan plan = PlanSpotter(shape, encoder_.arena_bytes());
  if (shape.input != Input::kAudio) {
    status = Fail(error, Status::kUnsupported, "atto.input",
                  "must be audio for a keyword spotter", 0, 0);
  } else if (options.hop > EncoderShape::kMaxTokens) {
    status = Fail(error, Status::kInvalidArgument, "hop", "must be at most",
                  options.hop, EncoderShape::kMaxTokens);
  } else {
    status = CheckArenaSize(arena.size(), plan.bytes, error);
  }
  if (status != Status::kOk) {
    encoder_ = Encoder();
    return status;
  }
  const AudioShape& audio = shape.audio;
  ring_ = FeatureRing(
      audio, encoder_.model().log_mel(), backend,
      Part<std::int16_t>(arena, plan.samples),
      MatrixView<std::int8_t>(Part<std::int8_t>(arena, plan.features),
                              AudioFrames(audio, AudioRows(shape)), audio.bins),
      encoder_.buffer<void>(kFrameScratch));
  scores_ = Part<std::uint16_t>(arena, plan.scores);
  const SpotterParams& params = encoder_.model().spotter_params();
  detector_ = EventDetector(params, shape.classes, audio.sample_rate,
                            Part<std::uint16_t>(arena, plan.detector));
  options_ = options;
  hop_frames_ = std::uint32_t{options.hop != 0 ? options.hop : params.hop} *
                audio.patch_stride;
  SetThresholds();
  Reset();
  return Status::kOk;
}

void KeywordSpotter::SetThresholds() noexcept {
  const std::uint8_t* const given = model().spotter_params().thresholds;
  for (std::size_t i = 0; i < model().shape().classes; ++i) {
    std::uint16_t threshold = SpotterParams::kDefaultThreshold;
    if (given != nullptr) {
      threshold = LoadU16(given + 2 * i);
    } else if (IsNoWord(model().label(i))) {
      threshold = SpotterParams::kNever;
    }
    detector_.set_threshold(i, threshold);
  }
}

Status KeywordSpotter::set_threshold(std::size_t word,
                                     std::uint16_t threshold) noexcept {
  if (!encoder_.initialized()) return Status::kNotInitialized;
  if (word >= model().shape().classes) return Status::kInvalidArgument;
  detector_.set_threshold(word, threshold);
  return Status::kOk;
}

void KeywordSpotter::Reset() noexcept {
  ring_.Reset();
  detector_.Reset();
  samples_ = 0;
  look_start_ = 0;
  const EncoderShape& shape = model().shape();
  frames_left_ = static_cast<std::uint32_t>(
      encoder_.initialized() ? AudioFrames(shape.audio, AudioRows(shape)) : 0);
}

Status KeywordSpotter::Push(Span<const std::int16_t> pcm) noexcept {
  if (!encoder_.initialized()) return Status::kNotInitialized;
  if (pcm.data() == nullptr && !pcm.empty()) return Status::kNullPointer;
  samples_ += pcm.size();
  while (ring_.NextFrame(&pcm)) {
    if (--frames_left_ == 0) LookNow();
  }
  return Status::kOk;
}

void KeywordSpotter::LookNow() noexcept {
  const std::uint64_t start = look_start_;
  // Before the encoder runs: a call that is abandoned there loses its look, and
  // the next one comes in time.
  frames_left_ = hop_frames_;
  look_start_ += hop();
  const EncoderShape& shape = model().shape();
  const AudioShape& audio = shape.audio;
  const std::size_t rows = AudioRows(shape);
  std::size_t age = AudioFrames(audio, rows);
  encoder_.Start();
  for (std::size_t i = 0; i < rows; ++i, age -= audio.patch_stride) {
    ring_.CopyFrames(age, audio.patch_frames, encoder_.NextRow());
  }
  SpotterLook look{};
  // It cannot fail: there are rows.
  static_cast<void>(encoder_.Run(&look.logits));
  const Span<std::uint16_t> scores(scores_, shape.classes);
  ClassScores(look.logits, scores);
  look.start = start;
  look.end = start + WindowSamples(shape);
  look.scores = scores;
  KeywordEvent event;
  const bool heard = detector_.Look(scores, look.start, look.end, &event);
  look.smoothed = detector_.smoothed();
  if (options_.on_look != nullptr) options_.on_look(options_.context, look);
  if (heard && options_.on_event != nullptr) {
    options_.on_event(options_.context, event);
  }
}

}  // namespace atto
