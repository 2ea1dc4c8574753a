#include "runtime/c_api.h"

#include <cstring>
#include <new>

#include "runtime/classifier.h"
#include "runtime/version.h"

struct atto_text_classifier {
  atto::TextClassifier classifier;
};

namespace {

static_assert(sizeof(atto_text_classifier) <= ATTO_TEXT_CLASSIFIER_BYTES);
static_assert(alignof(atto_text_classifier) <= ATTO_ALIGNMENT);
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
  atto::ErrorInfo info;
  if (model == nullptr || bytes == nullptr) {
    return Report(atto::Fail(&info, atto::Status::kNullPointer,
                             model == nullptr ? "model" : "bytes",
                             "must not be null", 0, 0),
                  info, error);
  }
  atto::EncoderShape shape;
  const atto::Status status =
      atto::Model::ReadShape(Bytes(model, model_bytes), &shape, &info);
  *bytes = status == atto::Status::kOk ? atto::ArenaBytes(shape) : 0;
  return Report(status, info, error);
}

atto_status atto_text_classifier_init(void* memory, size_t memory_bytes,
                                      const void* model, size_t model_bytes,
                                      void* arena, size_t arena_bytes,
                                      atto_text_classifier** classifier,
                                      atto_error* error) {
  atto::ErrorInfo info;
  atto::Status status = atto::Status::kOk;
  if (memory == nullptr || classifier == nullptr) {
    status = atto::Fail(&info, atto::Status::kNullPointer,
                        memory == nullptr ? "memory" : "classifier",
                        "must not be null", 0, 0);
    return Report(status, info, error);
  }
  *classifier = nullptr;
  if (memory_bytes < sizeof(atto_text_classifier)) {
    status = atto::Fail(
        &info, atto::Status::kBufferTooSmall, "memory",
        "bytes must be at least", static_cast<std::int64_t>(memory_bytes),
        static_cast<std::int64_t>(sizeof(atto_text_classifier)));
    return Report(status, info, error);
  }
  const std::size_t misalignment =
      reinterpret_cast<std::uintptr_t>(memory) % ATTO_ALIGNMENT;
  if (misalignment != 0) {
    status =
        atto::Fail(&info, atto::Status::kMisaligned, "memory",
                   "address must be a multiple of",
                   static_cast<std::int64_t>(misalignment), ATTO_ALIGNMENT);
    return Report(status, info, error);
  }
  auto* const made = new (memory) atto_text_classifier;
  status = made->classifier.Init(
      Bytes(model, model_bytes),
      atto::Span<std::uint8_t>(static_cast<std::uint8_t*>(arena), arena_bytes),
      &info);
  if (status == atto::Status::kOk) *classifier = made;
  return Report(status, info, error);
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
  result->label = found.label;
  result->score = found.score;
  result->classes = static_cast<std::uint16_t>(found.scores.size());
  result->scores = found.scores.data();
  result->logits = found.logits.data();
  result->tokens = found.tokens;
  result->cut_tokens = found.cut_tokens;
  result->cut_features = found.cut_features;
  result->invalid_utf8 = found.invalid_utf8;
  return ToC(status);
}

atto_status atto_label(const atto_text_classifier* classifier, size_t index,
                       const char** label, size_t* bytes) {
  if (classifier == nullptr || label == nullptr || bytes == nullptr) {
    return ToC(atto::Status::kNullPointer);
  }
  const atto::Model& model = classifier->classifier.model();
  if (index >= model.shape().classes) {
    return ToC(atto::Status::kInvalidArgument);
  }
  const atto::StringView name = model.label(index);
  *label = name.data();
  *bytes = name.size();
  return ToC(atto::Status::kOk);
}

}  // extern "C"
