// Text or a clip of audio in, label out.
#ifndef ATTO_RUNTIME_CLASSIFIER_H_
#define ATTO_RUNTIME_CLASSIFIER_H_

#include <cstddef>
#include <cstdint>

#include "ops/base/span.h"
#include "ops/base/status.h"
#include "runtime/encoder.h"
#include "runtime/error_info.h"
#include "runtime/memory/arena.h"
#include "runtime/text/tokenizer.h"

namespace atto {

// A score of one: certainty. Scores have 15 fraction bits.
constexpr std::uint16_t kScoreOne = 32768;

// A score as a probability in [0, 1].
constexpr float ScoreToFloat(std::uint16_t score) noexcept {
  return static_cast<float>(score) * (1.0F / kScoreOne);
}

// Views point into the arena and stay valid until the classifier's next call.
struct Classification {
  std::uint16_t label = 0;           // class with the largest logit
  std::uint16_t score = 0;           // of that class, 0..kScoreOne
  Span<const std::uint16_t> scores;  // [c], of all classes; sum about kScoreOne
  Span<const std::int16_t> logits;   // [c], units of 1/256 nat
  std::size_t tokens = 0;            // that the encoder saw
  std::size_t cut_tokens = 0;        // beyond the model's n_max, not looked at
  std::size_t cut_features = 0;      // n-grams beyond the most that a token has
  std::size_t cut_chars = 0;         // of URLs and numbers, in no feature
  std::size_t invalid_utf8 = 0;      // ill-formed sequences, read as U+FFFD
  std::size_t cut_samples = 0;       // of a clip, beyond the model's window
};

class TextClassifier {
 public:
  // `model`: a model file with text input, aligned to Model::kAlignment; kept
  // and read in place. `arena`: at least ArenaBytes(shape) bytes, aligned to
  // kArenaAlignment (an Arena<...> is); kept. The one call that validates. On
  // failure `error`, if given, names the culprit.
  Status Init(Span<const std::uint8_t> model, Span<std::uint8_t> arena,
              ErrorInfo* error = nullptr,
              const Backend* backend = DefaultBackend()) noexcept;

  // The same for a model that atto_embed_model has proved: checks its bytes'
  // CRC-32 alone, and needs no reader.
  Status Init(const EmbeddedModel& model, Span<std::uint8_t> arena,
              ErrorInfo* error = nullptr,
              const Backend* backend = DefaultBackend()) noexcept;

  // Any bytes are legal text; ill-formed UTF-8 and what was cut are counted.
  // Time: linear in the text, then a function of the number of tokens.
  // kNotInitialized, kNullPointer; kEmptyInput: no token in the text.
  Status Classify(Span<const char> text,
                  Classification* classification) noexcept;

  // The same for a zero-terminated string.
  Status Classify(const char* text, Classification* classification) noexcept;

  // The tokens that Classify sees: row i of an AttentionRow is token i, or
  // token i - 1 when the model has a class token.
  // Legal: Init has succeeded; `text` outlives the tokenizer.
  Tokenizer Tokenize(Span<const char> text) const noexcept {
    return Tokenizer(model().text_params(), model().fold_table(), text);
  }

  const Model& model() const noexcept { return encoder_.model(); }
  Encoder& encoder() noexcept { return encoder_; }

 private:
  Encoder encoder_;
};

// One clip of audio, one label. For streams: runtime/audio/keyword_spotter.h.
class AudioClassifier {
 public:
  // As TextClassifier::Init, for a model with audio input.
  Status Init(Span<const std::uint8_t> model, Span<std::uint8_t> arena,
              ErrorInfo* error = nullptr,
              const Backend* backend = DefaultBackend()) noexcept;
  Status Init(const EmbeddedModel& model, Span<std::uint8_t> arena,
              ErrorInfo* error = nullptr,
              const Backend* backend = DefaultBackend()) noexcept;

  // `pcm`: mono, at the model's sample rate. A clip that is shorter than the
  // model's window is followed by silence; samples beyond it are not looked at
  // and counted. Time is the same for every clip.
  // kNotInitialized, kNullPointer; kEmptyInput: no sample.
  Status Classify(Span<const std::int16_t> pcm,
                  Classification* classification) noexcept;

  // Samples of the model's window. Legal: Init has succeeded.
  std::size_t window() const noexcept { return WindowSamples(model().shape()); }

  const Model& model() const noexcept { return encoder_.model(); }
  Encoder& encoder() noexcept { return encoder_; }

 private:
  void Features(Span<const std::int16_t> pcm, std::size_t frame,
                std::int8_t* y) noexcept;

  Encoder encoder_;
};

// The name of the backend that Init uses on this CPU; "none" if
// ATTO_FORCE_BACKEND names one that is not there.
const char* backend_name() noexcept;

}  // namespace atto

#endif  // ATTO_RUNTIME_CLASSIFIER_H_
