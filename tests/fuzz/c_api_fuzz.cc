// The C interface, called in any order with any mixture of good and bad
// arguments that a C program can make without lying about its own memory.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/c_api.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/support/model_file.h"

namespace atto::fuzz {
namespace {

using testing::Bytes;
using testing::FileBytes;

constexpr std::size_t kSlots = 3;
constexpr std::size_t kArenaBytes = 1 << 17;
constexpr std::size_t kMaxCalls = 64;

std::vector<FileBytes> MakeModels() {
  std::vector<Bytes> files = {testing::MakeSmallModel().Build(),
                              testing::MakeOtherSmallModel().Build()};
  testing::ModelOptions options;
  options.shape = testing::SmallShape();
  options.shape.pooling = Pooling::kClass;
  options.shape.norm = Norm::kPost;
  files.push_back(testing::MakeModel(options).Build());
  files.push_back(files[0]);
  files.back().back() ^= 1;  // damaged
  files.push_back(files[0]);
  files.back().resize(100);  // cut
  std::vector<FileBytes> models;
  for (const Bytes& file : files) models.emplace_back(file);
  return models;
}

// Memory for one classifier, and what its last init gave.
struct Slot {
  Slot()
      : memory(Bytes(ATTO_TEXT_CLASSIFIER_BYTES)), arena(Bytes(kArenaBytes)) {}

  FileBytes memory;
  FileBytes arena;
  atto_text_classifier* classifier = nullptr;
};

// Null now and then.
template <typename T>
T* Maybe(FuzzInput* input, T* pointer) {
  return input->Index(16) == 15 ? nullptr : pointer;
}

void RequireStatus(atto_status status) {
  Require(status <= ATTO_UNSUPPORTED, "statuses are those of the header");
  Require(atto_status_name(status) != nullptr, "every status has a name");
}

void RequireError(atto_status status, const atto_error* error) {
  RequireStatus(status);
  if (error == nullptr) return;
  Require(error->status == status, "the error has the status");
  Require(error->expectation != nullptr, "the error has an expectation");
  Require(status == ATTO_OK || error->subject[0] != '\0',
          "the error names a subject");
}

void ArenaSize(FuzzInput* input, const FileBytes& model) {
  std::size_t bytes = 77;
  atto_error error;
  atto_error* const where = Maybe(input, &error);
  std::size_t* const to = Maybe(input, &bytes);
  const atto_status status = atto_arena_size(
      Maybe(input, model.span().data()),
      input->Coin() ? model.span().size() : input->Index(model.span().size()),
      to, where);
  RequireError(status, where);
  if (to != nullptr && status != ATTO_NULL_POINTER) {
    Require((bytes != 0) == (status == ATTO_OK), "a size or an error");
  }
}

void Init(FuzzInput* input, const FileBytes& model, Slot* slot) {
  atto_error error;
  atto_error* const where = Maybe(input, &error);
  atto_text_classifier* made = nullptr;
  // Too small or misaligned now and then.
  const auto part = [input](FileBytes* bytes) {
    const std::size_t size = bytes->span().size();
    const std::size_t begin = input->Index(32) == 31 ? input->Index(16) : 0;
    const std::size_t end =
        input->Index(8) == 7 ? input->Size(begin, size) : size;
    return Span<std::uint8_t>(bytes->data() + begin, end - begin);
  };
  const Span<std::uint8_t> memory_part = part(&slot->memory);
  const Span<std::uint8_t> arena = part(&slot->arena);
  std::uint8_t* const memory = Maybe(input, memory_part.data());
  atto_text_classifier** const to = Maybe(input, &made);
  const atto_status status = atto_text_classifier_init(
      memory, memory_part.size(), Maybe(input, model.span().data()),
      model.span().size(), Maybe(input, arena.data()), arena.size(), to, where);
  RequireError(status, where);
  Require((made != nullptr) == (status == ATTO_OK), "a classifier or an error");
  // A call that got as far as the memory has ended what lived there.
  if (status == ATTO_OK) {
    slot->classifier = made;
  } else if (memory != nullptr && to != nullptr) {
    slot->classifier = nullptr;
  }
}

void Classify(FuzzInput* input, Slot* slot) {
  const std::vector<std::uint8_t> text = input->Bytes(input->Index(80));
  atto_classification result;
  atto_text_classifier* const classifier = Maybe(input, slot->classifier);
  atto_classification* const to = Maybe(input, &result);
  const atto_status status = atto_text_classify(
      classifier, Maybe(input, reinterpret_cast<const char*>(text.data())),
      text.size(), to);
  RequireStatus(status);
  Require(classifier != nullptr || status == ATTO_NULL_POINTER,
          "no classifier is an error");
  if (status != ATTO_OK) return;
  Require(result.classes >= 2 && result.label < result.classes,
          "the label is a class");
  Require(result.score == result.scores[result.label], "the score is its own");
  for (std::size_t i = 0; i < result.classes; ++i) {
    Require(result.scores[i] <= ATTO_SCORE_ONE, "scores are at most one");
    Require(result.logits[i] <= result.logits[result.label],
            "the label has the largest logit");
  }
}

void Label(FuzzInput* input, Slot* slot) {
  const char* label = nullptr;
  std::size_t bytes = 0;
  const atto_status status =
      atto_label(Maybe(input, slot->classifier), input->Index(5),
                 Maybe(input, &label), Maybe(input, &bytes));
  RequireStatus(status);
  if (status == ATTO_OK) {
    Require(label != nullptr && bytes >= 1, "a class has a label");
  }
}

}  // namespace
}  // namespace atto::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace atto::fuzz;
  static const std::vector<atto::testing::FileBytes> models = MakeModels();
  FuzzInput input(data, size);
  Slot slots[kSlots];
  for (std::size_t call = 0; call < kMaxCalls && !input.empty(); ++call) {
    Slot* const slot = &slots[input.Index(kSlots)];
    switch (input.Index(8)) {
      case 0: ArenaSize(&input, models[input.Index(models.size())]); break;
      case 1:
      case 2: Init(&input, models[input.Index(models.size())], slot); break;
      case 3: Label(&input, slot); break;
      default: Classify(&input, slot);
    }
  }
  return 0;
}
