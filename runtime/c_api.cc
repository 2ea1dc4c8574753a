#include "runtime/c_api.h"

#include <cstring>
#include <new>

#include "runtime/audio/keyword_spotter.h"
#include "runtime/classifier.h"
#include "runtime/version.h"

struct atto_text_classifier {
  atto::TextClassifier classifier;
};

struct atto_audio_classifier {
  atto::AudioClassifier classifier;
};

struct atto_spotter {
  atto::KeywordSpotter spotter;
  void (*on_event)(void* context, const atto_event* event);
  void* context;
};

namespace {

static_assert(sizeof(atto_text_classifier) <= ATTO_TEXT_CLASSIFIER_BYTES);
static_assert(alignof(atto_text_classifier) <= ATTO_ALIGNMENT);
static_assert(sizeof(atto_audio_classifier) <= ATTO_AUDIO_CLASSIFIER_BYTES);
static_assert(alignof(atto_audio_classifier) <= ATTO_ALIGNMENT);
static_assert(sizeof(atto_spotter) <= ATTO_SPOTTER_BYTES);
static_assert(alignof(atto_spotter) <= ATTO_ALIGNMENT);
static_assert(atto::Model::kAlignment <= ATTO_ALIGNMENT);
static_assert(atto::kArenaAlignment <= ATTO_ALIGNMENT);
static_assert(sizeof(atto_error::subject) == atto::ErrorInfo::kMaxSubject);
static_assert(ATTO_SCORE_ONE == atto::kScoreOne);
// The C constants are the C++ ones.
constexpr bool SameValue(int c_status, atto::Status status) noexcept {
  return c_status == static_cast<int>(status);
}
static_assert(SameValue(ATTO_OK, atto::Status::kOk));
static_assert(SameValue(ATTO_NULL_POINTER, atto::Status::kNullPointer));
static_assert(SameValue(ATTO_INVALID_ARGUMENT, atto::Status::kInvalidArgument));
static_assert(SameValue(ATTO_NOT_INITIALIZED, atto::Status::kNotInitialized));
static_assert(SameValue(ATTO_BUFFER_TOO_SMALL, atto::Status::kBufferTooSmall));
static_assert(SameValue(ATTO_MISALIGNED, atto::Status::kMisaligned));
static_assert(SameValue(ATTO_EMPTY_INPUT, atto::Status::kEmptyInput));
static_assert(SameValue(ATTO_BAD_MAGIC, atto::Status::kBadMagic));
static_assert(SameValue(ATTO_BAD_VERSION, atto::Status::kBadVersion));
static_assert(SameValue(ATTO_TRUNCATED, atto::Status::kTruncated));
static_assert(SameValue(ATTO_BAD_CHECKSUM, atto::Status::kBadChecksum));
static_assert(SameValue(ATTO_MISSING_KEY, atto::Status::kMissingKey));
static_assert(SameValue(ATTO_BAD_KEY, atto::Status::kBadKey));
static_assert(SameValue(ATTO_MISSING_TENSOR, atto::Status::kMissingTensor));
static_assert(SameValue(ATTO_BAD_TENSOR, atto::Status::kBadTensor));
static_assert(SameValue(ATTO_UNSUPPORTED, atto::Status::kUnsupported));

atto_status ToC(atto::Status status) noexcept {
  return static_cast<atto_status>(status);
}

// Hands `info` to a C caller who wants it.
atto_status Report(atto::Status status, const atto::ErrorInfo& info,
                   atto_error* error) noexcept {
  if (error != nullptr) {
    error->status = ToC(status);
    std::memcpy(error->subject, info.subject, sizeof(error->subject));
    error->expectation = info.expectation;
    error->found = info.found;
    error->expected = info.expected;
  }
  return ToC(status);
}

atto::Span<const std::uint8_t> Bytes(const void* data,
                                     std::size_t bytes) noexcept {
  return {static_cast<const std::uint8_t*>(data), bytes};
}

atto::Span<std::uint8_t> Arena(void* arena, std::size_t bytes) noexcept {
  return {static_cast<std::uint8_t*>(arena), bytes};
}

// What is null and must not be.
atto_status Missing(const char* what, atto_error* error) noexcept {
  atto::ErrorInfo info;
  return Report(atto::Fail(&info, atto::Status::kNullPointer, what,
                           "must not be null", 0, 0),
                info, error);
}

// Whether an object of `size` bytes may be made in the caller's memory.
atto::Status CheckMemory(const void* memory, std::size_t memory_bytes,
                         std::size_t size, atto::ErrorInfo* info) noexcept {
  if (memory == nullptr) {
    return atto::Fail(info, atto::Status::kNullPointer, "memory",
                      "must not be null", 0, 0);
  }
  if (memory_bytes < size) {
    return atto::Fail(info, atto::Status::kBufferTooSmall, "memory",
                      "bytes must be at least",
                      static_cast<std::int64_t>(memory_bytes),
                      static_cast<std::int64_t>(size));
  }
  const std::size_t misalignment =
      reinterpret_cast<std::uintptr_t>(memory) % ATTO_ALIGNMENT;
  if (misalignment != 0) {
    return atto::Fail(info, atto::Status::kMisaligned, "memory",
                      "address modulo 16 must be",
                      static_cast<std::int64_t>(misalignment), 0);
  }
  static_assert(ATTO_ALIGNMENT == 16, "the sentence above says 16");
  return atto::Status::kOk;
}

std::size_t ClassifierArenaBytes(const atto::EncoderShape& shape) noexcept {
  return atto::ArenaBytes(shape);
}

// 0: no spotter takes such a model.
std::size_t SpotterBytes(const atto::EncoderShape& shape) noexcept {
  return shape.input == atto::Input::kAudio ? atto::SpotterArenaBytes(shape)
                                            : 0;
}

// A size that follows from the model's shape, into *bytes.
atto_status ReadSize(const void* model, std::size_t model_bytes,
                     std::size_t (*size)(const atto::EncoderShape&) noexcept,
                     std::size_t* bytes, atto_error* error) noexcept {
  if (model == nullptr || bytes == nullptr) {
    return Missing(model == nullptr ? "model" : "bytes", error);
  }
  atto::ErrorInfo info;
  atto::EncoderShape shape;
  atto::Status status =
      atto::Model::ReadShape(Bytes(model, model_bytes), &shape, &info);
  *bytes = status == atto::Status::kOk ? size(shape) : 0;
  if (status == atto::Status::kOk && *bytes == 0) {
    status = atto::Fail(&info, atto::Status::kUnsupported, "atto.input",
                        "must be audio for a keyword spotter", 0, 0);
  }
  return Report(status, info, error);
}

atto_classification ToC(const atto::Classification& found) noexcept {
  atto_classification result;
  result.label = found.label;
  result.score = found.score;
  result.classes = static_cast<std::uint16_t>(found.scores.size());
  result.scores = found.scores.data();
  result.logits = found.logits.data();
  result.tokens = found.tokens;
  result.cut_tokens = found.cut_tokens;
  result.cut_features = found.cut_features;
  result.cut_chars = found.cut_chars;
  result.invalid_utf8 = found.invalid_utf8;
  return result;
}

atto_status Label(const atto::Model& model, std::size_t index,
                  const char** label, std::size_t* bytes) noexcept {
  if (index >= model.shape().classes) {
    return ToC(atto::Status::kInvalidArgument);
  }
  const atto::StringView name = model.label(index);
  *label = name.data();
  *bytes = name.size();
  return ToC(atto::Status::kOk);
}

// Hands an event of a spotter to its C caller.
void Forward(void* context, const atto::KeywordEvent& event) noexcept {
  const auto* const spotter = static_cast<const atto_spotter*>(context);
  const atto_event forwarded = {event.word, event.score, event.start, event.end,
                                event.detected};
  spotter->on_event(spotter->context, &forwarded);
}

// A null embedded model: there is not even a file to look at.
template <typename Object>
atto_status NoModel(Object** made, atto_error* error) noexcept {
  if (made != nullptr) *made = nullptr;
  return Missing("model", error);
}

// `model`: a file's bytes or an embedded model.
template <typename Object, typename ModelSource>
atto_status InitClassifier(void* memory, std::size_t memory_bytes,
                           const ModelSource& model, void* arena,
                           std::size_t arena_bytes, Object** classifier,
                           atto_error* error) noexcept {
  if (classifier == nullptr) return Missing("classifier", error);
  *classifier = nullptr;  // until it is made
  atto::ErrorInfo info;
  atto::Status status =
      CheckMemory(memory, memory_bytes, sizeof(Object), &info);
  if (status != atto::Status::kOk) return Report(status, info, error);
  auto* const made = new (memory) Object;
  status = made->classifier.Init(model, Arena(arena, arena_bytes), &info);
  if (status == atto::Status::kOk) *classifier = made;
  return Report(status, info, error);
}

template <typename ModelSource>
atto_status InitSpotter(void* memory, std::size_t memory_bytes,
                        const ModelSource& model, void* arena,
                        std::size_t arena_bytes, std::uint16_t hop,
                        void (*on_event)(void*, const atto_event*),
                        void* context, atto_spotter** spotter,
                        atto_error* error) noexcept {
  if (spotter == nullptr) return Missing("spotter", error);
  *spotter = nullptr;  // until it is made
  atto::ErrorInfo info;
  atto::Status status =
      CheckMemory(memory, memory_bytes, sizeof(atto_spotter), &info);
  if (status != atto::Status::kOk) return Report(status, info, error);
  auto* const made = new (memory) atto_spotter;
  made->on_event = on_event;
  made->context = context;
  atto::SpotterOptions options;
  options.hop = hop;
  options.context = made;
  if (on_event != nullptr) options.on_event = &Forward;
  status = made->spotter.Init(model, Arena(arena, arena_bytes), options, &info);
  if (status == atto::Status::kOk) *spotter = made;
  return Report(status, info, error);
}

}  // namespace

