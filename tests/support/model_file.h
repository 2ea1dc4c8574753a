// GGUF files made in memory, for tests: valid models of any shape, and the
// means to damage every part of one. Written from docs/model_format.md and the
// GGUF specification, not from the reader.
#ifndef ATTO_TESTS_SUPPORT_MODEL_FILE_H_
#define ATTO_TESTS_SUPPORT_MODEL_FILE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ops/base/span.h"
#include "runtime/model/shape.h"

namespace atto::testing {

using Bytes = std::vector<std::uint8_t>;

// Numbers of the container.
enum ValueType : std::uint32_t {
  kValueU8 = 0,
  kValueI8 = 1,
  kValueU16 = 2,
  kValueU32 = 4,
  kValueString = 8,
  kValueArray = 9,
  kValueF64 = 12,
};
enum DataType : std::uint32_t {
  kDataF32 = 0,
  kDataI8 = 24,
  kDataI16 = 25,
  kDataI32 = 26,
};

inline void Append(Bytes* out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    out->push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
}

inline void AppendString(Bytes* out, const std::string& text) {
  Append(out, text.size(), 8);
  out->insert(out->end(), text.begin(), text.end());
}

// CRC-32 that shares nothing with the library: the table is made bit by bit.
inline std::uint32_t TestCrc32(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::uint32_t> table = [] {
    std::vector<std::uint32_t> entries(256);
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t remainder = i;
      for (int bit = 0; bit < 8; ++bit) {
        remainder =
            (remainder >> 1) ^ ((remainder & 1U) != 0 ? 0xEDB88320U : 0U);
      }
      entries[i] = remainder;
    }
    return entries;
  }();
  std::uint32_t crc = 0xFFFFFFFF;
  for (std::size_t i = 0; i < size; ++i) {
    crc = (crc >> 8) ^ table[(crc ^ data[i]) & 0xFFU];
  }
  return ~crc;
}

// Bytes at an address that is a multiple of 4096 plus `misalignment`, of
// exactly their size, so that a sanitizer sees the first byte beyond.
class FileBytes {
 public:
  explicit FileBytes(const Bytes& bytes, std::size_t misalignment = 0)
      : memory_(static_cast<std::uint8_t*>(::operator new(
            bytes.size() + misalignment, std::align_val_t{kAlignment}))),
        data_(memory_.get() + misalignment),
        size_(bytes.size()) {
    if (size_ != 0) std::memcpy(data_, bytes.data(), size_);
  }

  std::uint8_t* data() { return data_; }
  Span<const std::uint8_t> span() const { return {data_, size_}; }

 private:
  static constexpr std::size_t kAlignment = 4096;
  struct Delete {
    void operator()(std::uint8_t* p) const {
      ::operator delete(p, std::align_val_t{kAlignment});
    }
  };

  std::unique_ptr<std::uint8_t, Delete> memory_;
  std::uint8_t* data_;
  std::size_t size_;
};

struct Key {
  std::string name;
  std::uint32_t type = kValueU32;
  Bytes value;  // of an array: element type, count, elements
};

struct Tensor {
  std::string name;
  std::uint32_t type = kDataI8;
  std::vector<std::uint64_t> dims;  // innermost first
  Bytes data;
  std::int64_t offset_error = 0;  // added to the right offset
};

inline std::size_t ElementBytes(std::uint32_t type) {
  return type == kDataI8 ? 1 : type == kDataI16 ? 2 : 4;
}

// Makes the data as long as type and dimensions say.
inline void ResizeData(Tensor* tensor) {
  std::size_t bytes = ElementBytes(tensor->type);
  for (const std::uint64_t size : tensor->dims) {
    bytes *= static_cast<std::size_t>(size);
  }
  tensor->data.resize(bytes);
}

inline Key StringKey(const std::string& name, const std::string& text) {
  Key key{name, kValueString, {}};
  AppendString(&key.value, text);
  return key;
}

inline Key NumberKey(const std::string& name, std::uint64_t value) {
  Key key{name, kValueU32, {}};
  Append(&key.value, value, 4);
  return key;
}

