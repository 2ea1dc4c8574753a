// The C interface, called in any order with any mixture of good and bad
// arguments that a C program can make without lying about its own memory.
#include <cstddef>
#include <cstdint>
#include <type_traits>
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

// Memory for one object, and what the last init in it gave: at most one.
struct Slot {
  Slot() : memory(Bytes(ATTO_SPOTTER_BYTES)), arena(Bytes(kArenaBytes)) {}

  FileBytes memory;
  FileBytes arena;
  atto_text_classifier* text = nullptr;
  atto_audio_classifier* audio = nullptr;
  atto_spotter* spotter = nullptr;
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
  const auto size = input->Coin() ? &atto_arena_size : &atto_spotter_arena_size;
  const atto_status status = size(
      Maybe(input, model.span().data()),
      input->Coin() ? model.span().size() : input->Index(model.span().size()),
      to, where);
  RequireError(status, where);
  if (to != nullptr && status != ATTO_NULL_POINTER) {
    Require((bytes != 0) == (status == ATTO_OK), "a size or an error");
  }
}

void OnEvent(void* context, const atto_event* event) {
  ++*static_cast<std::size_t*>(context);
  Require(event->start < event->end, "an event takes time");
}

void Init(FuzzInput* input, const FileBytes& model, Slot* slot,
          std::size_t* events) {
  atto_error error;
  atto_error* const where = Maybe(input, &error);
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
  const std::uint8_t* const file = Maybe(input, model.span().data());
  std::uint8_t* const arena_start = Maybe(input, arena.data());
  const std::size_t size = model.span().size();
  // A call that got as far as the memory has ended what lived there.
  const auto init = [&](auto function, auto member, auto... options) {
    std::remove_reference_t<decltype(slot->*member)> made = nullptr;
    auto* const to = Maybe(input, &made);
    const atto_status status =
        function(memory, memory_part.size(), file, size, arena_start,
                 arena.size(), options..., to, where);
    RequireError(status, where);
    Require((made != nullptr) == (status == ATTO_OK), "an object or an error");
    if (memory == nullptr || to == nullptr) return;
    slot->text = nullptr;
    slot->audio = nullptr;
    slot->spotter = nullptr;
    slot->*member = made;
  };
  switch (input->Index(3)) {
    case 0: init(&atto_text_classifier_init, &Slot::text); break;
    case 1: init(&atto_audio_classifier_init, &Slot::audio); break;
    default: {
      void* const context = events;
      init(&atto_spotter_init, &Slot::spotter,
           static_cast<std::uint16_t>(input->In(0, 600)),
           Maybe(input, &OnEvent), context);
    }
  }
}

void RequireResult(atto_status status, const atto_classification& result) {
  RequireStatus(status);
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

std::vector<std::int16_t> DrawSamples(FuzzInput* input) {
  Numbers<std::int16_t> samples(input, input->Size(0, 300), -32768, 32767);
  return {samples.data(), samples.data() + samples.size()};
}

void Classify(FuzzInput* input, Slot* slot) {
  const std::vector<std::uint8_t> text = input->Bytes(input->Index(80));
  atto_classification result;
  RequireResult(atto_text_classify(
                    Maybe(input, slot->text),
                    Maybe(input, reinterpret_cast<const char*>(text.data())),
                    text.size(), Maybe(input, &result)),
                result);
}

void Listen(FuzzInput* input, Slot* slot) {
  const std::vector<std::int16_t> samples = DrawSamples(input);
  atto_classification result;
  std::size_t cut = 0;
  RequireResult(atto_audio_classify(
                    Maybe(input, slot->audio), Maybe(input, samples.data()),
                    samples.size(), Maybe(input, &result), Maybe(input, &cut)),
                result);
  RequireStatus(atto_spotter_push(Maybe(input, slot->spotter),
                                  Maybe(input, samples.data()),
                                  samples.size()));
  if (input->Coin()) RequireStatus(atto_spotter_reset(slot->spotter));
  RequireStatus(atto_spotter_set_threshold(
      Maybe(input, slot->spotter), input->Index(5),
      static_cast<std::uint16_t>(input->In(0, 65535))));
}

void Label(FuzzInput* input, Slot* slot) {
  const char* label = nullptr;
  std::size_t bytes = 0;
  const char** const to = Maybe(input, &label);
  std::size_t* const count = Maybe(input, &bytes);
  const std::size_t index = input->Index(5);
  for (const atto_status status :
       {atto_label(slot->text, index, to, count),
        atto_audio_label(slot->audio, index, to, count),
        atto_spotter_label(slot->spotter, index, to, count)}) {
    RequireStatus(status);
    if (status == ATTO_OK) {
      Require(label != nullptr && bytes >= 1, "a class has a label");
    }
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
  std::size_t events = 0;
  for (std::size_t call = 0; call < kMaxCalls && !input.empty(); ++call) {
    Slot* const slot = &slots[input.Index(kSlots)];
    switch (input.Index(8)) {
      case 0: ArenaSize(&input, models[input.Index(models.size())]); break;
      case 1:
      case 2:
        Init(&input, models[input.Index(models.size())], slot, &events);
        break;
      case 3: Label(&input, slot); break;
      case 4:
      case 5: Listen(&input, slot); break;
      default: Classify(&input, slot);
    }
  }
  return 0;
}
