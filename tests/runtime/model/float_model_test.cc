#include "runtime/model/float_model.h"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "runtime/model/model.h"
#include "tests/support/model_file.h"

namespace atto {
namespace {

using testing::ModelFile;

// The float twin of a random integer model: its keys without shifts and
// multipliers, its tensors without multipliers, of small random numbers.
ModelFile FloatTwin(const ModelFile& integers) {
  ModelFile file;
  file.alignment = integers.alignment;
  const auto ends_with = [](const std::string& name, const std::string& end) {
    return name.size() >= end.size() &&
           name.compare(name.size() - end.size(), end.size(), end) == 0;
  };
  for (const testing::Key& key : integers.keys) {
    if (ends_with(key.name, ".shift") || ends_with(key.name, ".multiplier") ||
        ends_with(key.name, ".fraction_bits")) {
      continue;
    }
    file.keys.push_back(key);
  }
  file.SetString("general.architecture", "atto-encoder-f32");
  std::mt19937 random(11);
  for (const testing::Tensor& tensor : integers.tensors) {
    if (ends_with(tensor.name, ".multiplier")) continue;
    file.tensors.push_back(tensor);
    testing::Tensor& twin = file.tensors.back();
    // The tables of the front ends are those of the integer model.
    const std::string layer = twin.name.substr(0, twin.name.find('.'));
    if (layer == "text" || layer == "audio") continue;
    std::size_t count = 1;
    for (const std::uint64_t size : twin.dims) count *= size;
    twin.type = testing::kDataF32;
    twin.data.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const float value = static_cast<float>(random() % 2001) / 1000 - 1;
      std::uint32_t bits;
      std::memcpy(&bits, &value, sizeof(bits));
      testing::Append(&twin.data, bits, 4);
    }
  }
  return file;
}

struct Loaded {
  explicit Loaded(const testing::Bytes& bytes) : file(bytes), blocks(64) {
    status = model.Init(file.span(), {blocks.data(), blocks.size()}, &error);
  }
  std::string result() const {
    if (status == Status::kOk) return "ok";
    return std::string(StatusName(status)) + ": " + error.subject;
  }

  testing::FileBytes file;
  std::vector<FloatBlockWeights> blocks;
  FloatModel model;
  ErrorInfo error;
  Status status;
};

std::string Result(const ModelFile& file) {
  return Loaded(file.Build()).result();
}

std::vector<ModelFile> Twins() {
  return {FloatTwin(testing::MakeSmallModel()),
          FloatTwin(testing::MakeOtherSmallModel())};
}

TEST_CASE("a float model is read in place") {
  for (const ModelFile& file : Twins()) {
    const Loaded loaded(file.Build());
    REQUIRE(loaded.result() == "ok");
    const FloatModel& model = loaded.model;
    CHECK(model.shape().blocks == 2);
    CHECK(model.shape().classes == 3);
    CHECK(model.blocks().size() == 2);
    const auto same = [&](const char* name, const float* data) {
      ModelFile copy = file;
      const testing::Bytes& bytes = copy.tensor(name).data;
      return std::memcmp(bytes.data(), data, bytes.size()) == 0;
    };
    CHECK(same("in_proj.weight", model.in_proj().weights));
    CHECK(same("head.bias", model.head().bias));
    CHECK(same("blk.1.attn_q.weight", model.blocks()[1].q.weights));
    CHECK(same("blk.0.ffn_down.bias", model.blocks()[0].down.bias));
    CHECK(model.blocks()[0].down.in == model.shape().d_ffn);
    CHECK(model.blocks()[0].up.out == model.shape().d_ffn);
    CHECK(same("blk.1.ffn_norm.gain", model.blocks()[1].ffn_norm.gain));
    const StringView label = model.label(2);
    CHECK(std::string(label.begin(), label.end()) == "label 4");
  }
}

TEST_CASE("a model of the other precision is refused by name") {
  CHECK(Result(testing::MakeSmallModel()) ==
        "unsupported: general.architecture");
  const testing::FileBytes file(Twins()[0].Build());
  std::vector<BlockWeights> blocks(2);
  Model model;
  ErrorInfo error;
  CHECK(model.Init(file.span(), {blocks.data(), blocks.size()}, &error) ==
        Status::kUnsupported);
}

TEST_CASE("every key and tensor of a float model is needed") {
  for (const ModelFile& file : Twins()) {
    for (const testing::Key& key : file.keys) {
      ModelFile damaged = file;
      damaged.RemoveKey(key.name);
      const bool optional =
          key.name == "general.name" || key.name == "general.alignment";
      if (optional) continue;
      CHECK(Result(damaged) == "missing_key: " + key.name);
    }
    for (const testing::Tensor& tensor : file.tensors) {
      ModelFile damaged = file;
      damaged.RemoveTensor(tensor.name);
      const bool optional = tensor.name == "position_embd.weight";
      CHECK(Result(damaged) ==
            (optional ? "ok" : "missing_tensor: " + tensor.name));
    }
  }
}

TEST_CASE("tensors of integer models are refused") {
  ModelFile file = Twins()[0];
  file.tensors.push_back(
      testing::MakeSmallModel().tensor("in_proj.multiplier"));
  CHECK(Result(file) == "bad_tensor: in_proj.multiplier");
  file = Twins()[0];
  file.tensor("in_proj.weight") =
      testing::MakeSmallModel().tensor("in_proj.weight");
  CHECK(Result(file) == "bad_tensor: in_proj.weight");
}

TEST_CASE("every parameter is a number in [-256, 256]") {
  const float kNan = std::numeric_limits<float>::quiet_NaN();
  const float kInfinity = std::numeric_limits<float>::infinity();
  for (const ModelFile& file : Twins()) {
    for (std::size_t i = 0; i < file.tensors.size(); ++i) {
      if (file.tensors[i].type != testing::kDataF32) continue;
      const std::string name = file.tensors[i].name;
      const auto with = [&](std::size_t at, float value) {
        ModelFile damaged = file;
        std::memcpy(damaged.tensors[i].data.data() + at, &value, sizeof(value));
        return Loaded(damaged.Build());
      };
      const std::size_t last = file.tensors[i].data.size() - 4;
      for (const float value : {256.0F, -256.0F, 0.0F, 1e-40F}) {
        CHECK(with(last, value).result() == "ok");
      }
      for (const float value : {256.1F, -1e30F, kNan, -kNan, kInfinity}) {
        for (const std::size_t at : {std::size_t{0}, last}) {
          CHECK(with(at, value).result() == "bad_tensor: " + name);
        }
      }
      CHECK(with(0, -300.5F).error.found == -301);
    }
  }
}

TEST_CASE("every truncation and every damaged byte is noticed") {
  for (const ModelFile& file : Twins()) {
    const testing::Bytes whole = file.Build();
    for (std::size_t size = 0; size < whole.size(); size += 3) {
      const Loaded loaded(testing::Bytes(
          whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
      CHECK(loaded.status == Status::kTruncated);
    }
    testing::FileBytes bytes(whole);
    std::vector<FloatBlockWeights> blocks(64);
    FloatModel model;
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const unsigned flip : {1U, 128U, 255U}) {
        bytes.data()[at] = static_cast<std::uint8_t>(whole[at] ^ flip);
        if (model.Init(bytes.span(), {blocks.data(), blocks.size()}) ==
            Status::kOk) {
          FAIL("unnoticed damage at byte ", at);
        }
      }
      bytes.data()[at] = whole[at];
    }
  }
}

}  // namespace
}  // namespace atto