// `bytes`: of an element.
inline Key ArrayKey(const std::string& name, std::uint32_t type, int bytes,
                    const std::vector<std::int64_t>& values) {
  Key key{name, kValueArray, {}};
  Append(&key.value, type, 4);
  Append(&key.value, values.size(), 8);
  for (const std::int64_t value : values) {
    Append(&key.value, static_cast<std::uint64_t>(value), bytes);
  }
  return key;
}

inline Key StringsKey(const std::string& name,
                      const std::vector<std::string>& texts) {
  Key key{name, kValueArray, {}};
  Append(&key.value, kValueString, 4);
  Append(&key.value, texts.size(), 8);
  for (const std::string& text : texts) AppendString(&key.value, text);
  return key;
}

// A file as lists that a test may edit before Build.
struct ModelFile {
  std::vector<Key> keys;
  std::vector<Tensor> tensors;
  std::uint32_t alignment = 32;
  std::uint32_t version = 3;
  // Added to the counts in the header.
  std::uint64_t key_count_error = 0;
  std::uint64_t tensor_count_error = 0;
  bool repair_checksum = true;

  Key& key(const std::string& name) { return Find(&keys, name); }
  Tensor& tensor(const std::string& name) { return Find(&tensors, name); }
  bool has_key(const std::string& name) const {
    return std::any_of(keys.begin(), keys.end(),
                       [&](const Key& key) { return key.name == name; });
  }
  void RemoveKey(const std::string& name) {
    keys.erase(keys.begin() + (&key(name) - keys.data()));
  }
  void RemoveTensor(const std::string& name) {
    tensors.erase(tensors.begin() + (&tensor(name) - tensors.data()));
  }
  void SetNumber(const std::string& name, std::uint64_t value) {
    key(name) = NumberKey(name, value);
  }
  void SetString(const std::string& name, const std::string& text) {
    key(name) = StringKey(name, text);
  }

  // The file's bytes; its checksum is right if there is one to repair.
  Bytes Build() const {
    Bytes out = {'G', 'G', 'U', 'F'};
    Append(&out, version, 4);
    Append(&out, tensors.size() + tensor_count_error, 8);
    Append(&out, keys.size() + key_count_error, 8);
    for (const Key& key : keys) {
      AppendString(&out, key.name);
      Append(&out, key.type, 4);
      out.insert(out.end(), key.value.begin(), key.value.end());
    }
    std::uint64_t offset = 0;
    for (const Tensor& tensor : tensors) {
      AppendString(&out, tensor.name);
      Append(&out, tensor.dims.size(), 4);
      for (const std::uint64_t size : tensor.dims) Append(&out, size, 8);
      Append(&out, tensor.type, 4);
      Append(&out, offset + static_cast<std::uint64_t>(tensor.offset_error), 8);
      offset += tensor.data.size();
      offset += (alignment - offset % alignment) % alignment;
    }
    Pad(&out);
    for (const Tensor& tensor : tensors) {
      out.insert(out.end(), tensor.data.begin(), tensor.data.end());
      Pad(&out);
    }
    if (repair_checksum) RepairChecksum(&out);
    return out;
  }

  // Offset of the checksum's four bytes, 0 if the file has none.
  std::size_t ChecksumOffset() const {
    std::size_t offset = 24;
    for (const Key& key : keys) {
      offset += 8 + key.name.size() + 4;
      if (key.name == "atto.checksum") return offset;
      offset += key.value.size();
    }
    return 0;
  }

  // Legal: `bytes` has its checksum where Build has put it.
  void RepairChecksum(Bytes* bytes) const {
    const std::size_t offset = ChecksumOffset();
    if (offset == 0) return;
    std::fill_n(bytes->begin() + static_cast<std::ptrdiff_t>(offset), 4,
                std::uint8_t{0});
    const std::uint32_t crc = TestCrc32(bytes->data(), bytes->size());
    for (unsigned i = 0; i < 4; ++i) {
      (*bytes)[offset + i] = static_cast<std::uint8_t>(crc >> (8 * i));
    }
  }

 private:
  template <typename Item>
  static Item& Find(std::vector<Item>* items, const std::string& name) {
    for (Item& item : *items) {
      if (item.name == name) return item;
    }
    throw std::logic_error("the file has no " + name);
  }

