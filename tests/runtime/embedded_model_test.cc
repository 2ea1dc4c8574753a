#include "runtime/embedded_model.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "embedded_keywords.h"
#include "embedded_post_class_relu.h"
#include "embedded_post_mean_gelu.h"
#include "embedded_pre_class_relu.h"
#include "embedded_pre_mean_gelu.h"
#include "embedded_spam.h"
#include "runtime/audio/keyword_spotter.h"
#include "runtime/c_api.h"
#include "runtime/classifier.h"
#include "tests/support/aligned_bytes.h"
#include "tests/support/backends.h"

namespace atto {
namespace {

using testing::AlignedBytes;

const EmbeddedModel* const kModels[] = {
    &embedded_spam::kModel,           &embedded_keywords::kModel,
    &embedded_pre_mean_gelu::kModel,  &embedded_pre_class_relu::kModel,
    &embedded_post_mean_gelu::kModel, &embedded_post_class_relu::kModel,
};

Span<const std::uint8_t> File(const EmbeddedModel& model) {
  return {model.parts.file, model.parts.file_bytes};
}

void CheckLinear(const Linear& a, const Linear& b) {
  CHECK(a.weights == b.weights);
  CHECK(a.bias == b.bias);
  CHECK(a.multiplier == b.multiplier);
  CHECK(a.in == b.in);
  CHECK(a.out == b.out);
  CHECK(a.shift == b.shift);
  CHECK(a.packed == b.packed);
}

void CheckNorm(const LayerNorm& a, const LayerNorm& b) {
  CHECK(a.gain == b.gain);
  CHECK(a.bias == b.bias);
  CHECK(a.d == b.d);
  CHECK(a.sqrt_d == b.sqrt_d);
  CHECK(a.shift == b.shift);
}

void CheckShape(const EncoderShape& a, const EncoderShape& b) {
  CHECK(a.tokens == b.tokens);
  CHECK(a.d_model == b.d_model);
  CHECK(a.heads == b.heads);
  CHECK(a.d_ffn == b.d_ffn);
  CHECK(a.blocks == b.blocks);
  CHECK(a.d_input == b.d_input);
  CHECK(a.classes == b.classes);
  CHECK(a.norm == b.norm);
  CHECK(a.activation == b.activation);
  CHECK(a.pooling == b.pooling);
  CHECK(a.input == b.input);
  CHECK(std::memcmp(&a.audio, &b.audio, sizeof(AudioShape)) == 0);
}

TEST_CASE("embedded model: the constants are what the reader finds") {
  for (const EmbeddedModel* const embedded : kModels) {
    std::vector<BlockWeights> blocks(EncoderShape::kMaxBlocks);
    Model model;
    REQUIRE(model.Init(File(*embedded), {blocks.data(), blocks.size()}) ==
            Status::kOk);
    const ModelParts& a = model.parts();
    const ModelParts& b = embedded->parts;
    CAPTURE(std::string(model.name().data(), model.name().size()));
    CHECK(a.file == b.file);
    CHECK(a.file_bytes == b.file_bytes);
    CHECK(a.checksum == b.checksum);
    CheckShape(a.shape, b.shape);
    CHECK(a.name == b.name);
    CHECK(a.labels == b.labels);
    CheckLinear(a.in_proj, b.in_proj);
    CheckLinear(a.head, b.head);
    CheckNorm(a.outer_norm, b.outer_norm);
    CHECK(a.pooling_shift == b.pooling_shift);
    CHECK(a.position_shift == b.position_shift);
    CHECK(a.positions == b.positions);
    CHECK(a.class_token == b.class_token);
    CHECK(a.embedding.table == b.embedding.table);
    CHECK(a.embedding.rows == b.embedding.rows);
    CHECK(a.embedding.width == b.embedding.width);
    CHECK(a.embedding.multiplier == b.embedding.multiplier);
    CHECK(std::memcmp(&a.text_params, &b.text_params, sizeof(TextParams)) == 0);
    CHECK(a.fold_table == b.fold_table);
    CHECK(a.log_mel.window == b.log_mel.window);
    CHECK(a.log_mel.filters == b.log_mel.filters);
    CHECK(a.log_mel.weights == b.log_mel.weights);
    CHECK(a.log_mel.frame_length == b.log_mel.frame_length);
    CHECK(a.log_mel.fft_length == b.log_mel.fft_length);
    CHECK(a.log_mel.bins == b.log_mel.bins);
    CHECK(a.log_mel.multiplier == b.log_mel.multiplier);
    CHECK(a.log_mel.offset == b.log_mel.offset);
    CHECK(a.spotter_params.hop == b.spotter_params.hop);
    CHECK(a.spotter_params.smoothing == b.spotter_params.smoothing);
    CHECK(a.spotter_params.looks == b.spotter_params.looks);
    CHECK(a.spotter_params.votes == b.spotter_params.votes);
    CHECK(a.spotter_params.refractory == b.spotter_params.refractory);
    CHECK(a.spotter_params.thresholds == b.spotter_params.thresholds);
    for (std::size_t i = 0; i < a.shape.blocks; ++i) {
      const BlockWeights& x = a.blocks[i];
      const BlockWeights& y = b.blocks[i];
      CheckLinear(x.q, y.q);
      CheckLinear(x.k, y.k);
      CheckLinear(x.v, y.v);
      CheckLinear(x.o, y.o);
      CheckLinear(x.up, y.up);
      CheckLinear(x.down, y.down);
      CheckNorm(x.attn_norm, y.attn_norm);
      CheckNorm(x.ffn_norm, y.ffn_norm);
      CHECK(x.attention.softmax.multiplier == y.attention.softmax.multiplier);
      CHECK(x.attention.softmax.shift == y.attention.softmax.shift);
      CHECK(x.attention.heads == y.attention.heads);
      CHECK(x.attention.d_head == y.attention.d_head);
      CHECK(x.gelu_fraction_bits == y.gelu_fraction_bits);
    }
    CHECK(embedded->layout->bytes == ArenaBytes(a.shape));
  }
}

// Logits of an encoder over rows of noise.
std::vector<std::int16_t> Logits(Encoder* encoder) {
  std::uint32_t noise = 1;
  while (std::int8_t* const row = encoder->NextRow()) {
    for (std::size_t i = 0; i < encoder->model().shape().d_input; ++i) {
      noise = noise * 1664525U + 1013904223U;
      row[i] = static_cast<std::int8_t>(
          static_cast<std::int32_t>((noise >> 8) % 255U) - 127);
    }
  }
  Span<const std::int16_t> logits;
  REQUIRE(encoder->Run(&logits) == Status::kOk);
  return {logits.begin(), logits.end()};
}

TEST_CASE("embedded model: the logits of the file, on every backend") {
  for (const EmbeddedModel* const embedded : kModels) {
    AlignedBytes arena(embedded->layout->bytes);
    for (const Backend& backend : testing::RunnableBackends()) {
      CAPTURE(backend.name);
      Encoder encoder;
      REQUIRE(encoder.Init(File(*embedded), arena.span(), nullptr, &backend) ==
              Status::kOk);
      const std::vector<std::int16_t> wanted = Logits(&encoder);
      REQUIRE(encoder.Init(*embedded, arena.span(), nullptr, &backend) ==
              Status::kOk);
      CHECK(Logits(&encoder) == wanted);
      CHECK(encoder.arena_bytes() == embedded->layout->bytes);
    }
  }
}

TEST_CASE("embedded model: a text classifier gives what the file gives") {
  Arena<embedded_spam::Model> arena;
  TextClassifier classifier;
  for (const char* const text :
       {"WINNER!! claim ur free prize now, call 0909 555 0143",
        "Y\xd0\xbeu h\xd0\xb0v\xd0\xb5 w\xd0\xben \xef\xbd\x86", "ok"}) {
    Classification found;
    REQUIRE(classifier.Init(embedded_spam::kBytes, arena.bytes()) ==
            Status::kOk);
    REQUIRE(classifier.Classify(text, &found) == Status::kOk);
    const std::vector<std::int16_t> logits(found.logits.begin(),
                                           found.logits.end());
    REQUIRE(classifier.Init(embedded_spam::kModel, arena.bytes()) ==
            Status::kOk);
    REQUIRE(classifier.Classify(text, &found) == Status::kOk);
    CHECK(std::vector<std::int16_t>(found.logits.begin(), found.logits.end()) ==
          logits);
    CHECK(Equal(classifier.model().label(1), Literal("spam")));
  }
}

void KeepScores(void* context, const SpotterLook& look) {
  auto* const scores = static_cast<std::vector<std::uint16_t>*>(context);
  scores->insert(scores->end(), look.scores.begin(), look.scores.end());
}

// All scores of all looks at a stream of noise.
template <typename ModelSource>
std::vector<std::uint16_t> Listen(const ModelSource& model,
                                  const Backend& backend) {
  std::vector<std::uint16_t> scores;
  SpotterArena<embedded_keywords::Model> arena;
  KeywordSpotter spotter;
  SpotterOptions options;
  options.on_look = &KeepScores;
  options.context = &scores;
  REQUIRE(spotter.Init(model, arena.bytes(), options, nullptr, &backend) ==
          Status::kOk);
  std::vector<std::int16_t> pcm(spotter.window() + 2 * spotter.hop());
  std::uint32_t noise = 1;
  for (std::int16_t& sample : pcm) {
    noise = noise * 1664525U + 1013904223U;
    sample = static_cast<std::int16_t>(noise >> 18);
  }
  REQUIRE(spotter.Push({pcm.data(), pcm.size()}) == Status::kOk);
  return scores;
}

TEST_CASE("embedded model: a spotter looks as with the file") {
  for (const Backend& backend : testing::RunnableBackends()) {
    CAPTURE(backend.name);
    const std::vector<std::uint16_t> scores =
        Listen(embedded_keywords::kModel, backend);
    CHECK(scores.size() == 3U * embedded_keywords::Model::kShape.classes);
    CHECK(scores == Listen(embedded_keywords::kBytes, backend));
  }
}

TEST_CASE("embedded model: a spotter names the arena that it needs") {
  AlignedBytes arena(SpotterArenaBytes(embedded_keywords::Model::kShape));
  KeywordSpotter spotter;
  ErrorInfo error;
  const auto init = [&](const EmbeddedModel& model, std::size_t bytes) {
    return spotter.Init(model, arena.span().subspan(0, bytes), {}, &error);
  };
  // Too small for its encoder, and by a byte.
  REQUIRE(init(embedded_keywords::kModel, 16) == Status::kBufferTooSmall);
  const auto needed = static_cast<std::size_t>(error.expected);
  REQUIRE(needed <= arena.size());
  CHECK(init(embedded_keywords::kModel, needed - 1) == Status::kBufferTooSmall);
  CHECK(error.expected == static_cast<std::int64_t>(needed));
  CHECK(init(embedded_keywords::kModel, needed) == Status::kOk);
  CHECK(init(embedded_spam::kModel, 16) == Status::kBufferTooSmall);
  CHECK(error.expected ==
        static_cast<std::int64_t>(embedded_spam::kModel.layout->bytes));
}

TEST_CASE("embedded model: what is wrong is named") {
  AlignedBytes arena(embedded_spam::kModel.layout->bytes);
  const auto refuse = [&](const EmbeddedModel& model, Span<std::uint8_t> memory,
                          Status status, const std::string& subject) {
    TextClassifier classifier;
    ErrorInfo error;
    CHECK(classifier.Init(model, memory, &error) == status);
    CHECK(std::string(error.subject) == subject);
    CHECK_FALSE(classifier.encoder().initialized());
    Classification found;
    CHECK(classifier.Classify("x", &found) == Status::kNotInitialized);
    return error;
  };
  const EmbeddedModel& spam = embedded_spam::kModel;
  refuse(spam, {}, Status::kNullPointer, "arena");
  refuse(spam, {arena.data() + 1, arena.size() - 1}, Status::kMisaligned,
         "arena");
  const ErrorInfo small = refuse(spam, {arena.data(), arena.size() - 1},
                                 Status::kBufferTooSmall, "arena");
  CHECK(small.found + 1 == small.expected);
  AlignedBytes audio(embedded_keywords::kModel.layout->bytes);
  refuse(embedded_keywords::kModel, audio.span(), Status::kUnsupported,
         "atto.input");

  // Every byte of the file counts.
  AlignedBytes copy(spam.parts.file_bytes);
  std::memcpy(copy.data(), spam.parts.file, copy.size());
  ModelParts parts = spam.parts;
  parts.file = copy.data();
  const EmbeddedModel damaged{parts, spam.file_crc, spam.layout};
  for (std::size_t i = 0; i < copy.size(); i += copy.size() / 16) {
    CAPTURE(i);
    copy.data()[i] ^= 1U;
    const ErrorInfo error =
        refuse(damaged, arena.span(), Status::kBadChecksum, "embedded model");
    CHECK(error.expected == spam.file_crc);
    CHECK(error.found != spam.file_crc);
    copy.data()[i] ^= 1U;
  }
  TextClassifier classifier;
  CHECK(classifier.Init(damaged, arena.span()) == Status::kOk);
}

TEST_CASE("embedded model: in C") {
  alignas(ATTO_ALIGNMENT) unsigned char memory[ATTO_SPOTTER_BYTES];
  AlignedBytes text(ArenaBytes(embedded_spam::Model::kShape));
  AlignedBytes audio(SpotterArenaBytes(embedded_keywords::Model::kShape));
  atto_error error;
  atto_text_classifier* spam = nullptr;
  CHECK(atto_text_classifier_init_embedded(memory, sizeof(memory), nullptr,
                                           text.data(), text.size(), &spam,
                                           &error) == ATTO_NULL_POINTER);
  CHECK(std::string(error.subject) == "model");
  CHECK(spam == nullptr);
  REQUIRE(atto_text_classifier_init_embedded(
              memory, sizeof(memory), &embedded_spam_embedded, text.data(),
              text.size(), &spam, &error) == ATTO_OK);
  atto_classification result;
  CHECK(atto_text_classify(spam, "win cash", 8, &result) == ATTO_OK);
  CHECK(result.classes == 2);

  atto_audio_classifier* words = nullptr;
  CHECK(atto_audio_classifier_init_embedded(memory, sizeof(memory), nullptr,
                                            audio.data(), audio.size(), &words,
                                            nullptr) == ATTO_NULL_POINTER);
  CHECK(atto_audio_classifier_init_embedded(
            memory, sizeof(memory), &embedded_spam_embedded, audio.data(),
            audio.size(), &words, &error) == ATTO_UNSUPPORTED);
  CHECK(words == nullptr);
  REQUIRE(atto_audio_classifier_init_embedded(
              memory, sizeof(memory), &embedded_keywords_embedded, audio.data(),
              audio.size(), &words, &error) == ATTO_OK);
  const std::int16_t silence[100] = {};
  CHECK(atto_audio_classify(words, silence, 100, &result, nullptr) == ATTO_OK);

  atto_spotter* spotter = nullptr;
  CHECK(atto_spotter_init_embedded(
            memory, sizeof(memory), nullptr, audio.data(), audio.size(), 0,
            nullptr, nullptr, &spotter, &error) == ATTO_NULL_POINTER);
  REQUIRE(atto_spotter_init_embedded(
              memory, sizeof(memory), &embedded_keywords_embedded, audio.data(),
              audio.size(), 0, nullptr, nullptr, &spotter, &error) == ATTO_OK);
  CHECK(atto_spotter_push(spotter, silence, 100) == ATTO_OK);
}

}  // namespace
}  // namespace atto
