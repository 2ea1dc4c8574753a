// A valid model file, changed part by part: keys, types, shapes, offsets,
// parameters, values. The checksum is repaired, so that the changes reach the
// checks behind it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/run_model.h"

namespace atto::fuzz {
namespace {

using testing::Key;
using testing::ModelFile;
using testing::ModelOptions;
using testing::Tensor;

// Few: the first wrong part hides the others.
constexpr std::size_t kMaxChanges = 6;
constexpr std::uint64_t kMaxTensorBytes = 1 << 16;

ModelFile DrawModel(FuzzInput* input) {
  ModelOptions options;
  EncoderShape& shape = options.shape;
  shape = testing::SmallShape();
  const auto kind = input->Byte();
  shape.norm = static_cast<Norm>(kind & 1);
  shape.activation = static_cast<Activation>(kind >> 1 & 1);
  shape.pooling = static_cast<Pooling>(kind >> 2 & 1);
  shape.input = static_cast<Input>(kind >> 3 & 1);
  options.positions = (kind >> 4 & 1) != 0;
  if ((kind >> 5 & 1) != 0) {
    shape.heads = static_cast<std::uint16_t>(input->In(1, 4));
    shape.d_model = static_cast<std::uint16_t>(
        shape.heads * input->In((8 + shape.heads - 1) / shape.heads, 12));
    shape.tokens = static_cast<std::uint16_t>(input->In(2, 20));
    shape.d_ffn = static_cast<std::uint16_t>(input->In(1, 40));
    shape.d_input = static_cast<std::uint16_t>(input->In(1, 40));
    shape.classes = static_cast<std::uint16_t>(input->In(2, 12));
    shape.blocks = static_cast<std::uint16_t>(input->In(1, 3));
    if (input->Index(8) == 7) shape.blocks += 10;  // two digits in a name
  }
  options.alignment = 16U << input->In(0, 8);
  options.seed = static_cast<std::uint32_t>(input->In(0, 255));
  return testing::MakeModel(options);
}

// A number that is likely to matter.
std::uint64_t DrawNumber(FuzzInput* input) {
  constexpr std::uint64_t kEdges[] = {0,
                                      1,
                                      2,
                                      8,
                                      24,
                                      25,
                                      64,
                                      65,
                                      512,
                                      513,
                                      4096,
                                      4097,
                                      65535,
                                      65536,
                                      0x7FFFFFFF,
                                      0x80000000,
                                      0xFFFFFFFF,
                                      0x100000000,
                                      0x7FFFFFFFFFFFFFFF,
                                      0xFFFFFFFFFFFFFFFF};
  constexpr std::size_t kCount = sizeof(kEdges) / sizeof(kEdges[0]);
  const std::size_t choice = input->Index(kCount + 4);
  if (choice < kCount) return kEdges[choice];
  return static_cast<std::uint64_t>(
      input->In(0, choice < kCount + 2 ? 255 : 65535));
}

// A number near the one that the key has, or any that is likely to matter.
std::uint64_t DrawNumberNear(FuzzInput* input, const Key& key) {
  std::uint64_t old = 0;
  for (std::size_t i = key.value.size(); i > 0; --i) {
    old = old << 8 | key.value[i - 1];
  }
  switch (input->Index(4)) {
    case 0: return old + static_cast<std::uint64_t>(input->In(-2, 2));
    case 1: return 2 * old;
    default: return DrawNumber(input);
  }
}

// Overwrites, cuts or lengthens.
void ChangeBytes(FuzzInput* input, testing::Bytes* bytes) {
  switch (input->Index(4)) {
    case 0: bytes->resize(input->Index(bytes->size() + 1)); break;
    case 1:
      for (std::size_t i = input->Size(1, 16); i > 0; --i) {
        bytes->push_back(input->Byte());
      }
      break;
    case 2:
      if (!bytes->empty())
        std::fill(bytes->begin(), bytes->end(), input->Byte());
      break;
    default:
      if (!bytes->empty()) {
        std::uint8_t& byte = (*bytes)[input->Index(bytes->size())];
        byte = input->Byte();
      }
  }
}

void ChangeName(FuzzInput* input, const std::string& other, std::string* name) {
  switch (input->Index(4)) {
    case 0: *name = other; break;
    case 1: name->assign(input->Size(0, 300), 'n'); break;
    case 2: name->push_back(static_cast<char>(input->Byte())); break;
    default:
      if (!name->empty()) {
        (*name)[input->Index(name->size())] = static_cast<char>(input->Byte());
      }
  }
}

// What counts of looks are like.
std::uint64_t Few(FuzzInput* input) {
  return input->Coin() ? DrawNumber(input)
                       : static_cast<std::uint64_t>(input->In(0, 9));
}

// Keys that a model may have, and few of the test's do.
Key DrawOptionalKey(FuzzInput* input) {
  const std::string spot = "atto.audio.spot.";
  switch (input->Index(7)) {
    case 0: return testing::NumberKey(spot + "hop", Few(input));
    case 1: return testing::NumberKey(spot + "smoothing", Few(input));
    case 2: return testing::NumberKey(spot + "looks", Few(input));
    case 3: return testing::NumberKey(spot + "votes", Few(input));
    case 4: return testing::NumberKey(spot + "refractory", Few(input));
    case 5: return testing::NumberKey("general.alignment", DrawNumber(input));
    default: {
      std::vector<std::int64_t> values(input->Size(0, 12));
      for (std::int64_t& value : values) value = input->In(0, 40000);
      return testing::ArrayKey(spot + "thresholds", testing::kValueU16, 2,
                               values);
    }
  }
}

// A label or name: legal, at the edge of what is, or any bytes.
std::string DrawText(FuzzInput* input) {
  const char* const kTexts[] = {"",       "a",        "b",        "\x01",
                                "\x7F",   "\xC2\x80", "\xC2\xA0", "\xD8\x9C",
                                "\u200E", "\u200F",   "\u2028",   "\u202E",
                                "\u2066", "\u2069",   "\xC2",     "\u00E9"};
  constexpr std::size_t kCount = sizeof(kTexts) / sizeof(kTexts[0]);
  const std::size_t choice = input->Index(kCount + 2);
  if (choice < kCount) return kTexts[choice];
  if (choice == kCount) return std::string(input->Size(60, 70), 'l');
  const auto bytes = input->Bytes(input->Size(0, 70));
  return {bytes.begin(), bytes.end()};
}

void ChangeKey(FuzzInput* input, ModelFile* file) {
  std::vector<Key>& keys = file->keys;
  if (keys.empty()) return;
  Key& key = keys[input->Index(keys.size())];
  switch (input->Index(18)) {
    case 1: key.type = static_cast<std::uint32_t>(input->In(0, 14)); break;
    case 2: ChangeBytes(input, &key.value); break;
    case 3:
      ChangeName(input, keys[input->Index(keys.size())].name, &key.name);
      break;
    case 4: keys.erase(keys.begin() + (&key - keys.data())); break;
    case 5: keys.push_back(Key(key)); break;
    case 6: std::swap(key, keys[input->Index(keys.size())]); break;
    case 7: key = testing::StringKey(key.name, DrawText(input)); break;
    case 8: {  // labels
      Key* labels = &key;
      for (Key& other : keys) {
        if (other.name == "atto.labels") labels = &other;
      }
      std::vector<std::string> texts(input->Size(0, 5));
      if (input->Index(16) == 15) texts.resize(EncoderShape::kMaxClasses + 1);
      for (std::string& text : texts) text = DrawText(input);
      *labels = testing::StringsKey(labels->name, texts);
      break;
    }
    case 10: keys.push_back(DrawOptionalKey(input)); break;
    case 9: {  // the parameters of blocks
      constexpr std::pair<std::uint32_t, int> kTypes[] = {
          {testing::kValueU8, 1},
          {testing::kValueI8, 1},
          {testing::kValueU16, 2}};
      const auto [type, bytes] = kTypes[input->Index(3)];
      std::vector<std::int64_t> values(input->Size(0, 4));
      for (std::int64_t& value : values) value = input->In(-5, 26);
      key = testing::ArrayKey(key.name, type, bytes, values);
      break;
    }
    case 11:  // the size of an array or string
      if (key.value.size() >= 8) {
        const std::uint64_t size = DrawNumber(input);
        const std::size_t at = key.type == testing::kValueArray ? 4 : 0;
        for (std::size_t i = 0; i < 8 && at + i < key.value.size(); ++i) {
          key.value[at + i] = static_cast<std::uint8_t>(size >> (8 * i));
        }
      }
      break;
    default:  // most checks are of numbers
      key = testing::NumberKey(key.name, DrawNumberNear(input, key));
  }
}

// Fills the tensor with one value, or changes one.
void ChangeValues(FuzzInput* input, Tensor* tensor) {
  const std::size_t bytes = testing::ElementBytes(tensor->type);
  const std::size_t count = tensor->data.size() / bytes;
  if (count == 0) return;
  constexpr std::int64_t kEdges[] = {0,          1,
                                     -1,         127,
                                     -127,       -128,
                                     32767,      -32767,
                                     -32768,     1 << 30,
                                     -(1 << 30), (1 << 30) + 1,
                                     0x7FFFFFFF, -0x7FFFFFFF - 1,
                                     0x43800000};
  const std::int64_t value =
      kEdges[input->Index(sizeof(kEdges) / sizeof(kEdges[0]))];
  const bool all = input->Coin();
  const std::size_t one = input->Index(count);
  for (std::size_t i = all ? 0 : one; i < (all ? count : one + 1); ++i) {
    for (std::size_t b = 0; b < bytes; ++b) {
      tensor->data[i * bytes + b] = static_cast<std::uint8_t>(
          static_cast<std::uint64_t>(value) >> (8 * b));
    }
  }
}

// Data as the shape says, unless that is more than a test can hold.
void ResizeIfSmall(Tensor* tensor) {
  std::uint64_t bytes = 4;
  for (const std::uint64_t dim : tensor->dims) {
    if (dim > kMaxTensorBytes) return;
    bytes *= dim;
    if (bytes > kMaxTensorBytes) return;
  }
  testing::ResizeData(tensor);
}

// Names that are almost those of tensors.
std::string DrawTensorName(FuzzInput* input) {
  const char* const kNames[] = {"blk.",
                                "blk.0",
                                "blk.1",
                                "blk.63",
                                "blk.x.attn_q.weight",
                                "blk.00.attn_q.weight",
                                "blk.01.attn_q.weight",
                                "blk.1:attn_q.weight",
                                "blk.63.attn_q.weight",
                                "blk.0.attn_q.gain",
                                "blk.0.head.weight",
                                "head.",
                                "head",
                                "head.gain",
                                "head.window",
                                "attn_q.weight",
                                "text.fold_table",
                                "audio.window",
                                "class_embd.weight",
                                "input_norm.gain",
                                "output_norm.gain",
                                "position_embd.weight"};
  return kNames[input->Index(sizeof(kNames) / sizeof(kNames[0]))];
}

void ChangeTensor(FuzzInput* input, ModelFile* file) {
  std::vector<Tensor>& tensors = file->tensors;
  if (tensors.empty()) return;
  Tensor& tensor = tensors[input->Index(tensors.size())];
  switch (input->Index(11)) {
    case 9: tensor.name = DrawTensorName(input); break;
    case 10:
      tensors.push_back(Tensor(tensor));
      tensors.back().name = DrawTensorName(input);
      break;
    case 0:
      tensor.type = static_cast<std::uint32_t>(input->In(0, 30));
      if (input->Coin()) ResizeIfSmall(&tensor);
      break;
    case 1: {
      std::vector<std::uint64_t>& dims = tensor.dims;
      const std::size_t which = input->Index(dims.size() + 1);
      const std::uint64_t size = DrawNumber(input);
      if (which < dims.size()) {
        dims[which] = size;
      } else if (dims.empty() || input->Coin()) {
        dims.push_back(size);
      } else {
        dims.pop_back();
      }
      ResizeIfSmall(&tensor);
      break;
    }
    case 2: ChangeBytes(input, &tensor.data); break;
    case 3:
      ChangeName(input, tensors[input->Index(tensors.size())].name,
                 &tensor.name);
      break;
    case 4: tensors.erase(tensors.begin() + (&tensor - tensors.data())); break;
    case 5: tensors.push_back(Tensor(tensor)); break;
    case 6: std::swap(tensor, tensors[input->Index(tensors.size())]); break;
    case 7: tensor.offset_error = input->In(-70000, 70000); break;
    default: ChangeValues(input, &tensor);
  }
}

void ChangeContainer(FuzzInput* input, ModelFile* file) {
  switch (input->Index(5)) {
    case 0: file->version = static_cast<std::uint32_t>(input->In(0, 5)); break;
    case 1: file->key_count_error = DrawNumber(input); break;
    case 2: file->tensor_count_error = DrawNumber(input); break;
    case 3: file->alignment = 1U << input->In(0, 13); break;
    default: file->repair_checksum = input->Coin();
  }
}

}  // namespace
}  // namespace atto::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace atto::fuzz;
  FuzzInput input(data, size);
  atto::testing::ModelFile file = DrawModel(&input);
  // What is left when the changes end is the text.
  for (std::size_t left = input.Index(kMaxChanges); left > 0; --left) {
    switch (input.Index(8)) {
      case 0: ChangeContainer(&input, &file); break;
      case 1:
      case 2:
      case 3:
      case 4: ChangeKey(&input, &file); break;
      default: ChangeTensor(&input, &file);
    }
  }
  const bool repair = file.repair_checksum;
  file.repair_checksum = false;
  atto::testing::Bytes bytes = file.Build();
  // The changes may have left no room for it.
  if (repair && file.ChecksumOffset() + 4 <= bytes.size()) {
    file.RepairChecksum(&bytes);
  }
  if (input.Index(16) == 15) bytes.resize(input.Index(bytes.size() + 64));
  const atto::testing::FileBytes exact(bytes);
  LoadAndRun(exact.span(), input.Rest());
  return 0;
}