extern "C" {

const char* atto_status_name(atto_status status) {
  return atto::StatusName(static_cast<atto::Status>(status));
}

const char* atto_status_message(atto_status status) {
  return atto::StatusMessage(static_cast<atto::Status>(status));
}

const char* atto_version(void) { return atto::version(); }

const char* atto_backend_name(void) { return atto::backend_name(); }

size_t atto_text_classifier_size(void) { return sizeof(atto_text_classifier); }

atto_status atto_arena_size(const void* model, size_t model_bytes,
                            size_t* bytes, atto_error* error) {
  return ReadSize(model, model_bytes, &ClassifierArenaBytes, bytes, error);
}

atto_status atto_text_classifier_init(void* memory, size_t memory_bytes,
                                      const void* model, size_t model_bytes,
                                      void* arena, size_t arena_bytes,
                                      atto_text_classifier** classifier,
                                      atto_error* error) {
  return InitClassifier(memory, memory_bytes, Bytes(model, model_bytes), arena,
                        arena_bytes, classifier, error);
}

atto_status atto_text_classifier_init_embedded(
    void* memory, size_t memory_bytes, const atto_embedded_model* model,
    void* arena, size_t arena_bytes, atto_text_classifier** classifier,
    atto_error* error) {
  if (model == nullptr) return NoModel(classifier, error);
  return InitClassifier(memory, memory_bytes, *model, arena, arena_bytes,
                        classifier, error);
}

atto_status atto_text_classify(atto_text_classifier* classifier,
                               const char* text, size_t bytes,
                               atto_classification* result) {
  if (classifier == nullptr || result == nullptr) {
    return ToC(atto::Status::kNullPointer);
  }
  atto::Classification found;
  const atto::Status status = classifier->classifier.Classify(
      atto::Span<const char>(text, bytes), &found);
  *result = ToC(found);
  return ToC(status);
}

atto_status atto_label(const atto_text_classifier* classifier, size_t index,
                       const char** label, size_t* bytes) {
  if (classifier == nullptr || label == nullptr || bytes == nullptr) {
    return ToC(atto::Status::kNullPointer);
  }
  return Label(classifier->classifier.model(), index, label, bytes);
}

size_t atto_audio_classifier_size(void) {
  return sizeof(atto_audio_classifier);
}

atto_status atto_audio_classifier_init(void* memory, size_t memory_bytes,
                                       const void* model, size_t model_bytes,
                                       void* arena, size_t arena_bytes,
                                       atto_audio_classifier** classifier,
                                       atto_error* error) {
  return InitClassifier(memory, memory_bytes, Bytes(model, model_bytes), arena,
                        arena_bytes, classifier, error);
}

atto_status atto_audio_classifier_init_embedded(
    void* memory, size_t memory_bytes, const atto_embedded_model* model,
    void* arena, size_t arena_bytes, atto_audio_classifier** classifier,
    atto_error* error) {
  if (model == nullptr) return NoModel(classifier, error);
  return InitClassifier(memory, memory_bytes, *model, arena, arena_bytes,
                        classifier, error);
}

atto_status atto_audio_classify(atto_audio_classifier* classifier,
                                const int16_t* samples, size_t count,
                                atto_classification* result,
                                size_t* cut_samples) {
  if (classifier == nullptr || result == nullptr) {
    return ToC(atto::Status::kNullPointer);
  }
  atto::Classification found;
  const atto::Status status = classifier->classifier.Classify(
      atto::Span<const std::int16_t>(samples, count), &found);
  *result = ToC(found);
  if (cut_samples != nullptr) *cut_samples = found.cut_samples;
  return ToC(status);
}

atto_status atto_audio_label(const atto_audio_classifier* classifier,
                             size_t index, const char** label, size_t* bytes) {
  if (classifier == nullptr || label == nullptr || bytes == nullptr) {
    return ToC(atto::Status::kNullPointer);
  }
  return Label(classifier->classifier.model(), index, label, bytes);
}

size_t atto_spotter_size(void) { return sizeof(atto_spotter); }

atto_status atto_spotter_arena_size(const void* model, size_t model_bytes,
                                    size_t* bytes, atto_error* error) {
  return ReadSize(model, model_bytes, &SpotterBytes, bytes, error);
}

atto_status atto_spotter_init(
    void* memory, size_t memory_bytes, const void* model, size_t model_bytes,
    void* arena, size_t arena_bytes, uint16_t hop,
    void (*on_event)(void* context, const atto_event* event), void* context,
    atto_spotter** spotter, atto_error* error) {
  return InitSpotter(memory, memory_bytes, Bytes(model, model_bytes), arena,
                     arena_bytes, hop, on_event, context, spotter, error);
}

atto_status atto_spotter_init_embedded(
    void* memory, size_t memory_bytes, const atto_embedded_model* model,
    void* arena, size_t arena_bytes, uint16_t hop,
    void (*on_event)(void* context, const atto_event* event), void* context,
    atto_spotter** spotter, atto_error* error) {
  if (model == nullptr) return NoModel(spotter, error);
  return InitSpotter(memory, memory_bytes, *model, arena, arena_bytes, hop,
                     on_event, context, spotter, error);
}

atto_status atto_spotter_push(atto_spotter* spotter, const int16_t* samples,
                              size_t count) {
  if (spotter == nullptr) return ToC(atto::Status::kNullPointer);
  return ToC(
      spotter->spotter.Push(atto::Span<const std::int16_t>(samples, count)));
}

atto_status atto_spotter_reset(atto_spotter* spotter) {
  if (spotter == nullptr) return ToC(atto::Status::kNullPointer);
  spotter->spotter.Reset();
  return ToC(atto::Status::kOk);
}

atto_status atto_spotter_set_threshold(atto_spotter* spotter, size_t word,
                                       uint16_t threshold) {
  if (spotter == nullptr) return ToC(atto::Status::kNullPointer);
  return ToC(spotter->spotter.set_threshold(word, threshold));
}

atto_status atto_spotter_label(const atto_spotter* spotter, size_t index,
                               const char** label, size_t* bytes) {
  if (spotter == nullptr || label == nullptr || bytes == nullptr) {
    return ToC(atto::Status::kNullPointer);
  }
  return Label(spotter->spotter.model(), index, label, bytes);
}

}  // extern "C"