  void Pad(Bytes* out) const {
    while (out->size() % alignment != 0) out->push_back(0);
  }
};

struct ModelOptions {
  EncoderShape shape;
  bool positions = false;
  std::uint32_t buckets = 16;  // rows of the embedding table
  std::uint32_t alignment = 32;
  std::uint32_t seed = 1;
};

// A shape of the given size; the other members are at their defaults.
inline EncoderShape SmallShape() {
  EncoderShape shape;
  shape.tokens = 4;
  shape.d_model = 8;
  shape.heads = 2;
  shape.d_ffn = 3;
  shape.blocks = 2;
  shape.d_input = 5;
  shape.classes = 3;
  return shape;
}

// The front end of test models whose rows have the given width.
inline AudioShape TestAudioShape(std::uint16_t d_input) {
  std::uint16_t frames = 1;
  while (d_input % frames != 0 || d_input / frames > 128) ++frames;
  AudioShape audio;
  audio.sample_rate = 8000;
  audio.frame_length = 20;
  audio.hop_length = 10;
  audio.fft_length = 32;
  audio.bins = static_cast<std::uint16_t>(d_input / frames);
  audio.patch_frames = frames;
  audio.patch_stride = frames;
  return audio;
}

// Draws a valid model: every number at random within its legal range.
class RandomModel {
 public:
  static ModelFile Make(const ModelOptions& options) {
    return RandomModel(options).Take();
  }

 private:
  explicit RandomModel(const ModelOptions& options)
      : options_(options), random_(options.seed) {
    const EncoderShape& shape = options.shape;
    file_.alignment = options.alignment;
    AddKeys();
    if (shape.input == Input::kText) AddText();
    if (shape.input == Input::kAudio) AddAudio();
    AddLinear("in_proj", shape.d_model, shape.d_input);
    if (options.positions) {
      AddMatrix("position_embd.weight", shape.tokens, shape.d_model);
      Number("atto.position.shift", 0, 8);
    }
    if (shape.pooling == Pooling::kClass) {
      AddVector("class_embd.weight", kDataI16, shape.d_model, -32768, 32767);
    }
    AddNorm(shape.norm == Norm::kPost ? "input_norm" : "output_norm");
    for (unsigned i = 0; i < shape.blocks; ++i) AddBlock(i);
    AddLinear("head", shape.classes, shape.d_model);
  }

  ModelFile Take() { return std::move(file_); }

  std::int64_t Draw(std::int64_t min, std::int64_t max) {
    const std::uint64_t range = static_cast<std::uint64_t>(max - min) + 1;
    return min + static_cast<std::int64_t>(random_() % range);
  }

  void Number(const std::string& name, std::int64_t min, std::int64_t max) {
    file_.keys.push_back(
        NumberKey(name, static_cast<std::uint64_t>(Draw(min, max))));
  }

  void BlockNumbers(const std::string& name, std::uint32_t type, int bytes,
                    std::int64_t min, std::int64_t max) {
    std::vector<std::int64_t> values(options_.shape.blocks);
    for (std::int64_t& value : values) value = Draw(min, max);
    file_.keys.push_back(ArrayKey(name, type, bytes, values));
  }

