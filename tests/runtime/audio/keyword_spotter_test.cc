#include "runtime/audio/keyword_spotter.h"

#include <doctest/doctest.h>

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/classifier.h"
#include "tests/support/aligned_bytes.h"
#include "tests/support/backends.h"
#include "tests/support/golden.h"
#include "tests/support/model_file.h"

namespace atto {
namespace {

using testing::AlignedBytes;
using testing::GoldenCase;

using Samples = std::vector<std::int16_t>;

AlignedBytes ReadModel(const std::string& name) {
  return AlignedBytes::Read(testing::SourceDir() + "/tests/golden/spotters/" +
                            name + ".gguf");
}

EncoderShape ShapeOf(AlignedBytes* model) {
  EncoderShape shape;
  REQUIRE(Model::ReadShape(model->span(), &shape) == Status::kOk);
  return shape;
}

// What a spotter has found, as the golden files write it.
struct Found {
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> logits;
  std::vector<std::int64_t> events;
};

struct LoadedSpotter {
  explicit LoadedSpotter(const std::string& name, std::uint16_t hop = 0,
                         const Backend* backend = DefaultBackend())
      : file(ReadModel(name)),
        arena(SpotterArenaBytes(ShapeOf(&file), backend->memory)) {
    options.hop = hop;
    options.context = &found;
    options.on_look = [](void* context, const SpotterLook& look) {
      auto* const to = static_cast<Found*>(context);
      to->starts.push_back(static_cast<std::int64_t>(look.start));
      for (const std::int16_t logit : look.logits) to->logits.push_back(logit);
    };
    options.on_event = [](void* context, const KeywordEvent& event) {
      auto* const to = static_cast<Found*>(context);
      for (const std::uint64_t number :
           {std::uint64_t{event.word}, std::uint64_t{event.score}, event.start,
            event.end, event.detected}) {
        to->events.push_back(static_cast<std::int64_t>(number));
      }
    };
    REQUIRE(spotter.Init(file.span(), arena.span(), options, nullptr,
                         backend) == Status::kOk);
  }

  void Push(const Samples& pcm, std::size_t chunk) {
    for (std::size_t at = 0; at < pcm.size(); at += chunk) {
      const std::size_t left = pcm.size() - at;
      // A copy of its own, so that a sanitizer sees the first sample beyond.
      const Samples part(pcm.begin() + static_cast<std::ptrdiff_t>(at),
                         pcm.begin() + static_cast<std::ptrdiff_t>(
                                           at + (left < chunk ? left : chunk)));
      // Not an assertion a chunk: there are many.
      if (spotter.Push({part.data(), part.size()}) != Status::kOk) {
        FAIL("the samples were refused");
      }
    }
  }

