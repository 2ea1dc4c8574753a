#include "runtime/model/model.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "runtime/model/tensor_iterator.h"
#include "tests/support/model_file.h"

namespace atto {
namespace {

using testing::ModelFile;
using testing::ModelOptions;

std::string Text(StringView view) { return {view.data(), view.size()}; }

// A model with its file and block table.
struct Loaded {
  explicit Loaded(const testing::Bytes& file_bytes,
                  std::size_t misalignment = 0)
      : bytes(file_bytes, misalignment), blocks(EncoderShape::kMaxBlocks) {
    status = model.Init(bytes.span(), {blocks.data(), blocks.size()}, &error);
    CHECK(model.initialized() == (status == Status::kOk));
    if (status != Status::kOk) CHECK(error.status == status);
  }

  // "ok", or what was wrong with what.
  std::string result() const {
    if (status == Status::kOk) return "ok";
    return std::string(StatusName(status)) + ": " + error.subject;
  }

  testing::FileBytes bytes;
  std::vector<BlockWeights> blocks;
  Model model;
  ErrorInfo error;
  Status status;
};

std::string Result(const testing::Bytes& bytes) {
  return Loaded(bytes).result();
}
std::string Result(const ModelFile& file) { return Result(file.Build()); }

// The value of a number, or element `i` of an array, by a way of its own.
std::int64_t NumberIn(ModelFile* file, const std::string& name,
                      std::size_t i = 0) {
  const testing::Key& key = file->key(name);
  std::size_t at = 0;
  std::size_t bytes = 4;
  if (key.type == testing::kValueArray) {
    bytes = key.value[0] == testing::kValueU16 ? 2 : 1;
    at = 12 + i * bytes;
  }
  std::uint32_t value = 0;
  for (std::size_t k = 0; k < bytes; ++k) {
    value |= static_cast<std::uint32_t>(key.value[at + k]) << (8 * k);
  }
  if (key.type == testing::kValueArray && key.value[0] == testing::kValueI8) {
    return static_cast<std::int8_t>(value);
  }
  return value;
}

void CheckData(ModelFile* file, const std::string& name, const void* data,
               std::size_t bytes) {
  CAPTURE(name);
  const testing::Bytes& written = file->tensor(name).data;
  REQUIRE(data != nullptr);
  REQUIRE(bytes == written.size());
  CHECK(std::memcmp(data, written.data(), bytes) == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(data) % Model::kAlignment == 0);
}

void CheckLinear(ModelFile* file, const std::string& name, const Linear& linear,
                 unsigned out, unsigned in, std::int64_t shift) {
  CHECK(linear.out == out);
  CHECK(linear.in == in);
  CHECK(linear.shift == shift);
  CheckData(file, name + ".weight", linear.weights, std::size_t{out} * in);
  CheckData(file, name + ".bias", linear.bias, std::size_t{out} * 4);
  CheckData(file, name + ".multiplier", linear.multiplier,
            std::size_t{out} * 2);
}

void CheckNorm(ModelFile* file, const std::string& name, const LayerNorm& norm,
               unsigned d, std::int64_t shift) {
  CHECK(norm.d == d);
  CHECK(norm.sqrt_d == LayerNormSqrt(d));
  CHECK(norm.shift == shift);
  CheckData(file, name + ".gain", norm.gain, std::size_t{d} * 2);
  CheckData(file, name + ".bias", norm.bias, std::size_t{d} * 2);
}

void CheckShape(const EncoderShape& found, const EncoderShape& expected) {
  CHECK(found.tokens == expected.tokens);
  CHECK(found.d_model == expected.d_model);
  CHECK(found.heads == expected.heads);
  CHECK(found.d_ffn == expected.d_ffn);
  CHECK(found.blocks == expected.blocks);
  CHECK(found.d_input == expected.d_input);
  CHECK(found.classes == expected.classes);
  CHECK((found.norm == expected.norm));
  CHECK((found.activation == expected.activation));
  CHECK((found.pooling == expected.pooling));
  CHECK((found.input == expected.input));
  const AudioShape audio = found.input == Input::kAudio
                               ? testing::TestAudioShape(expected.d_input)
                               : AudioShape();
  CHECK(std::memcmp(&found.audio, &audio, sizeof(audio)) == 0);
}

// Every number and tensor of the model against what was written.
void CheckModel(const Model& model, ModelFile* file,
                const ModelOptions& options) {
  const EncoderShape& shape = options.shape;
  const unsigned d = shape.d_model;
  const unsigned f = shape.d_ffn;
  CheckShape(model.shape(), shape);
  CHECK(Text(model.name()) == "a test");
  for (unsigned i = 0; i < shape.classes; ++i) {
    CHECK(Text(model.label(i)) == "label " + std::to_string(i * i));
  }
  CheckLinear(file, "in_proj", model.in_proj(), d, shape.d_input,
              NumberIn(file, "atto.in_proj.shift"));
  CheckLinear(file, "head", model.head(), shape.classes, d,
              NumberIn(file, "atto.head.shift"));
  const std::string outer =
      shape.norm == Norm::kPost ? "input_norm" : "output_norm";
  CheckNorm(file, outer, model.outer_norm(), d,
            NumberIn(file, "atto." + outer + ".shift"));
  REQUIRE(model.blocks().size() == shape.blocks);
  for (unsigned i = 0; i < shape.blocks; ++i) {
    const BlockWeights& block = model.blocks()[i];
    const std::string prefix = "blk." + std::to_string(i) + ".";
    const auto linear = [&](const char* name, const Linear& found, unsigned out,
                            unsigned in) {
      CheckLinear(file, prefix + name, found, out, in,
                  NumberIn(file, std::string("atto.") + name + ".shift", i));
    };
    linear("attn_q", block.q, d, d);
    linear("attn_k", block.k, d, d);
    linear("attn_v", block.v, d, d);
    linear("attn_o", block.o, d, d);
    linear("ffn_up", block.up, f, d);
    linear("ffn_down", block.down, d, f);
    CheckNorm(file, prefix + "attn_norm", block.attn_norm, d,
              NumberIn(file, "atto.attn_norm.shift", i));
    CheckNorm(file, prefix + "ffn_norm", block.ffn_norm, d,
              NumberIn(file, "atto.ffn_norm.shift", i));
    CHECK(block.attention.heads == shape.heads);
    CHECK(block.attention.d_head * shape.heads == d);
    CHECK(block.attention.softmax.shift ==
          NumberIn(file, "atto.attn_score.shift", i));
    CHECK(block.attention.softmax.multiplier ==
          NumberIn(file, "atto.attn_score.multiplier", i));
    const bool gelu = shape.activation == Activation::kGelu;
    CHECK(block.gelu_fraction_bits ==
          (gelu ? NumberIn(file, "atto.gelu.fraction_bits", i) : 0));
  }
  const bool mean = shape.pooling == Pooling::kMean;
  CHECK(model.pooling_shift() ==
        (mean ? NumberIn(file, "atto.pooling.shift") : 0));
  if (options.positions) {
    CHECK(model.positions().rows() == shape.tokens);
    CHECK(model.positions().cols() == d);
    CHECK(model.position_shift() == NumberIn(file, "atto.position.shift"));
    CheckData(file, "position_embd.weight", model.positions().data(),
              std::size_t{shape.tokens} * d);
  } else {
    CHECK(model.positions().data() == nullptr);
    CHECK(model.positions().rows() == 0);
  }
  if (mean) {
    CHECK(model.class_token().empty());
  } else {
    CheckData(file, "class_embd.weight", model.class_token().data(),
              model.class_token().size() * 2);
  }
  if (shape.input == Input::kText) {
    const Embedding& embedding = model.embedding();
    CHECK(embedding.rows == options.buckets);
    CHECK(embedding.width == shape.d_input);
    CHECK(embedding.multiplier == NumberIn(file, "atto.token_embd.multiplier"));
    CheckData(file, "token_embd.weight", embedding.table,
              std::size_t{options.buckets} * shape.d_input);
    const TextParams& params = model.text_params();
    CHECK(params.version == NumberIn(file, "atto.text.version"));
    CHECK(params.buckets == NumberIn(file, "atto.text.buckets"));
    CHECK(params.features == NumberIn(file, "atto.text.features"));
    CHECK(params.ngram_min == NumberIn(file, "atto.text.ngram_min"));
    CHECK(params.ngram_max == NumberIn(file, "atto.text.ngram_max"));
    CHECK(params.max_word_chars == NumberIn(file, "atto.text.max_word_chars"));
    CHECK(params.max_features == NumberIn(file, "atto.text.max_features"));
    CHECK(params.phone_min_digits ==
          NumberIn(file, "atto.text.phone_min_digits"));
    CHECK(params.join_spaced_min ==
          NumberIn(file, "atto.text.join_spaced_min"));
    CHECK(params.join_dotted_min ==
          NumberIn(file, "atto.text.join_dotted_min"));
    CHECK(model.fold_table().Lookup(0x200B).length == 0);
    CHECK(model.fold_table().Lookup(0x2010).length == 1);
  } else {
    CHECK(model.embedding().table == nullptr);
    const LogMel& mel = model.log_mel();
    CHECK(mel.multiplier == NumberIn(file, "atto.audio.log_multiplier"));
    CHECK(mel.offset == NumberIn(file, "atto.audio.log_offset"));
    CHECK(mel.frame_length == 20);
    CHECK(mel.fft_length == 32);
    CHECK(mel.bins == model.shape().audio.bins);
    CheckData(file, "audio.window", mel.window, 40);
    CheckData(file, "audio.mel_filters", mel.filters,
              std::size_t{mel.bins} * 4);
    CheckData(file, "audio.mel_weights", mel.weights,
              file->tensor("audio.mel_weights").data.size());
  }
}

// Options for models that between them hold every kind and extreme.
std::vector<ModelOptions> ManyModels() {
  std::vector<ModelOptions> models;
  for (unsigned kind = 0; kind < 32; ++kind) {
    ModelOptions options;
    options.shape = testing::SmallShape();
    options.shape.norm = static_cast<Norm>(kind & 1U);
    options.shape.activation = static_cast<Activation>(kind >> 1 & 1U);
    options.shape.pooling = static_cast<Pooling>(kind >> 2 & 1U);
    options.shape.input = static_cast<Input>(kind >> 3 & 1U);
    options.positions = (kind >> 4 & 1U) != 0;
    options.seed = kind + 1;
    options.alignment = 16U << (kind % 9);
    models.push_back(options);
  }
  const auto add = [&](unsigned tokens, unsigned d, unsigned heads, unsigned f,
                       unsigned blocks, unsigned e, unsigned classes,
                       std::uint32_t buckets) {
    ModelOptions options;
    options.shape.tokens = static_cast<std::uint16_t>(tokens);
    options.shape.d_model = static_cast<std::uint16_t>(d);
    options.shape.heads = static_cast<std::uint16_t>(heads);
    options.shape.d_ffn = static_cast<std::uint16_t>(f);
    options.shape.blocks = static_cast<std::uint16_t>(blocks);
    options.shape.d_input = static_cast<std::uint16_t>(e);
    options.shape.classes = static_cast<std::uint16_t>(classes);
    options.positions = true;
    options.buckets = buckets;
    models.push_back(options);
  };
  add(1, 8, 1, 1, 1, 1, 2, 16);        // the least of everything
  add(512, 8, 8, 1, 1, 1, 2, 16);      // most tokens; d_head 1
  add(4, 512, 1, 2, 1, 3, 2, 16);      // widest; d_head 512
  add(4, 15, 5, 4096, 1, 512, 2, 16);  // odd width, largest f and e
  add(4, 8, 2, 3, 64, 5, 2, 16);       // most blocks
  add(4, 8, 2, 3, 2, 5, 1024, 16);     // most labels
  add(4, 8, 2, 3, 2, 2, 3, 65535);     // largest table
  add(64, 64, 4, 128, 2, 32, 2, 700);  // like a real one
  return models;
}

TEST_CASE("valid models of many shapes are read as written, in any order") {
  for (const ModelOptions& options : ManyModels()) {
    CAPTURE(options.seed);
    ModelFile file = testing::MakeModel(options);
    std::mt19937 random(options.seed);
    std::shuffle(file.keys.begin(), file.keys.end(), random);
    std::shuffle(file.tensors.begin(), file.tensors.end(), random);
    const Loaded loaded(file.Build());
    REQUIRE(loaded.result() == "ok");
    CheckModel(loaded.model, &file, options);
    EncoderShape shape;
    REQUIRE(Model::ReadShape(loaded.bytes.span(), &shape) == Status::kOk);
    CheckShape(shape, options.shape);
  }
}

TEST_CASE("the checksum is kept, and the file") {
  const testing::Bytes bytes = testing::MakeSmallModel().Build();
  const Loaded loaded(bytes);
  REQUIRE(loaded.result() == "ok");
  testing::Bytes zeroed = bytes;
  const std::size_t offset = testing::MakeSmallModel().ChecksumOffset();
  std::fill_n(zeroed.begin() + static_cast<std::ptrdiff_t>(offset), 4,
              std::uint8_t{0});
  CHECK(loaded.model.checksum() ==
        testing::TestCrc32(zeroed.data(), zeroed.size()));
  CHECK(loaded.model.file().data() == loaded.bytes.span().data());
  CHECK(loaded.model.file().size() == bytes.size());
}

TEST_CASE("every key is required, but for three") {
  for (const ModelFile& file :
       {testing::MakeSmallModel(), testing::MakeOtherSmallModel()}) {
    REQUIRE(Result(file) == "ok");
    for (const testing::Key& key : file.keys) {
      CAPTURE(key.name);
      ModelFile damaged = file;
      damaged.RemoveKey(key.name);
      const bool optional =
          key.name == "general.name" || key.name == "general.alignment";
      CHECK(Result(damaged) == (optional ? "ok" : "missing_key: " + key.name));
    }
  }
  // The shift of positions is needed only where there are positions.
  ModelFile file = testing::MakeSmallModel();
  file.RemoveKey("atto.position.shift");
  file.RemoveTensor("position_embd.weight");
  CHECK(Result(file) == "ok");
}

TEST_CASE("a known key twice is an error, an unknown one is not") {
  const ModelFile file = testing::MakeSmallModel();
  for (std::size_t i = 0; i < file.keys.size(); ++i) {
    ModelFile damaged = file;
    damaged.keys.push_back(file.keys[i]);
    CHECK(Result(damaged) == "bad_key: " + file.keys[i].name);
  }
  ModelFile strange = file;
  for (int i = 0; i < 2; ++i) {
    strange.keys.insert(strange.keys.begin(),
                        testing::StringKey("atto.strange", "x"));
    strange.keys.push_back(testing::StringsKey("tokenizer.ggml.tokens", {"a"}));
    strange.keys.push_back(testing::NumberKey("atto.label", 1));
    strange.keys.push_back(testing::NumberKey("atto.labelss", 1));
  }
  CHECK(Result(strange) == "ok");
}

TEST_CASE("keys of other kinds of models are ignored") {
  ModelFile file = testing::MakeOtherSmallModel();
  file.keys.push_back(testing::NumberKey("atto.pooling.shift", 99));
  file.keys.push_back(testing::NumberKey("atto.output_norm.shift", 99));
  file.keys.push_back(testing::NumberKey("atto.text.buckets", 0));
  file.keys.push_back(
      testing::ArrayKey("atto.gelu.fraction_bits", testing::kValueU8, 1, {}));
  CHECK(Result(file) == "ok");
}

TEST_CASE("every key has one type") {
  constexpr int kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 0, 8, 8, 8};
  const ModelFile file = testing::MakeSmallModel();
  for (std::size_t i = 0; i < file.keys.size(); ++i) {
    const testing::Key& key = file.keys[i];
    const bool array = key.type == testing::kValueArray;
    for (std::uint32_t type = 0; type < 13; ++type) {
      if (kBytes[type] == 0) continue;
      CAPTURE(type);
      // A string of no bytes, or zero.
      ModelFile damaged = file;
      damaged.repair_checksum = false;
      if (type != key.type) {
        damaged.keys[i] = {
            key.name, type,
            testing::Bytes(static_cast<std::size_t>(kBytes[type]))};
        CHECK(Result(damaged) == "bad_key: " + key.name);
      }
      if (!array || type != key.value[0]) {
        damaged.keys[i] =
            testing::ArrayKey(key.name, type, kBytes[type], {0, 0});
        CHECK(Result(damaged) == "bad_key: " + key.name);
      }
    }
  }
}

TEST_CASE("numbers have ranges") {
  struct Range {
    const char* name;
    std::int64_t min;
    std::int64_t max;
  };
  constexpr Range kRanges[] = {
      {"atto.context_length", 1, 512},
      {"atto.embedding_length", 8, 512},
      {"atto.input_length", 1, 512},
      {"atto.block_count", 1, 64},
      {"atto.attention.head_count", 1, 512},
      {"atto.feed_forward_length", 1, 4096},
      {"atto.pooling.shift", 0, 6},
      {"atto.position.shift", 0, 8},
      {"atto.token_embd.multiplier", 1, 32767},
      {"atto.in_proj.shift", 0, 24},
      {"atto.head.shift", 0, 24},
      {"atto.output_norm.shift", 0, 7},
      {"atto.input_norm.shift", 0, 7},
  };
  for (const Range& range : kRanges) {
    CAPTURE(range.name);
    ModelFile file = testing::MakeSmallModel();
    if (!file.has_key(range.name)) file = testing::MakeOtherSmallModel();
    for (const std::int64_t value :
         {range.min - 1, range.max + 1, std::int64_t{0x7FFFFFFF},
          std::int64_t{0x80000000}, std::int64_t{0xFFFFFFFF}}) {
      if (value < 0) continue;
      file.SetNumber(range.name, static_cast<std::uint64_t>(value));
      const Loaded loaded(file.Build());
      CHECK(loaded.result() == std::string("bad_key: ") + range.name);
      CHECK(loaded.error.found == std::min(value, std::int64_t{0x7FFFFFFF}));
      CHECK(loaded.error.expected ==
            (value < range.min ? range.min : range.max));
    }
    // The ends are legal for the key; a shape may clash with the tensors.
    for (const std::int64_t value : {range.min, range.max}) {
      file.SetNumber(range.name, static_cast<std::uint64_t>(value));
      if (std::string(range.name) == "atto.attention.head_count" &&
          value != 1) {
        continue;
      }
      CHECK(Result(file) != std::string("bad_key: ") + range.name);
    }
  }
}

TEST_CASE("audio: numbers have ranges, some of them each other's") {
  struct Range {
    const char* name;
    std::int64_t min;
    std::int64_t max;
  };
  // Those of the small model: 5 bins in rows of one frame, FFT 32, frame 20.
  constexpr Range kRanges[] = {
      {"atto.audio.version", 1, 1},
      {"atto.audio.sample_rate", 8000, 48000},
      {"atto.audio.frame_length", 1, 32},
      {"atto.audio.hop_length", 1, 20},
      {"atto.audio.fft_length", 32, 512},
      {"atto.audio.patch_stride", 1, 1},
      {"atto.audio.log_multiplier", 1, 32767},
      {"atto.audio.log_offset", 0, 4194303},
      {"atto.audio.spot.hop", 1, 512},
      {"atto.audio.spot.smoothing", 1, 8},
      {"atto.audio.spot.looks", 2, 32},  // the votes are 2
      {"atto.audio.spot.votes", 1, 4},   // the looks are 4
      {"atto.audio.spot.refractory", 0, 10000},
  };
  const ModelFile small = testing::MakeOtherSmallModel();
  for (const Range& range : kRanges) {
    CAPTURE(range.name);
    const auto result = [&](std::int64_t value) {
      ModelFile file = small;
      const auto key =
          testing::NumberKey(range.name, static_cast<std::uint64_t>(value));
      if (file.has_key(range.name)) {
        file.key(range.name) = key;
      } else {
        file.keys.push_back(key);
      }
      return Result(file);
    };
    const std::string bad = std::string("bad_key: ") + range.name;
    if (range.min > 0) CHECK(result(range.min - 1) == bad);
    CHECK(result(range.max + 1) == bad);
    CHECK(result(0xFFFFFFFF) == bad);
    CHECK(result(range.min) != bad);
    CHECK(result(range.max) != bad);
  }
  for (const char* const name :
       {"atto.audio.bins", "atto.audio.patch_frames"}) {
    ModelFile file = small;
    file.SetNumber(name, 2);
    CHECK(Result(file) == "bad_key: atto.input_length");
    file.SetNumber(name, 0);
    CHECK(Result(file) == std::string("bad_key: ") + name);
  }
  ModelFile file = small;
  file.SetNumber("atto.audio.fft_length", 48);
  CHECK(Result(file) == "bad_key: atto.audio.fft_length");
}

TEST_CASE("audio: keys of the spotter are optional and read") {
  ModelFile file = testing::MakeOtherSmallModel();
  {
    const Loaded loaded(file.Build());
    const SpotterParams& params = loaded.model.spotter_params();
    CHECK(params.hop == 5);
    CHECK(params.smoothing == 3);
    CHECK(params.looks == 4);
    CHECK(params.votes == 2);
    CHECK(params.refractory == 750);
    CHECK(params.thresholds == nullptr);
  }
  file.keys.push_back(testing::NumberKey("atto.audio.spot.hop", 7));
  file.keys.push_back(testing::NumberKey("atto.audio.spot.smoothing", 8));
  file.keys.push_back(testing::NumberKey("atto.audio.spot.looks", 9));
  file.keys.push_back(testing::NumberKey("atto.audio.spot.votes", 6));
  file.keys.push_back(testing::NumberKey("atto.audio.spot.refractory", 5));
  file.keys.push_back(testing::ArrayKey("atto.audio.spot.thresholds",
                                        testing::kValueU16, 2, {1, 2, 65535}));
  const Loaded loaded(file.Build());
  REQUIRE(loaded.result() == "ok");
  const SpotterParams& params = loaded.model.spotter_params();
  CHECK(params.hop == 7);
  CHECK(params.smoothing == 8);
  CHECK(params.looks == 9);
  CHECK(params.votes == 6);
  CHECK(params.refractory == 5);
  REQUIRE(params.thresholds != nullptr);
  CHECK(LoadU16(params.thresholds + 4) == 65535);
  file.key("atto.audio.spot.thresholds") = testing::ArrayKey(
      "atto.audio.spot.thresholds", testing::kValueU16, 2, {1, 2});
  CHECK(Result(file) == "bad_key: atto.audio.spot.thresholds");
}

TEST_CASE("audio: filters lie within the spectrum and have their weights") {
  const auto with_filter = [](int first, int count) {
    ModelFile file = testing::MakeOtherSmallModel();
    testing::Bytes& data = file.tensor("audio.mel_filters").data;
    testing::Tensor& weights = file.tensor("audio.mel_weights");
    const int old = data[2] | data[3] << 8;
    weights.dims[0] += static_cast<std::uint64_t>(count - old);
    testing::ResizeData(&weights);
    for (int i = 0; i < 2; ++i) {
      data[static_cast<std::size_t>(i)] =
          static_cast<std::uint8_t>(first >> (8 * i));
      data[static_cast<std::size_t>(2 + i)] =
          static_cast<std::uint8_t>(count >> (8 * i));
    }
    return Result(file);
  };
  CHECK(with_filter(1, 15) == "ok");
  CHECK(with_filter(15, 1) == "ok");
  CHECK(with_filter(0, 3) == "bad_tensor: audio.mel_filters");
  CHECK(with_filter(3, 0) == "bad_tensor: audio.mel_filters");
  CHECK(with_filter(1, 16) == "bad_tensor: audio.mel_filters");
  CHECK(with_filter(15, 2) == "bad_tensor: audio.mel_filters");
  ModelFile file = testing::MakeOtherSmallModel();
  testing::Tensor& weights = file.tensor("audio.mel_weights");
  ++weights.dims[0];
  testing::ResizeData(&weights);
  CHECK(Result(file) == "bad_tensor: audio.mel_weights");
  weights.dims[0] -= 2;
  testing::ResizeData(&weights);
  CHECK(Result(file) == "bad_tensor: audio.mel_weights");
}

TEST_CASE("arrays hold one number a block, each in its range") {
  struct Range {
    const char* name;
    std::uint32_t type;
    int bytes;
    std::int64_t min;
    std::int64_t max;
  };
  constexpr Range kRanges[] = {
      {"atto.attn_q.shift", testing::kValueU8, 1, 0, 24},
      {"atto.attn_k.shift", testing::kValueU8, 1, 0, 24},
      {"atto.attn_v.shift", testing::kValueU8, 1, 0, 24},
      {"atto.attn_o.shift", testing::kValueU8, 1, 0, 24},
      {"atto.ffn_up.shift", testing::kValueU8, 1, 0, 24},
      {"atto.ffn_down.shift", testing::kValueU8, 1, 0, 24},
      {"atto.attn_score.shift", testing::kValueI8, 1, -4, 20},
      {"atto.attn_score.multiplier", testing::kValueU16, 2, 1, 32767},
      {"atto.attn_norm.shift", testing::kValueU8, 1, 0, 7},
      {"atto.ffn_norm.shift", testing::kValueU8, 1, 0, 7},
      {"atto.gelu.fraction_bits", testing::kValueU8, 1, 3, 6},
  };
  for (const Range& range : kRanges) {
    CAPTURE(range.name);
    ModelFile file = testing::MakeSmallModel();
    const std::string bad = std::string("bad_key: ") + range.name;
    const auto result = [&](const std::vector<std::int64_t>& values) {
      file.key(range.name) =
          testing::ArrayKey(range.name, range.type, range.bytes, values);
      return Result(file);
    };
    CHECK(result({range.min, range.max}) == "ok");
    CHECK(result({range.max, range.min}) == "ok");
    CHECK(result({range.min, range.max + 1}) == bad);
    CHECK(result({range.max + 1, range.min}) == bad);
    if (range.min != 0) CHECK(result({range.min, range.min - 1}) == bad);
    CHECK(result({range.min, -1}) ==
          (range.type == testing::kValueI8 ? "ok" : bad));
    CHECK(result({}) == bad);
    CHECK(result({range.min}) == bad);
    CHECK(result({range.min, range.min, range.min}) == bad);
  }
}

TEST_CASE("words are one of two") {
  for (const char* name :
       {"atto.input", "atto.norm", "atto.activation", "atto.pooling"}) {
    for (const char* word : {"", "x", "Text", "texts", "preposterous", "mea"}) {
      ModelFile file = testing::MakeSmallModel();
      file.SetString(name, word);
      CHECK(Result(file) == std::string("bad_key: ") + name);
    }
  }
}

TEST_CASE("other architectures and formats are named as such") {
  ModelFile file = testing::MakeSmallModel();
  file.SetString("general.architecture", "llama");
  const Loaded loaded(file.Build());
  CHECK(loaded.result() == "unsupported: general.architecture");
  // No numbers where the matter is none.
  CHECK(loaded.error.found == 0);
  CHECK(loaded.error.expected == 0);
  // Whatever else is wrong with a file of another kind.
  file.RemoveKey("atto.norm");
  CHECK(Result(file) == "unsupported: general.architecture");
  for (const std::uint64_t version : {0U, 2U, 0xFFFFFFFFU}) {
    file = testing::MakeSmallModel();
    file.SetNumber("atto.format_version", version);
    CHECK(Result(file) == "bad_version: atto.format_version");
  }
}

TEST_CASE("heads divide the width, and a class token leaves room") {
  ModelFile file = testing::MakeSmallModel();
  file.SetNumber("atto.attention.head_count", 3);
  const Loaded loaded(file.Build());
  CHECK(loaded.result() == "bad_key: atto.attention.head_count");
  CHECK(loaded.error.found == 3);
  CHECK(loaded.error.expected == 8);
  file.SetNumber("atto.attention.head_count", 16);
  CHECK(Result(file) == "bad_key: atto.attention.head_count");
  for (const unsigned heads : {1U, 2U, 4U, 8U}) {
    file.SetNumber("atto.attention.head_count", heads);
    CHECK(Result(file) == "ok");
  }
  ModelOptions options;
  options.shape = testing::SmallShape();
  options.shape.pooling = Pooling::kClass;
  options.shape.tokens = 2;
  CHECK(Result(testing::MakeModel(options)) == "ok");
  options.shape.tokens = 1;
  CHECK(Result(testing::MakeModel(options)) == "bad_key: atto.context_length");
}

TEST_CASE("labels are 2..1024 texts of 1..63 printable bytes") {
  const auto result = [](const std::vector<std::string>& labels) {
    ModelOptions options;
    options.shape = testing::SmallShape();
    options.shape.classes = static_cast<std::uint16_t>(labels.size());
    ModelFile file = testing::MakeModel(options);
    file.key("atto.labels") = testing::StringsKey("atto.labels", labels);
    return Result(file);
  };
  const std::string bad = "bad_key: atto.labels";
  CHECK(result({"a", "b"}) == "ok");
  CHECK(result({"a", std::string(63, 'b')}) == "ok");
  CHECK(result({"sí", "否", "\xF0\x9F\x99\x82", "ham and eggs"}) == "ok");
  CHECK(result({"a"}) == bad);
  CHECK(result(std::vector<std::string>(1025, "a")) == bad);
  CHECK(result({"a", ""}) == bad);
  CHECK(result({"", "a"}) == bad);
  CHECK(result({"a", std::string(64, 'b')}) == bad);
  for (const char* text : {"\n", "\t", "a\x7F", "\x1B[31m", "\x80", "\xC3",
                           "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                           "\xE2\x82", "a\xFF", "\xC2\x85", "\xC2\x9B"}) {
    CAPTURE(text);
    CHECK(result({"a", text}) == bad);
  }
  CHECK(result({"a", std::string(1, '\0')}) == bad);
  CHECK(result({"a", "\xC2\xA0"}) == "ok");
  // Marks that turn the direction of text, and separators of lines.
  for (const char* text :
       {"\xD8\x9C", "\xE2\x80\x8E", "\xE2\x80\x8F", "\xE2\x80\xA8",
        "\xE2\x80\xAE"
        "mah",
        "\xE2\x81\xA6", "\xE2\x81\xA9"}) {
    CAPTURE(text);
    CHECK(result({"a", text}) == bad);
  }
  // Their neighbours: joiners that scripts need, and spaces.
  for (const char* text : {"\xE2\x80\x8D", "\xE2\x80\x90", "\xE2\x80\xA7",
                           "\xE2\x80\xAF", "\xE2\x81\xAA"}) {
    CAPTURE(text);
    CHECK(result({"a", text}) == "ok");
  }
  ModelFile file = testing::MakeSmallModel();
  file.SetString("general.name", "two\nlines");
  CHECK(Result(file) == "bad_key: general.name");
  file.SetString("general.name", "");
  CHECK(Result(file) == "bad_key: general.name");
}

TEST_CASE("no two labels are alike") {
  const auto repeat = [](unsigned first, unsigned second, unsigned classes) {
    ModelOptions options;
    options.shape = testing::SmallShape();
    options.shape.classes = static_cast<std::uint16_t>(classes);
    ModelFile file = testing::MakeModel(options);
    std::vector<std::string> labels;
    for (unsigned i = 0; i < classes; ++i) labels.push_back(std::to_string(i));
    labels[second] = labels[first];
    file.key("atto.labels") = testing::StringsKey("atto.labels", labels);
    const Loaded loaded(file.Build());
    CHECK(loaded.error.expected == first);
    CHECK(loaded.error.found == second);
    return loaded.result();
  };
  CHECK(repeat(0, 1, 2) == "bad_key: atto.labels");
  CHECK(repeat(0, 2, 3) == "bad_key: atto.labels");
  CHECK(repeat(500, 1023, 1024) == "bad_key: atto.labels");
}

TEST_CASE("what needs no look at the data is found before the checksum") {
  const auto unsummed = [](ModelFile file) {
    file.repair_checksum = false;
    return Result(file);
  };
  for (const ModelFile& file :
       {testing::MakeSmallModel(), testing::MakeOtherSmallModel()}) {
    CHECK(unsummed(file) == "bad_checksum: atto.checksum");
    for (const testing::Tensor& tensor : file.tensors) {
      if (tensor.name == "position_embd.weight") continue;
      ModelFile damaged = file;
      damaged.RemoveTensor(tensor.name);
      CHECK(unsummed(damaged) == "missing_tensor: " + tensor.name);
    }
  }
  ModelFile file = testing::MakeSmallModel();
  file.RemoveKey("atto.position.shift");
  CHECK(unsummed(file) == "missing_key: atto.position.shift");
  file = testing::MakeSmallModel();
  file.tensor("text.fold_table").data.push_back(0);
  file.tensor("text.fold_table").dims[0] += 1;
  CHECK(unsummed(file) == "bad_tensor: text.fold_table");
  // What stands in the table is a matter of its values.
  file = testing::MakeSmallModel();
  file.tensor("text.fold_table").data[12] = 0;
  CHECK(unsummed(file) == "bad_checksum: atto.checksum");
  CHECK(Result(file) == "bad_tensor: text.fold_table");
}

TEST_CASE("the text front end's parameters are checked by their owner") {
  for (const char* name :
       {"version", "buckets", "features", "ngram_min", "ngram_max",
        "max_word_chars", "max_features", "phone_min_digits", "join_spaced_min",
        "join_dotted_min"}) {
    const std::string key = std::string("atto.text.") + name;
    ModelFile damaged = testing::MakeSmallModel();
    damaged.SetNumber(key, 0xFFFFFFFF);
    CHECK(Result(damaged) == "bad_key: " + key);
  }
  ModelFile file = testing::MakeSmallModel();
  file.SetNumber("atto.text.buckets", 65536);
  CHECK(Result(file) == "bad_key: atto.text.buckets");
  // Above 2^31 too: nothing wraps.
  file.SetNumber("atto.text.buckets", 0x80000010);
  CHECK(Result(file) == "bad_key: atto.text.buckets");
  file = testing::MakeSmallModel();
  file.tensor("text.fold_table").data[0] = 'B';
  CHECK(Result(file) == "bad_tensor: text.fold_table");
  file = testing::MakeSmallModel();
  file.tensor("text.fold_table").data.push_back(0);
  file.tensor("text.fold_table").dims[0] += 1;
  CHECK(Result(file) == "bad_tensor: text.fold_table");
}

TEST_CASE("every tensor is required, but for positions") {
  for (const ModelFile& file :
       {testing::MakeSmallModel(), testing::MakeOtherSmallModel()}) {
    for (const testing::Tensor& tensor : file.tensors) {
      CAPTURE(tensor.name);
      ModelFile damaged = file;
      damaged.RemoveTensor(tensor.name);
      const bool optional = tensor.name == "position_embd.weight";
      CHECK(Result(damaged) ==
            (optional ? "ok" : "missing_tensor: " + tensor.name));
    }
  }
  // Two digits in a block's name.
  ModelOptions options;
  options.shape = testing::SmallShape();
  options.shape.blocks = 64;
  for (const char* name : {"blk.9.ffn_up.bias", "blk.10.attn_q.multiplier",
                           "blk.63.ffn_norm.gain"}) {
    ModelFile file = testing::MakeModel(options);
    file.RemoveTensor(name);
    CHECK(Result(file) == std::string("missing_tensor: ") + name);
  }
}

TEST_CASE("a tensor twice, or one that the model has no place for") {
  for (const ModelFile& file :
       {testing::MakeSmallModel(), testing::MakeOtherSmallModel()}) {
    for (std::size_t i = 0; i < file.tensors.size(); ++i) {
      ModelFile damaged = file;
      damaged.tensors.push_back(file.tensors[i]);
      CHECK(Result(damaged) == "bad_tensor: " + file.tensors[i].name);
    }
  }
  const auto added = [](ModelFile file, const std::string& name) {
    file.tensors.push_back(
        {name, testing::kDataI16, {8}, testing::Bytes(16, 1), 0});
    const Loaded loaded(file.Build());
    CHECK(std::string(loaded.error.expectation) ==
          "is no tensor of a model of this shape");
    return loaded.result();
  };
  for (const char* name : {"x",
                           "in_proj",
                           "in_proj.",
                           "in_proj.weights",
                           "in_proj.gain",
                           "in_proj.fold_table",
                           "in_projection.weight",
                           ".weight",
                           "input_norm.gain",
                           "class_embd.weight",
                           "text.weight",
                           "attn_q.weight",
                           "blk",
                           "blk.",
                           "blk.0",
                           "blk.0.",
                           "blk.0.attn_q",
                           "blk.0.attn_q.gain",
                           "blk.2.attn_q.weight",
                           "blk.00.attn_q.weight",
                           "blk.01.attn_q.weight",
                           "blk.-1.attn_q.weight",
                           "blk..attn_q.weight",
                           "blk.64.attn_q.weight",
                           "blk.100.attn_q.weight",
                           "blk.4294967296.attn_q.weight",
                           "blk.0.head.weight",
                           "blk.0.attn_norm.weight",
                           "BLK.0.attn_q.weight",
                           "blk.0.attn_q.weight.x",
                           "blk.0xattn_q.weight",
                           "blk.0"}) {
    CHECK(added(testing::MakeSmallModel(), name) ==
          std::string("bad_tensor: ") + name);
  }
  for (const char* name :
       {"output_norm.gain", "token_embd.weight", "text.fold_table"}) {
    CHECK(added(testing::MakeOtherSmallModel(), name) ==
          std::string("bad_tensor: ") + name);
  }
}

TEST_CASE("every tensor has one type and one shape") {
  for (const ModelFile& file :
       {testing::MakeSmallModel(), testing::MakeOtherSmallModel()}) {
    for (std::size_t i = 0; i < file.tensors.size(); ++i) {
      const std::string bad = "bad_tensor: " + file.tensors[i].name;
      CAPTURE(bad);
      for (const std::uint32_t type : {testing::kDataF32, testing::kDataI8,
                                       testing::kDataI16, testing::kDataI32}) {
        if (type == file.tensors[i].type) continue;
        ModelFile damaged = file;
        testing::Tensor& tensor = damaged.tensors[i];
        tensor.type = type;
        testing::ResizeData(&tensor);
        const Loaded loaded(damaged.Build());
        CHECK(loaded.result() == bad);
        CHECK(loaded.error.found == type);
        CHECK(loaded.error.expected == file.tensors[i].type);
      }
      // One more and one less in every dimension; a dimension more.
      for (std::size_t dim = 0; dim <= file.tensors[i].dims.size(); ++dim) {
        for (const int change : {-1, 1}) {
          ModelFile damaged = file;
          testing::Tensor& tensor = damaged.tensors[i];
          if (dim == tensor.dims.size()) {
            if (change < 0) continue;
            tensor.dims.push_back(1);
          } else {
            tensor.dims[dim] += static_cast<std::uint64_t>(change);
          }
          testing::ResizeData(&tensor);
          const Loaded loaded(damaged.Build());
          CHECK(loaded.result() == bad);
          // Of the size in question, or the number of dimensions.
          if (dim == 0 && tensor.name == "text.fold_table") continue;
          if (dim < tensor.dims.size() && tensor.dims[dim] == 0) continue;
          CHECK(loaded.error.found - loaded.error.expected == change);
        }
      }
      // Transposed, or flat.
      ModelFile damaged = file;
      testing::Tensor& tensor = damaged.tensors[i];
      if (tensor.dims.size() == 2) {
        if (tensor.dims[0] != tensor.dims[1]) {
          std::swap(tensor.dims[0], tensor.dims[1]);
          CHECK(Result(damaged) == bad);
        }
        tensor.dims = {tensor.data.size() / testing::ElementBytes(tensor.type)};
        CHECK(Result(damaged) == bad);
      }
    }
  }
}

TEST_CASE("values outside their range are found wherever they stand") {
  for (const ModelFile& file :
       {testing::MakeSmallModel(), testing::MakeOtherSmallModel()}) {
    for (std::size_t i = 0; i < file.tensors.size(); ++i) {
      const testing::Tensor& tensor = file.tensors[i];
      const auto ends_with = [&](const std::string& end) {
        return tensor.name.size() >= end.size() &&
               tensor.name.compare(tensor.name.size() - end.size(), end.size(),
                                   end) == 0;
      };
      std::vector<std::int64_t> illegal;
      if (ends_with(".multiplier")) illegal = {0, -1, -32768};
      if (ends_with(".gain")) illegal = {-32768};
      if (tensor.type == testing::kDataI32) {
        illegal = {(std::int64_t{1} << 30) + 1, -(std::int64_t{1} << 30) - 1,
                   0x7FFFFFFF, -0x7FFFFFFF - 1};
      }
      if (tensor.type == testing::kDataI8 && !ends_with("fold_table")) {
        illegal = {-128};
      }
      const std::size_t bytes = testing::ElementBytes(tensor.type);
      const std::size_t count = tensor.data.size() / bytes;
      for (const std::int64_t value : illegal) {
        for (const std::size_t at : {std::size_t{0}, count / 2, count - 1}) {
          ModelFile damaged = file;
          testing::Bytes number;
          testing::Append(&number, static_cast<std::uint64_t>(value),
                          static_cast<int>(bytes));
          std::copy(number.begin(), number.end(),
                    damaged.tensors[i].data.begin() +
                        static_cast<std::ptrdiff_t>(at * bytes));
          const Loaded loaded(damaged.Build());
          CHECK(loaded.result() == "bad_tensor: " + tensor.name);
          CHECK(loaded.error.found == value);
        }
      }
    }
  }
}

TEST_CASE("data that do not follow one another are refused") {
  for (const int error : {-32, 1, 2, 16, 32, 1 << 20}) {
    ModelFile file = testing::MakeSmallModel();
    file.tensor("head.bias").offset_error = error;
    CHECK(Result(file) == "bad_tensor: head.bias");
  }
  testing::Bytes bytes = testing::MakeSmallModel().Build();
  bytes.resize(bytes.size() + 32);
  CHECK(Result(bytes) == "bad_tensor: tensor data");
}

TEST_CASE("files of random bytes behind a valid header are refused") {
  std::mt19937 random(7);
  std::vector<BlockWeights> blocks(EncoderShape::kMaxBlocks);
  const testing::Bytes whole = testing::MakeSmallModel().Build();
  for (int round = 0; round < 2000; ++round) {
    testing::Bytes bytes = whole;
    const std::size_t from = 24 + random() % (bytes.size() - 24);
    const std::size_t size = 1 + random() % 64;
    for (std::size_t i = from; i < std::min(from + size, bytes.size()); ++i) {
      bytes[i] = static_cast<std::uint8_t>(random());
    }
    const testing::FileBytes file(bytes);
    Model model;
    const Status status =
        model.Init(file.span(), {blocks.data(), blocks.size()}, nullptr);
    CHECK((status == Status::kOk) == (bytes == whole));
  }
}

// So that an empty classifier lies where memory is cleared, and not in flash.
TEST_CASE("a model that nobody has read is all zero") {
  static const ModelParts parts;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&parts);
  std::size_t others = 0;
  for (std::size_t i = 0; i < sizeof(parts); ++i) others += bytes[i] != 0;
  CHECK(others == 0);
}

TEST_CASE("the caller's memory is checked") {
  const testing::Bytes bytes = testing::MakeSmallModel().Build();
  for (const std::size_t misalignment : {1U, 2U, 4U, 8U, 15U}) {
    const Loaded loaded(bytes, misalignment);
    CHECK(loaded.result() == "misaligned: model");
    CHECK(loaded.error.found == static_cast<std::int64_t>(misalignment));
  }
  CHECK(Loaded(bytes, 16).result() == "ok");

  const testing::FileBytes file(bytes);
  BlockWeights blocks[2];
  Model model;
  ErrorInfo error;
  CHECK(model.Init({}, blocks, &error) == Status::kNullPointer);
  CHECK(std::string(error.subject) == "model");
  CHECK(model.Init(file.span(), {}, &error) == Status::kNullPointer);
  CHECK(std::string(error.subject) == "block table");
  CHECK(model.Init(file.span(), Span<BlockWeights>(blocks, 1), &error) ==
        Status::kBufferTooSmall);
  CHECK(error.found == 1);
  CHECK(error.expected == 2);
  CHECK(model.Init(file.span(), blocks, nullptr) == Status::kOk);

  EncoderShape shape;
  CHECK(Model::ReadShape(file.span(), nullptr, &error) == Status::kNullPointer);
  CHECK(Model::ReadShape({}, &shape, &error) == Status::kNullPointer);
  // Alone, the shape needs no alignment.
  const testing::FileBytes odd(bytes, 1);
  CHECK(Model::ReadShape(odd.span(), &shape, &error) == Status::kOk);
  CHECK(shape.blocks == 2);
}

TEST_CASE("a failed Init leaves an empty model, a later one fills it") {
  const testing::FileBytes good(testing::MakeSmallModel().Build());
  ModelFile damaged_file = testing::MakeSmallModel();
  damaged_file.tensor("head.weight").data[0] = 0x80;
  const testing::FileBytes damaged(damaged_file.Build());
  std::vector<BlockWeights> blocks(2);
  const Span<BlockWeights> table(blocks.data(), blocks.size());
  Model model;
  CHECK_FALSE(model.initialized());
  REQUIRE(model.Init(good.span(), table, nullptr) == Status::kOk);
  CHECK(model.Init(damaged.span(), table, nullptr) == Status::kBadTensor);
  CHECK_FALSE(model.initialized());
  CHECK(model.blocks().empty());
  CHECK(model.shape().blocks == 0);
  CHECK(model.in_proj().weights == nullptr);
  REQUIRE(model.Init(good.span(), table, nullptr) == Status::kOk);
  CHECK(model.initialized());
}

TEST_CASE("a wrong checksum names both numbers") {
  ModelFile file = testing::MakeSmallModel();
  testing::Bytes bytes = file.Build();
  bytes[file.ChecksumOffset()] ^= 1;
  const Loaded loaded(bytes);
  CHECK(loaded.result() == "bad_checksum: atto.checksum");
  CHECK((loaded.error.found ^ loaded.error.expected) == 1);
}

TEST_CASE("the iterator gives every tensor in the file's order") {
  const ModelFile file = testing::MakeSmallModel();
  const Loaded loaded(file.Build());
  REQUIRE(loaded.result() == "ok");
  TensorIterator tensors(loaded.model);
  GgufTensor tensor;
  for (const testing::Tensor& written : file.tensors) {
    REQUIRE(tensors.Next(&tensor));
    CHECK(Text(tensor.name) == written.name);
    CHECK(static_cast<std::uint32_t>(tensor.type) == written.type);
    CHECK(tensor.dims == written.dims.size());
    CHECK(tensor.shape[0] == written.dims[0]);
    REQUIRE(tensor.bytes == written.data.size());
    CHECK(std::memcmp(tensor.data, written.data.data(), tensor.bytes) == 0);
  }
  CHECK_FALSE(tensors.Next(&tensor));
  CHECK_FALSE(tensors.Next(&tensor));
  TensorIterator none((Model()));
  CHECK_FALSE(none.Next(&tensor));
}

}  // namespace
}  // namespace atto