  void AddKeys() {
    const EncoderShape& shape = options_.shape;
    std::vector<Key>& keys = file_.keys;
    keys.push_back(StringKey("general.architecture", "atto-encoder"));
    keys.push_back(StringKey("general.name", "a test"));
    keys.push_back(NumberKey("general.alignment", options_.alignment));
    keys.push_back(NumberKey("atto.format_version", 1));
    keys.push_back(NumberKey("atto.checksum", 0));
    keys.push_back(StringKey("atto.input",
                             shape.input == Input::kText ? "text" : "audio"));
    keys.push_back(NumberKey("atto.context_length", shape.tokens));
    keys.push_back(NumberKey("atto.embedding_length", shape.d_model));
    keys.push_back(NumberKey("atto.input_length", shape.d_input));
    keys.push_back(NumberKey("atto.block_count", shape.blocks));
    keys.push_back(NumberKey("atto.attention.head_count", shape.heads));
    keys.push_back(NumberKey("atto.feed_forward_length", shape.d_ffn));
    const bool post = shape.norm == Norm::kPost;
    const bool gelu = shape.activation == Activation::kGelu;
    const bool mean = shape.pooling == Pooling::kMean;
    keys.push_back(StringKey("atto.norm", post ? "post" : "pre"));
    keys.push_back(StringKey("atto.activation", gelu ? "gelu" : "relu"));
    keys.push_back(StringKey("atto.pooling", mean ? "mean" : "class"));
    if (mean) Number("atto.pooling.shift", 0, 6);
    std::vector<std::string> labels;
    for (unsigned i = 0; i < shape.classes; ++i) {
      labels.push_back("label " + std::to_string(i * i));
    }
    keys.push_back(StringsKey("atto.labels", labels));
    Number("atto.in_proj.shift", 0, 24);
    Number("atto.head.shift", 0, 24);
    for (const char* layer :
         {"attn_q", "attn_k", "attn_v", "attn_o", "ffn_up", "ffn_down"}) {
      BlockNumbers(std::string("atto.") + layer + ".shift", kValueU8, 1, 0, 24);
    }
    BlockNumbers("atto.attn_score.shift", kValueI8, 1, -4, 20);
    BlockNumbers("atto.attn_score.multiplier", kValueU16, 2, 1, 32767);
    BlockNumbers("atto.attn_norm.shift", kValueU8, 1, 0, 7);
    BlockNumbers("atto.ffn_norm.shift", kValueU8, 1, 0, 7);
    Number(post ? "atto.input_norm.shift" : "atto.output_norm.shift", 0, 7);
    if (gelu) BlockNumbers("atto.gelu.fraction_bits", kValueU8, 1, 3, 6);
  }

  void AddText() {
    Number("atto.token_embd.multiplier", 1, 32767);
    std::vector<Key>& keys = file_.keys;
    keys.push_back(NumberKey("atto.text.version", 1));
    keys.push_back(NumberKey("atto.text.buckets", options_.buckets));
    keys.push_back(NumberKey("atto.text.features", 31));
    keys.push_back(NumberKey("atto.text.ngram_min", 2));
    keys.push_back(NumberKey("atto.text.ngram_max", 4));
    keys.push_back(NumberKey("atto.text.max_word_chars", 24));
    keys.push_back(NumberKey("atto.text.max_features", 48));
    keys.push_back(NumberKey("atto.text.phone_min_digits", 9));
    keys.push_back(NumberKey("atto.text.join_spaced_min", 4));
    keys.push_back(NumberKey("atto.text.join_dotted_min", 3));
    AddMatrix("token_embd.weight", options_.buckets, options_.shape.d_input);
    // One entry: U+200B..U+200F are removed.
    const Bytes table = {'A',  'F',  'T', '1', 1, 0, 0, 0,
                         0x0B, 0x20, 0,   4,   1, 0, 0};
    file_.tensors.push_back(
        {"text.fold_table", kDataI8, {table.size()}, table, 0});
  }

  void AddAudio() {
    const AudioShape audio = TestAudioShape(options_.shape.d_input);
    std::vector<Key>& keys = file_.keys;
    keys.push_back(NumberKey("atto.audio.version", 1));
    keys.push_back(NumberKey("atto.audio.sample_rate", audio.sample_rate));
    keys.push_back(NumberKey("atto.audio.frame_length", audio.frame_length));
    keys.push_back(NumberKey("atto.audio.hop_length", audio.hop_length));
    keys.push_back(NumberKey("atto.audio.fft_length", audio.fft_length));
    keys.push_back(NumberKey("atto.audio.bins", audio.bins));
    keys.push_back(NumberKey("atto.audio.patch_frames", audio.patch_frames));
    keys.push_back(NumberKey("atto.audio.patch_stride", audio.patch_stride));
    Number("atto.audio.log_multiplier", 1, 32767);
    Number("atto.audio.log_offset", 0, (1 << 22) - 1);
    AddVector("audio.window", kDataI16, audio.frame_length, 0, 32767);
    Tensor filters{"audio.mel_filters", kDataI16, {2, audio.bins}, {}, 0};
    std::uint64_t weights = 0;
    for (unsigned i = 0; i < audio.bins; ++i) {
      const std::int64_t first = Draw(1, audio.fft_length / 2 - 1);
      const std::int64_t count = Draw(1, audio.fft_length / 2 - first);
      Append(&filters.data, static_cast<std::uint64_t>(first), 2);
      Append(&filters.data, static_cast<std::uint64_t>(count), 2);
      weights += static_cast<std::uint64_t>(count);
    }
    file_.tensors.push_back(std::move(filters));
    AddVector("audio.mel_weights", kDataI16, weights, 0, 32767);
  }