  AlignedBytes file;
  AlignedBytes arena;
  Found found;
  SpotterOptions options;
  KeywordSpotter spotter;
};

const char* const kNames[] = {"mean", "class"};

TEST_CASE("spotter: looks and events of the reference, on every backend") {
  std::size_t events = 0;
  for (const char* const name : kNames) {
    const auto cases = testing::ReadGolden(std::string("spotters/") + name);
    const GoldenCase& golden = cases.front();
    const auto pcm = golden.Values<std::int16_t>("pcm");
    for (const Backend& backend : testing::RunnableBackends()) {
      CAPTURE(name);
      CAPTURE(backend.name);
      LoadedSpotter loaded(name, 0, &backend);
      loaded.Push(pcm, pcm.size());
      CHECK(loaded.found.starts == golden.Array("starts").values);
      CHECK(loaded.found.logits == golden.Array("logits").values);
      CHECK(loaded.found.events == golden.Array("events").values);
      CHECK(loaded.spotter.samples() == pcm.size());
      events += loaded.found.events.size();
    }
  }
  CHECK(events > 0);
}

TEST_CASE("spotter: how a stream is cut does not matter") {
  for (const char* const name : kNames) {
    const auto cases = testing::ReadGolden(std::string("spotters/") + name);
    const GoldenCase& golden = cases.front();
    const auto pcm = golden.Values<std::int16_t>("pcm");
    LoadedSpotter loaded(name);
    for (const std::size_t chunk : {1U, 7U, 160U, 16000U}) {
      CAPTURE(name);
      CAPTURE(chunk);
      loaded.found = Found();
      loaded.spotter.Reset();
      loaded.Push(pcm, chunk);
      CHECK(loaded.found.starts == golden.Array("starts").values);
      CHECK(loaded.found.logits == golden.Array("logits").values);
      CHECK(loaded.found.events == golden.Array("events").values);
    }
  }
}

TEST_CASE("spotter: a look sees what a classifier of the clip sees") {
  for (const char* const name : kNames) {
    CAPTURE(name);
    const auto cases = testing::ReadGolden(std::string("spotters/") + name);
    const auto pcm = cases.front().Values<std::int16_t>("pcm");
    LoadedSpotter loaded(name, 1);
    loaded.Push(pcm, 1000);
    AlignedBytes arena(ArenaBytes(ShapeOf(&loaded.file)));
    AudioClassifier classifier;
    REQUIRE(classifier.Init(loaded.file.span(), arena.span()) == Status::kOk);
    const std::size_t classes = classifier.model().shape().classes;
    REQUIRE(loaded.found.starts.size() > 20);
    for (std::size_t i = 0; i < loaded.found.starts.size(); ++i) {
      Classification result;
      const auto start = static_cast<std::size_t>(loaded.found.starts[i]);
      REQUIRE(start == i * loaded.spotter.hop());
      REQUIRE(classifier.Classify({pcm.data() + start, loaded.spotter.window()},
                                  &result) == Status::kOk);
      const std::vector<std::int64_t> logits(result.logits.begin(),
                                             result.logits.end());
      const auto from = loaded.found.logits.begin() +
                        static_cast<std::ptrdiff_t>(i * classes);
      CHECK(logits == std::vector<std::int64_t>(
                          from, from + static_cast<std::ptrdiff_t>(classes)));
    }
  }
}

TEST_CASE("clips: the reference's logits, short and long clips") {
  for (const char* const name : kNames) {
    AlignedBytes file = ReadModel(name);
    AlignedBytes arena(ArenaBytes(ShapeOf(&file)));
    AudioClassifier classifier;
    REQUIRE(classifier.Init(file.span(), arena.span()) == Status::kOk);
    for (const GoldenCase& golden :
         testing::ReadGolden(std::string("spotters/") + name)) {
      if (golden.name == "stream") continue;
      CAPTURE(golden.name);
      const auto pcm = golden.Values<std::int16_t>("pcm");
      Classification result;
      REQUIRE(classifier.Classify({pcm.data(), pcm.size()}, &result) ==
              Status::kOk);
      CHECK(std::vector<std::int64_t>(result.logits.begin(),
                                      result.logits.end()) ==
            golden.Array("logits").values);
      CHECK(result.tokens == AudioRows(classifier.model().shape()));
      const std::size_t window = classifier.window();
      CHECK(result.cut_samples ==
            (pcm.size() > window ? pcm.size() - window : 0));
      CHECK(result.score == result.scores[result.label]);
    }
  }
}

TEST_CASE("clips: what cannot be classified") {
  AudioClassifier classifier;
  Classification result;
  const std::int16_t sample = 5;
  CHECK(classifier.Classify({&sample, 1}, &result) == Status::kNotInitialized);
  AlignedBytes file = ReadModel("mean");
  AlignedBytes arena(ArenaBytes(ShapeOf(&file)));
  REQUIRE(classifier.Init(file.span(), arena.span()) == Status::kOk);
  CHECK(classifier.Classify({&sample, 1}, nullptr) == Status::kNullPointer);
  CHECK(classifier.Classify({nullptr, 1}, &result) == Status::kNullPointer);
  CHECK(classifier.Classify({&sample, 0}, &result) == Status::kEmptyInput);
  CHECK(classifier.Classify({}, &result) == Status::kEmptyInput);
  CHECK(classifier.Classify({&sample, 1}, &result) == Status::kOk);
}

std::jmp_buf away;

// Whether Push was left by a longjmp.
bool Abandoned(KeywordSpotter* spotter, Span<const std::int16_t> pcm) {
  if (setjmp(away) != 0) return true;
  static_cast<void>(spotter->Push(pcm));
  return false;
}

TEST_CASE("spotter: a call that is abandoned in the encoder costs one look") {
  const auto cases = testing::ReadGolden("spotters/mean");
  const auto pcm = cases.front().Values<std::int16_t>("pcm");
  LoadedSpotter loaded("mean");
  loaded.Push(pcm, pcm.size());
  const std::vector<std::int64_t> starts = loaded.found.starts;
  REQUIRE(starts.size() > 2);

  loaded.found = Found();
  loaded.spotter.Reset();
  const EncoderShape& shape = loaded.spotter.model().shape();
  std::vector<std::int8_t> buffer(AttentionTapBytes(shape));
  AttentionTap tap;
  tap.on_row = [](void*, const AttentionRow&) { std::longjmp(away, 1); };
  tap.buffer = {buffer.data(), buffer.size()};
  REQUIRE(loaded.spotter.encoder().set_tap(tap) == Status::kOk);
  // Up to the last sample of the first look.
  const std::size_t first = WindowSamples(shape);
  REQUIRE(Abandoned(&loaded.spotter, {pcm.data(), first}));
  REQUIRE(loaded.spotter.encoder().set_tap({}) == Status::kOk);
  const Samples rest(pcm.begin() + static_cast<std::ptrdiff_t>(first),
                     pcm.end());
  loaded.Push(rest, 1000);
  CHECK(loaded.found.starts ==
        std::vector<std::int64_t>(starts.begin() + 1, starts.end()));
}

TEST_CASE("spotter: what Init refuses") {
  AlignedBytes file = ReadModel("mean");
  AlignedBytes arena(SpotterArenaBytes(ShapeOf(&file)));
  KeywordSpotter spotter;
  ErrorInfo error;
  const std::int16_t sample = 5;
  spotter.Reset();  // harmless
  CHECK(spotter.samples() == 0);
  CHECK(spotter.Push({&sample, 1}) == Status::kNotInitialized);
  CHECK(spotter.set_threshold(0, 1) == Status::kNotInitialized);
  const std::size_t needed =
      SpotterArenaBytes(ShapeOf(&file), DefaultBackend()->memory);
  // Too small for the spotter, or even for its encoder.
  for (const std::size_t bytes : {needed - 1, std::size_t{16}}) {
    CHECK(spotter.Init(file.span(), arena.span().subspan(0, bytes), {},
                       &error) == Status::kBufferTooSmall);
    CHECK(error.found == static_cast<std::int64_t>(bytes));
    CHECK(error.expected == static_cast<std::int64_t>(needed));
  }
  SpotterOptions options;
  options.hop = 513;
  CHECK(spotter.Init(file.span(), arena.span(), options, &error) ==
        Status::kInvalidArgument);
  CHECK(std::string(error.subject) == "hop");
  CHECK(spotter.Push({&sample, 1}) == Status::kNotInitialized);
  const testing::FileBytes text(testing::MakeSmallModel().Build());
  EncoderShape shape;
  REQUIRE(Model::ReadShape(text.span(), &shape) == Status::kOk);
  AlignedBytes text_arena(ArenaBytes(shape) + 4096);
  CHECK(spotter.Init(text.span(), text_arena.span(), {}, &error) ==
        Status::kUnsupported);
  CHECK(std::string(error.subject) == "atto.input");
  AudioClassifier classifier;
  CHECK(classifier.Init(text.span(), text_arena.span(), &error) ==
        Status::kUnsupported);
  TextClassifier text_classifier;
  CHECK(text_classifier.Init(file.span(), arena.span(), &error) ==
        Status::kUnsupported);
  REQUIRE(spotter.Init(file.span(), arena.span(), {}) == Status::kOk);
  CHECK(spotter.Push({nullptr, 1}) == Status::kNullPointer);
  CHECK(spotter.Push({}) == Status::kOk);
  CHECK(spotter.set_threshold(4, 1) == Status::kInvalidArgument);
}

TEST_CASE("spotter: thresholds are the model's, or defaults by label") {
  LoadedSpotter mean("mean");
  CHECK(mean.spotter.threshold(0) == 12000);
  CHECK(mean.spotter.threshold(2) == SpotterParams::kNever);
  LoadedSpotter by_label("class");
  CHECK(by_label.spotter.threshold(0) == 65535);
  CHECK(by_label.spotter.threshold(1) == 24576);
  // A threshold of the user's holds, over a reset too.
  const auto cases = testing::ReadGolden("spotters/mean");
  const auto pcm = cases.front().Values<std::int16_t>("pcm");
  for (std::size_t i = 0; i < 4; ++i) {
    REQUIRE(mean.spotter.set_threshold(i, 32769) == Status::kOk);
  }
  mean.spotter.Reset();
  mean.Push(pcm, 999);
  CHECK(mean.found.events.empty());
  CHECK_FALSE(mean.found.starts.empty());
}

TEST_CASE("spotter: streams without callbacks, and loud nonsense") {
  AlignedBytes file = ReadModel("class");
  AlignedBytes arena(SpotterArenaBytes(ShapeOf(&file)));
  KeywordSpotter spotter;
  REQUIRE(spotter.Init(file.span(), arena.span(), {}) == Status::kOk);
  Samples square(20000);
  for (std::size_t i = 0; i < square.size(); ++i) {
    square[i] = i / 7 % 2 == 0 ? 32767 : -32768;
  }
  CHECK(spotter.Push({square.data(), square.size()}) == Status::kOk);
  CHECK(spotter.samples() == square.size());
}

}  // namespace
}  // namespace atto
