// Runs an audio model over samples: as a clip, and as a stream cut in any way.
#ifndef ATTO_TESTS_FUZZ_RUN_AUDIO_H_
#define ATTO_TESTS_FUZZ_RUN_AUDIO_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/backend.h"
#include "runtime/audio/keyword_spotter.h"
#include "runtime/classifier.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/support/model_file.h"

namespace atto::fuzz {

// All that a stream has given, in numbers.
struct Heard {
  std::vector<std::uint64_t> all;

  static void OnEvent(void* context, const KeywordEvent& event) {
    Require(event.start < event.end && event.end <= event.detected,
            "an event lies in the stream");
    Add(context, event.word, event.score, event.end);
  }
  static void OnLook(void* context, const SpotterLook& look) {
    for (std::size_t i = 0; i < look.logits.size(); ++i) {
      Require(look.scores[i] <= kScoreOne && look.smoothed[i] <= kScoreOne,
              "scores are at most one");
      Add(context, static_cast<std::uint16_t>(look.logits[i]), look.scores[i],
          look.end);
    }
  }
  static void Add(void* context, std::uint64_t a, std::uint64_t b,
                  std::uint64_t c) {
    std::vector<std::uint64_t>& all = static_cast<Heard*>(context)->all;
    all.insert(all.end(), {a, b, c});
  }
};

// What is heard in `pcm`, cut into pieces of at most `piece` samples.
inline std::vector<std::uint64_t> Listen(Span<const std::uint8_t> file,
                                         const std::vector<std::int16_t>& pcm,
                                         std::size_t piece, std::uint16_t hop,
                                         std::uint16_t threshold,
                                         const Backend& backend) {
  EncoderShape shape;
  Require(Model::ReadShape(file, &shape) == Status::kOk, "a model has a shape");
  // Exactly what it takes, so that a sanitizer sees the first byte beyond.
  testing::FileBytes arena(
      testing::Bytes(SpotterArenaBytes(shape, backend.memory), 0xA5));
  Heard heard;
  SpotterOptions options;
  options.on_event = &Heard::OnEvent;
  options.on_look = &Heard::OnLook;
  options.context = &heard;
  options.hop = hop;
  KeywordSpotter spotter;
  ErrorInfo error;
  Require(spotter.Init(file, {arena.data(), arena.span().size()}, options,
                       &error, &backend) == Status::kOk,
          "every spotter takes an accepted audio model");
  for (std::size_t i = 0; i < shape.classes; ++i) {
    Require(spotter.set_threshold(i, threshold) == Status::kOk,
            "every class has a threshold");
  }
  for (std::size_t at = 0; at < pcm.size(); at += piece) {
    const std::size_t left = pcm.size() - at;
    // A piece of its own, so that a sanitizer sees the first sample beyond.
    const std::vector<std::int16_t> samples(
        pcm.begin() + static_cast<std::ptrdiff_t>(at),
        pcm.begin() +
            static_cast<std::ptrdiff_t>(at + (left < piece ? left : piece)));
    Require(spotter.Push({samples.data(), samples.size()}) == Status::kOk,
            "any samples may come");
  }
  Require(spotter.samples() == pcm.size(), "samples are counted");
  return heard.all;
}

// The logits of a clip on one backend; empty without a sample.
inline std::vector<std::int16_t> ClassifyClip(
    Span<const std::uint8_t> file, const std::vector<std::int16_t>& pcm,
    const Backend& backend) {
  EncoderShape shape;
  Require(Model::ReadShape(file, &shape) == Status::kOk, "a model has a shape");
  testing::FileBytes arena(
      testing::Bytes(ArenaBytes(shape, backend.memory), 0xA5));
  AudioClassifier classifier;
  ErrorInfo error;
  Require(classifier.Init(file, {arena.data(), arena.span().size()}, &error,
                          &backend) == Status::kOk,
          "every backend takes an accepted model");
  Classification result;
  const Status status = classifier.Classify({pcm.data(), pcm.size()}, &result);
  if (status == Status::kEmptyInput && pcm.empty()) return {};
  Require(status == Status::kOk, "any clip has a label");
  Require(result.label < shape.classes, "the label is a class");
  return {result.logits.begin(), result.logits.end()};
}

}  // namespace atto::fuzz

#endif  // ATTO_TESTS_FUZZ_RUN_AUDIO_H_
