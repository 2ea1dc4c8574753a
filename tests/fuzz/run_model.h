// Loads a file with every reader of the library, and runs what is accepted on
// every backend.
#ifndef ATTO_TESTS_FUZZ_RUN_MODEL_H_
#define ATTO_TESTS_FUZZ_RUN_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "ops/backend.h"
#include "runtime/classifier.h"
#include "runtime/model/tensor_iterator.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/run_audio.h"
#include "tests/support/model_file.h"

#if ATTO_WITH_XSIMD
#include "runtime/float_encoder.h"
#endif

namespace atto::fuzz {

// An error names its culprit in a way that can be printed.
inline void RequireError(Status status, const ErrorInfo& error) {
  Require(error.status == status, "the error has the status");
  Require(error.subject[0] != '\0', "the error names a subject");
  for (const char* p = error.subject; *p != '\0'; ++p) {
    Require(*p >= ' ' && *p <= '~', "the subject is printable");
  }
  Require(error.expectation != nullptr, "the error has an expectation");
}

// What is accepted may still take minutes; a fuzzer has no time for it.
inline bool IsQuick(const EncoderShape& shape) {
  return MultiplyAdds(shape, shape.tokens) < (1U << 19);
}

// The same for the samples of a window.
inline bool AudioIsShort(const EncoderShape& shape) {
  return WindowSamples(shape) < 20000;
}

// What people and tools look at.
inline void LookAt(const Model& model) {
  std::size_t bytes = model.name().size();
  for (std::size_t i = 0; i < model.shape().classes; ++i) {
    const StringView label = model.label(i);
    Require(label.size() >= 1 && label.size() <= 63, "labels have 1..63 bytes");
    for (const char c : label) bytes += static_cast<std::uint8_t>(c);
  }
  GgufTensor tensor;
  std::size_t tensors = 0;
  for (TensorIterator all(model); all.Next(&tensor);) {
    ++tensors;
    Require(tensor.data >= model.file().begin() &&
                tensor.data + tensor.bytes <= model.file().end(),
            "tensors lie in the file");
  }
  Require(tensors > 0 && bytes > 0, "a model has tensors and labels");
}

// What one run on one backend gives: logits, and for audio what is heard.
inline std::vector<std::int16_t> RunOn(const Backend& backend,
                                       Span<const std::uint8_t> file,
                                       const std::vector<std::uint8_t>& text) {
  EncoderShape shape;
  Require(Model::ReadShape(file, &shape) == Status::kOk, "a model has a shape");
  if (shape.input == Input::kText) {
    // Exactly what it takes, so that a sanitizer sees the first byte beyond.
    testing::FileBytes arena(
        testing::Bytes(ArenaBytes(shape, backend.memory), 0xA5));
    TextClassifier classifier;
    Require(classifier.Init(file, {arena.data(), arena.span().size()}, nullptr,
                            &backend) == Status::kOk,
            "every backend takes an accepted model");
    Classification result;
    const Status status = classifier.Classify(
        {reinterpret_cast<const char*>(text.data()), text.size()}, &result);
    if (status == Status::kEmptyInput) return {};
    Require(status == Status::kOk, "any text has a label or no token");
    Require(result.label < shape.classes, "the label is a class");
    Require(result.tokens <= shape.tokens, "tokens fit the model");
    return {result.logits.begin(), result.logits.end()};
  }
  // The same text, as samples.
  std::vector<std::int16_t> pcm(text.size() / 2);
  for (std::size_t i = 0; i < pcm.size(); ++i) {
    pcm[i] = static_cast<std::int16_t>(text[2 * i] | text[2 * i + 1] << 8);
  }
  pcm.resize(AudioIsShort(shape) ? WindowSamples(shape) + 64 : pcm.size());
  const std::vector<std::uint64_t> heard =
      Listen(file, pcm, 97, 1, SpotterParams::kDefaultThreshold, backend);
  std::vector<std::int16_t> result = ClassifyClip(file, pcm, backend);
  for (const std::uint64_t number : heard) {
    result.push_back(static_cast<std::int16_t>(number & 0x7FFF));
  }
  return result;
}

#if ATTO_WITH_XSIMD
inline void RunFloat(Span<const std::uint8_t> file,
                     const std::vector<std::uint8_t>& text) {
  std::vector<FloatBlockWeights> blocks(EncoderShape::kMaxBlocks);
  FloatModel model;
  ErrorInfo error;
  const Status status =
      model.Init(file, {blocks.data(), blocks.size()}, &error);
  if (status != Status::kOk) {
    RequireError(status, error);
    return;
  }
  if (!IsQuick(model.shape())) return;
  const FloatBackend& backend = *DefaultFloatBackend();
  testing::FileBytes arena(
      testing::Bytes(FloatArenaBytes(model.shape(), backend.memory), 0xFF));
  FloatEncoder encoder;
  Require(encoder.Init(file, {arena.data(), arena.span().size()}, &error,
                       &backend) == Status::kOk,
          "the encoder takes what the model takes");
  std::size_t at = 0;
  while (float* const row = encoder.NextRow()) {
    for (std::size_t i = 0; i < model.shape().d_input; ++i) {
      row[i] = text.empty()
                   ? 127.0F
                   : static_cast<float>(text[at++ % text.size()]) - 128;
    }
  }
  Span<const float> logits;
  Require(encoder.Run(&logits) == Status::kOk, "a full sequence runs");
  for (const float logit : logits) {
    Require(logit - logit == 0, "logits are finite");
  }
}
#endif

// Arguments that do not fit a model that is in order.
inline void CallWrongly(Span<const std::uint8_t> file) {
  std::vector<BlockWeights> blocks(EncoderShape::kMaxBlocks);
  ErrorInfo error;
  Require(Model::ReadShape(file, nullptr) == Status::kNullPointer,
          "a shape needs a place");
  const auto load = [&error](Span<const std::uint8_t> bytes,
                             Span<BlockWeights> table) {
    Model model;
    const Status status = model.Init(bytes, table, &error);
    RequireError(status, error);
    return status;
  };
  Require(load({}, {blocks.data(), blocks.size()}) == Status::kNullPointer,
          "a model needs bytes");
  Require(load(file, {}) == Status::kNullPointer, "a model needs a table");
  Require(load(file, {blocks.data(), 0}) == Status::kBufferTooSmall,
          "the table has a place for every block");
  const testing::FileBytes shifted(testing::Bytes(file.begin(), file.end()), 1);
  Require(load(shifted.span(), {blocks.data(), blocks.size()}) ==
              Status::kMisaligned,
          "a model is aligned");
}

// `text`: what an accepted model classifies, or the rows that it takes.
inline void LoadAndRun(Span<const std::uint8_t> file,
                       const std::vector<std::uint8_t>& text) {
#if ATTO_WITH_XSIMD
  RunFloat(file, text);
#endif
  std::vector<BlockWeights> blocks(EncoderShape::kMaxBlocks);
  Model model;
  ErrorInfo error;
  const Status status =
      model.Init(file, {blocks.data(), blocks.size()}, &error);
  Require(model.initialized() == (status == Status::kOk),
          "a model is whole or empty");
  EncoderShape shape;
  Require(
      Model::ReadShape(file, &shape) == Status::kOk || status != Status::kOk,
      "a model has a shape");
  if (status != Status::kOk) {
    RequireError(status, error);
    return;
  }
  LookAt(model);
  CallWrongly(file);
  if (!IsQuick(model.shape())) return;
  std::vector<std::int16_t> expected;
  for (const Backend* const backend : Backends()) {
    if (!backend->supported()) continue;
    const std::vector<std::int16_t> logits = RunOn(*backend, file, text);
    if (backend == Backends()[0]) {
      expected = logits;
    } else {
      Require(logits == expected, "every backend gives the logits of ref");
    }
  }
}

}  // namespace atto::fuzz

#endif  // ATTO_TESTS_FUZZ_RUN_MODEL_H_
