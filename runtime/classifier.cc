#include "runtime/classifier.h"

#include <cstring>
#include <new>

#include "ops/softmax/softmax.h"

namespace atto {
namespace {

// Runs the encoder over its rows: logits, scores, label.
Status Decide(Encoder* encoder, Classification* classification) noexcept {
  Span<const std::int16_t> logits;
  const Status status = encoder->Run(&logits);
  if (status != Status::kOk) return status;
  const Span<std::uint16_t> scores(encoder->buffer<std::uint16_t>(kClassScores),
                                   logits.size());
  ClassScores(logits, scores);
  std::size_t best = 0;
  for (std::size_t i = 1; i < logits.size(); ++i) {
    if (logits[i] > logits[best]) best = i;
  }
  classification->label = static_cast<std::uint16_t>(best);
  classification->score = scores[best];
  classification->scores = scores;
  classification->logits = logits;
  return Status::kOk;
}

// Lets go of an encoder whose model does not take `input`.
Status CheckInput(Input input, Sentence expectation, ErrorInfo* error,
                  Encoder* encoder) noexcept {
  if (encoder->model().shape().input == input) return Status::kOk;
  *encoder = Encoder();
  return Fail(error, Status::kUnsupported, "atto.input", expectation, 0, 0);
}

// The end of an AudioClassifier's Init, whatever its model came as.
Status FinishAudio(Status status, ErrorInfo* error, Encoder* encoder) noexcept {
  if (status != Status::kOk) return status;
  return CheckInput(Input::kAudio, "must be audio for an audio classifier",
                    error, encoder);
}

}  // namespace

Status TextClassifier::Init(Span<const std::uint8_t> model,
                            Span<std::uint8_t> arena, ErrorInfo* error,
                            const Backend* backend) noexcept {
  // The reader refuses all but text.
  return encoder_.Init(model, arena, error, backend, kTextModel);
}

Status TextClassifier::Init(const EmbeddedModel& model,
                            Span<std::uint8_t> arena, ErrorInfo* error,
                            const Backend* backend) noexcept {
  const Status status = encoder_.Init(model, arena, error, backend);
  if (status != Status::kOk) return status;
  return CheckInput(Input::kText, "must be text for a text classifier", error,
                    &encoder_);
}

Status TextClassifier::Classify(Span<const char> text,
                                Classification* classification) noexcept {
  if (!encoder_.initialized()) return Status::kNotInitialized;
  if (classification == nullptr || (text.data() == nullptr && !text.empty())) {
    return Status::kNullPointer;
  }
  *classification = Classification();
  const Embedding& embedding = model().embedding();
  encoder_.Start();
  // In the arena rather than on the stack: its bytes serve keys and values
  // afterwards.
  auto* const tokenizer =
      new (encoder_.buffer<void>(kTokenizer)) Tokenizer(Tokenize(text));
  Token token;
  while (tokenizer->Next(&token)) {
    std::int8_t* const row = encoder_.NextRow();
    if (row == nullptr) {
      ++classification->cut_tokens;
      continue;
    }
    ++classification->tokens;
    encoder_.backend().embedding_sum_s8(embedding, token.rows, row);
  }
  classification->cut_features = tokenizer->cut_features();
  classification->cut_chars = tokenizer->cut_chars();
  classification->invalid_utf8 = tokenizer->invalid_utf8();

  return Decide(&encoder_, classification);
}

Status TextClassifier::Classify(const char* text,
                                Classification* classification) noexcept {
  if (text == nullptr) return Status::kNullPointer;
  return Classify(Span<const char>(text, std::strlen(text)), classification);
}

Status AudioClassifier::Init(Span<const std::uint8_t> model,
                             Span<std::uint8_t> arena, ErrorInfo* error,
                             const Backend* backend) noexcept {
  const Status status = encoder_.Init(model, arena, error, backend);
  return FinishAudio(status, error, &encoder_);
}

Status AudioClassifier::Init(const EmbeddedModel& model,
                             Span<std::uint8_t> arena, ErrorInfo* error,
                             const Backend* backend) noexcept {
  const Status status = encoder_.Init(model, arena, error, backend);
  return FinishAudio(status, error, &encoder_);
}

// Features of one frame of the clip, which zeros follow.
void AudioClassifier::Features(Span<const std::int16_t> pcm, std::size_t frame,
                               std::int8_t* y) noexcept {
  const AudioShape& audio = model().shape().audio;
  const std::size_t start = frame * audio.hop_length;
  const std::size_t left = start < pcm.size() ? pcm.size() - start : 0;
  const std::int16_t* samples = left == 0 ? nullptr : pcm.data() + start;
  if (left < audio.frame_length) {
    auto* const padded = encoder_.buffer<std::int16_t>(kFrameSamples);
    if (left != 0) std::memcpy(padded, samples, left * sizeof(*padded));
    std::memset(padded + left, 0,
                (audio.frame_length - left) * sizeof(*padded));
    samples = padded;
  }
  LogMelKernel(encoder_.backend())(model().log_mel(), samples, y,
                                   encoder_.buffer<void>(kFrameScratch));
}

Status AudioClassifier::Classify(Span<const std::int16_t> pcm,
                                 Classification* classification) noexcept {
  if (!encoder_.initialized()) return Status::kNotInitialized;
  if (classification == nullptr || (pcm.data() == nullptr && !pcm.empty())) {
    return Status::kNullPointer;
  }
  *classification = Classification();
  if (pcm.empty()) return Status::kEmptyInput;
  if (pcm.size() > window()) {
    classification->cut_samples = pcm.size() - window();
    pcm = pcm.subspan(0, window());
  }
  const EncoderShape& shape = model().shape();
  const AudioShape& audio = shape.audio;
  const std::size_t bins = audio.bins;
  // The frames of the next row; neighbouring rows share some of them.
  std::int8_t* const frames = encoder_.buffer<std::int8_t>(kRowFrames);
  std::size_t computed = 0;
  encoder_.Start();
  for (std::size_t i = 0; i < AudioRows(shape); ++i) {
    const std::size_t first = i * audio.patch_stride;
    const std::size_t kept = computed - first;
    std::memmove(frames, frames + (audio.patch_frames - kept) * bins,
                 kept * bins);
    for (; computed < first + audio.patch_frames; ++computed) {
      Features(pcm, computed, frames + (computed - first) * bins);
    }
    std::memcpy(encoder_.NextRow(), frames, shape.d_input);
    ++classification->tokens;
  }
  return Decide(&encoder_, classification);
}

const char* backend_name() noexcept {
  const Backend* const backend = DefaultBackend();
  return backend != nullptr ? backend->name : "none";
}

}  // namespace atto
