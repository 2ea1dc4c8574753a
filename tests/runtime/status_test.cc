// Every Status can be had from a call, and its text helps.
#include "ops/base/status.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/c_api.h"
#include "runtime/classifier.h"
#include "tests/support/model_file.h"

namespace atto {
namespace {

using testing::Bytes;
using testing::FileBytes;
using testing::ModelFile;

// A classifier over `bytes`, in an arena that is `arena_error` bytes too small.
class Attempt {
 public:
  explicit Attempt(const Bytes& bytes, std::size_t misalignment = 0,
                   std::size_t arena_error = 0)
      : file_(bytes, misalignment), arena_(Bytes(kArenaBytes)) {
    EncoderShape shape;
    std::size_t size = kArenaBytes;
    if (arena_error != 0) {
      REQUIRE(Model::ReadShape(file_.span(), &shape) == Status::kOk);
      size = ArenaBytes(shape, DefaultBackend()->memory) - arena_error;
    }
    status = classifier.Init(file_.span(), {arena_.data(), size}, &error);
  }

  TextClassifier classifier;
  Status status;
  ErrorInfo error;

 private:
  static constexpr std::size_t kArenaBytes = 1 << 16;

  FileBytes file_;
  FileBytes arena_;
};

Attempt Damaged(const std::function<void(ModelFile*)>& damage) {
  ModelFile file = testing::MakeSmallModel();
  damage(&file);
  return Attempt(file.Build());
}

Status LabelBeyondTheLast() {
  const FileBytes file(testing::MakeSmallModel().Build());
  FileBytes memory(Bytes(ATTO_TEXT_CLASSIFIER_BYTES));
  FileBytes arena(Bytes(1 << 16));
  atto_text_classifier* classifier = nullptr;
  REQUIRE(atto_text_classifier_init(memory.data(), ATTO_TEXT_CLASSIFIER_BYTES,
                                    file.span().data(), file.span().size(),
                                    arena.data(), arena.span().size(),
                                    &classifier, nullptr) == ATTO_OK);
  const char* label = nullptr;
  std::size_t bytes = 0;
  return static_cast<Status>(atto_label(classifier, 3, &label, &bytes));
}

TEST_CASE("every status can be reached") {
  const Bytes whole = testing::MakeSmallModel().Build();
  std::vector<Attempt> attempts;
  attempts.emplace_back(whole);
  attempts.emplace_back(whole, 1);
  attempts.emplace_back(whole, 0, 1);
  attempts.emplace_back(Bytes{'G', 'G', 'U', 'X'});
  attempts.emplace_back(Bytes(whole.begin(), whole.end() - 1));
  attempts.push_back(Damaged([](ModelFile* file) { file->version = 2; }));
  attempts.push_back(
      Damaged([](ModelFile* file) { file->repair_checksum = false; }));
  attempts.push_back(
      Damaged([](ModelFile* file) { file->RemoveKey("atto.norm"); }));
  attempts.push_back(Damaged(
      [](ModelFile* file) { file->SetNumber("atto.block_count", 65); }));
  attempts.push_back(
      Damaged([](ModelFile* file) { file->RemoveTensor("head.bias"); }));
  attempts.push_back(Damaged(
      [](ModelFile* file) { file->tensor("head.weight").data[0] = 0x80; }));
  attempts.push_back(Damaged([](ModelFile* file) {
    file->SetString("general.architecture", "llama");
  }));

  std::map<Status, int> reached;
  for (const Attempt& attempt : attempts) {
    ++reached[attempt.status];
    if (attempt.status == Status::kOk) continue;
    CAPTURE(static_cast<int>(attempt.status));
    CHECK(attempt.error.status == attempt.status);
    CHECK(attempt.error.subject[0] != '\0');
    CHECK((attempt.error.expectation[0] != '\0') == (ATTO_STATUS_TEXT != 0));
  }
  Classification result;
  TextClassifier never_initialised;
  ++reached[never_initialised.Classify("text", &result)];
  Attempt ready(whole);
  REQUIRE(ready.status == Status::kOk);
  ++reached[ready.classifier.Classify("text", nullptr)];
  ++reached[ready.classifier.Classify("", &result)];
  ++reached[LabelBeyondTheLast()];

  // The numbers are those of the C interface, without a gap: so the last one
  // that has been reached tells whether any has not.
  const int last = static_cast<int>(reached.rbegin()->first);
  for (int i = 0; i <= last; ++i) {
    CAPTURE(i);
    CHECK(reached.count(static_cast<Status>(i)) == 1);
  }
#if ATTO_STATUS_TEXT
  // And there is none behind it.
  CHECK(std::string(StatusName(static_cast<Status>(last + 1))) == "unknown");
#endif
}

TEST_CASE("every status has a name and a sentence of its own, or none has") {
  std::set<std::string> names;
  std::set<std::string> sentences;
  for (int i = 0; i < 256; ++i) {
    const std::string name = StatusName(static_cast<Status>(i));
    const std::string sentence = StatusMessage(static_cast<Status>(i));
    CHECK(name == atto_status_name(static_cast<atto_status>(i)));
    CHECK(sentence == atto_status_message(static_cast<atto_status>(i)));
    CHECK(name.empty() == (ATTO_STATUS_TEXT == 0));
    CHECK(sentence.empty() == (ATTO_STATUS_TEXT == 0));
    if (name.empty() || name == "unknown") continue;
    CHECK(names.insert(name).second);
    CHECK(sentences.insert(sentence).second);
  }
}

}  // namespace
}  // namespace atto
