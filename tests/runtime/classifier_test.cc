#include "runtime/classifier.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/support/aligned_bytes.h"
#include "tests/support/golden.h"

namespace atto {
namespace {

using testing::AlignedBytes;

AlignedBytes ReadModel(const char* name) {
  return AlignedBytes::Read(testing::SourceDir() + "/tests/golden/models/" +
                            name + ".gguf");
}

AlignedBytes ArenaFor(AlignedBytes* model) {
  EncoderShape shape;
  REQUIRE(Model::ReadShape(model->span(), &shape) == Status::kOk);
  return AlignedBytes(ArenaBytes(shape));
}

struct LoadedClassifier {
  explicit LoadedClassifier(const char* name)
      : file(ReadModel(name)), arena(ArenaFor(&file)) {
    REQUIRE(classifier.Init(file.span(), arena.span()) == Status::kOk);
  }
  AlignedBytes file;
  AlignedBytes arena;
  TextClassifier classifier;
};

const char* const kTextModels[] = {"pre_mean_gelu", "post_class_relu"};

TEST_CASE("classifier: the result is whole and repeats exactly") {
  for (const char* const name : kTextModels) {
    CAPTURE(name);
    LoadedClassifier loaded(name);
    Classification first;
    REQUIRE(loaded.classifier.Classify("meet me at the station at noon",
                                       &first) == Status::kOk);
    const std::size_t classes = loaded.classifier.model().shape().classes;
    REQUIRE(first.scores.size() == classes);
    REQUIRE(first.logits.size() == classes);
    CHECK(first.tokens == 7);
    CHECK(first.cut_tokens == 0);
    CHECK(first.invalid_utf8 == 0);
    CHECK(first.score == first.scores[first.label]);
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < classes; ++i) {
      sum += first.scores[i];
      CHECK(first.logits[i] <= first.logits[first.label]);
    }
    // Each score is rounded on its own.
    CHECK(sum + classes >= kScoreOne);
    CHECK(sum <= kScoreOne + classes);

    const std::vector<std::int16_t> logits(first.logits.begin(),
                                           first.logits.end());
    Classification other;
    REQUIRE(loaded.classifier.Classify("something else", &other) ==
            Status::kOk);
    Classification again;
    REQUIRE(loaded.classifier.Classify(
                std::string("meet me at the station at noon").c_str(),
                &again) == Status::kOk);
    CHECK(std::vector<std::int16_t>(again.logits.begin(), again.logits.end()) ==
          logits);
  }
}

TEST_CASE("classifier: a result that nobody has filled is empty") {
  const Classification classification;
  CHECK(classification.label == 0);
  CHECK(classification.score == 0);
  CHECK(classification.scores.empty());
  CHECK(classification.logits.empty());
  CHECK(classification.tokens == 0);
  CHECK(classification.cut_tokens == 0);
  CHECK(classification.cut_features == 0);
  CHECK(classification.cut_chars == 0);
  CHECK(classification.invalid_utf8 == 0);
  CHECK(classification.cut_samples == 0);
}

TEST_CASE("classifier: a score is a probability in units of 2^-15") {
  CHECK(ScoreToFloat(0) == 0.0F);
  CHECK(ScoreToFloat(1) == 1.0F / 32768);
  CHECK(ScoreToFloat(24576) == 0.75F);
  CHECK(ScoreToFloat(kScoreOne) == 1.0F);
}

TEST_CASE("classifier: long text is cut and the cut is counted") {
  for (const char* const name : kTextModels) {
    CAPTURE(name);
    LoadedClassifier loaded(name);
    const EncoderShape& shape = loaded.classifier.model().shape();
    const std::size_t limit =
        shape.tokens - (shape.pooling == Pooling::kClass ? 1U : 0U);
    std::string text;
    for (std::size_t i = 0; i < limit; ++i) text += "word ";
    Classification full;
    REQUIRE(loaded.classifier.Classify(text.c_str(), &full) == Status::kOk);
    CHECK(full.tokens == limit);
    CHECK(full.cut_tokens == 0);
    const std::vector<std::int16_t> logits(full.logits.begin(),
                                           full.logits.end());
    text += "and five words too many";
    Classification cut;
    REQUIRE(loaded.classifier.Classify(text.c_str(), &cut) == Status::kOk);
    CHECK(cut.tokens == limit);
    CHECK(cut.cut_tokens == 5);
    CHECK(std::vector<std::int16_t>(cut.logits.begin(), cut.logits.end()) ==
          logits);
  }
}

TEST_CASE("classifier: text without a token is an error, not a label") {
  LoadedClassifier loaded("pre_mean_gelu");
  for (const char* const text : {"", " ", "\t\r\n  "}) {
    Classification classification;
    CHECK(loaded.classifier.Classify(text, &classification) ==
          Status::kEmptyInput);
    CHECK(classification.tokens == 0);
  }
  // And the next message is not harmed by it.
  Classification classification;
  CHECK(loaded.classifier.Classify("hello", &classification) == Status::kOk);
}

TEST_CASE("classifier: ill-formed UTF-8 is read and counted") {
  LoadedClassifier loaded("pre_mean_gelu");
  Classification classification;
  REQUIRE(loaded.classifier.Classify("ok \xff\xfe ok \xc3", &classification) ==
          Status::kOk);
  CHECK(classification.invalid_utf8 == 3);
}

TEST_CASE("classifier: what no feature sees of a long URL is counted") {
  LoadedClassifier loaded("pre_mean_gelu");
  Classification classification;
  const std::string text = "http://a.com/" + std::string(100, 'b');
  REQUIRE(loaded.classifier.Classify(text.c_str(), &classification) ==
          Status::kOk);
  const std::size_t seen =
      loaded.classifier.model().text_params().max_word_chars;
  CHECK(classification.cut_chars == 100 - seen);
}

TEST_CASE("classifier: wrong use has a status") {
  TextClassifier never_initialised;
  Classification classification;
  CHECK(never_initialised.Classify("text", &classification) ==
        Status::kNotInitialized);

  LoadedClassifier loaded("pre_mean_gelu");
  const char* const no_text = nullptr;
  CHECK(loaded.classifier.Classify(no_text, &classification) ==
        Status::kNullPointer);
  CHECK(loaded.classifier.Classify("text", nullptr) == Status::kNullPointer);
  CHECK(loaded.classifier.Classify(Span<const char>(nullptr, 3),
                                   &classification) == Status::kNullPointer);

  AlignedBytes audio = ReadModel("pre_class_relu");
  AlignedBytes arena = ArenaFor(&audio);
  TextClassifier classifier;
  ErrorInfo error;
  CHECK(classifier.Init(audio.span(), arena.span(), &error) ==
        Status::kUnsupported);
  CHECK(std::string(error.subject) == "atto.input");
  CHECK(classifier.Classify("text", &classification) ==
        Status::kNotInitialized);
}

TEST_CASE("classifier: two of them share one model") {
  LoadedClassifier a("pre_mean_gelu");
  AlignedBytes arena = ArenaFor(&a.file);
  TextClassifier b;
  REQUIRE(b.Init(a.file.span(), arena.span()) == Status::kOk);
  Classification from_a;
  Classification from_b;
  REQUIRE(a.classifier.Classify("the same words", &from_a) == Status::kOk);
  REQUIRE(b.Classify("other words before", &from_b) == Status::kOk);
  REQUIRE(b.Classify("the same words", &from_b) == Status::kOk);
  for (std::size_t i = 0; i < from_a.logits.size(); ++i) {
    CHECK(from_a.logits[i] == from_b.logits[i]);
  }
}

TEST_CASE("classifier: a backend has a name") {
  CHECK(std::string(backend_name()) == DefaultBackend()->name);
  CHECK(std::string(Backends()[0]->name) == "ref");
  CHECK(FindBackend("ref") == Backends()[0]);
  CHECK(FindBackend("abacus") == nullptr);
}

}  // namespace
}  // namespace atto