  void AddTensor(const std::string& name, std::uint32_t type,
                 std::vector<std::uint64_t> dims, std::int64_t min,
                 std::int64_t max) {
    std::uint64_t count = 1;
    for (const std::uint64_t size : dims) count *= size;
    const int bytes = static_cast<int>(ElementBytes(type));
    Tensor tensor{name, type, std::move(dims), {}, 0};
    for (std::uint64_t i = 0; i < count; ++i) {
      // The ends of the range are legal: they are drawn often.
      const std::int64_t end = Draw(0, 7);
      const std::int64_t value = end == 0   ? min
                                 : end == 1 ? max
                                            : Draw(min, max);
      Append(&tensor.data, static_cast<std::uint64_t>(value), bytes);
    }
    file_.tensors.push_back(std::move(tensor));
  }

  void AddVector(const std::string& name, std::uint32_t type,
                 std::uint64_t size, std::int64_t min, std::int64_t max) {
    AddTensor(name, type, {size}, min, max);
  }

  void AddMatrix(const std::string& name, std::uint64_t rows,
                 std::uint64_t cols) {
    AddTensor(name, kDataI8, {cols, rows}, -127, 127);
  }

  void AddLinear(const std::string& name, std::uint64_t out, std::uint64_t in) {
    constexpr std::int64_t kMaxBias = std::int64_t{1} << 30;
    AddMatrix(name + ".weight", out, in);
    AddVector(name + ".bias", kDataI32, out, -kMaxBias, kMaxBias);
    AddVector(name + ".multiplier", kDataI16, out, 1, 32767);
  }

  void AddNorm(const std::string& name) {
    const std::uint64_t d = options_.shape.d_model;
    AddVector(name + ".gain", kDataI16, d, -32767, 32767);
    AddVector(name + ".bias", kDataI16, d, -32768, 32767);
  }

  void AddBlock(unsigned block) {
    const std::string prefix = "blk." + std::to_string(block) + ".";
    const std::uint64_t d = options_.shape.d_model;
    const std::uint64_t f = options_.shape.d_ffn;
    AddNorm(prefix + "attn_norm");
    for (const char* layer : {"attn_q", "attn_k", "attn_v", "attn_o"}) {
      AddLinear(prefix + layer, d, d);
    }
    AddNorm(prefix + "ffn_norm");
    AddLinear(prefix + "ffn_up", f, d);
    AddLinear(prefix + "ffn_down", d, f);
  }

  ModelOptions options_;
  std::mt19937 random_;
  ModelFile file_;
};

inline ModelFile MakeModel(const ModelOptions& options) {
  return RandomModel::Make(options);
}

// A small model with every kind of key and tensor that can go together: text,
// positions, pre-norm, GELU, mean pooling.
inline ModelFile MakeSmallModel(std::uint16_t blocks = 2) {
  ModelOptions options;
  options.shape = SmallShape();
  options.shape.blocks = blocks;
  options.positions = true;
  return MakeModel(options);
}

// The other kinds: audio, no positions, post-norm, ReLU, class token.
inline ModelFile MakeOtherSmallModel(std::uint16_t blocks = 2) {
  ModelOptions options;
  options.shape = SmallShape();
  options.shape.blocks = blocks;
  options.shape.input = Input::kAudio;
  options.shape.norm = Norm::kPost;
  options.shape.activation = Activation::kRelu;
  options.shape.pooling = Pooling::kClass;
  return MakeModel(options);
}

}  // namespace atto::testing

#endif  // ATTO_TESTS_SUPPORT_MODEL_FILE_H_
