// A large file that is no model is refused after a look at a page or two,
// whatever its size: counted, not timed.
#include <doctest/doctest.h>

#ifdef __linux__

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/model/model.h"
#include "tests/support/counted_file.h"
#include "tests/support/model_file.h"

namespace atto {
namespace {

using testing::CountedFile;
using testing::ModelFile;

constexpr std::size_t kFileBytes = 100 << 20;

// What the file under test begins with; noise follows.
testing::Bytes head;
bool noise_follows;

void FillPage(std::uint8_t* page, std::size_t offset, std::size_t bytes) {
  if (noise_follows) {
    std::uint64_t state = offset + 1;
    for (std::size_t i = 0; i < bytes; ++i) {
      // Knuth, MMIX.
      state = state * 6364136223846793005U + 1442695040888963407U;
      page[i] = static_cast<std::uint8_t>(state >> 56);
    }
  }
  if (offset >= head.size()) return;
  std::memcpy(page, head.data() + offset,
              std::min(bytes, head.size() - offset));
}

struct Outcome {
  std::string result;  // as "bad_key: atto.labels"
  std::size_t pages;
};

Outcome Refuse(const testing::Bytes& first_bytes, bool noise = true) {
  head = first_bytes;
  noise_follows = noise;
  const CountedFile file(kFileBytes, &FillPage);
  std::vector<BlockWeights> blocks(EncoderShape::kMaxBlocks);
  Model model;
  ErrorInfo error;
  const Status status =
      model.Init(file.span(), {blocks.data(), blocks.size()}, &error);
  return {std::string(StatusName(status)) + ": " + error.subject,
          file.pages_read()};
}

// A model whose last tensor has grown until the file has its size.
ModelFile HugeModel(const std::string& last) {
  ModelFile file = testing::MakeSmallModel();
  std::rotate(&file.tensor(last), &file.tensor(last) + 1,
              file.tensors.data() + file.tensors.size());
  return file;
}

testing::Bytes Descriptions(const ModelFile& file) {
  testing::Bytes bytes = file.Build();
  std::size_t data = 0;
  for (const testing::Tensor& tensor : file.tensors) {
    data += (tensor.data.size() + file.alignment - 1) / file.alignment *
            file.alignment;
  }
  bytes.resize(bytes.size() - data);
  return bytes;
}

TEST_CASE("the pages that are read are counted") {
  head = {1, 2, 3};
  noise_follows = false;
  const CountedFile file(kFileBytes, &FillPage);
  const std::size_t page = file.page_bytes();
  CHECK(file.pages_read() == 0);
  CHECK(file.span()[2] == 3);
  CHECK(file.span()[page - 1] == 0);
  CHECK(file.pages_read() == 1);
  CHECK(file.span()[kFileBytes - 1] == 0);
  CHECK(file.pages_read() == 2);
}

TEST_CASE("100 MB of garbage: one page, whatever it is") {
  Outcome outcome = Refuse({});
  CHECK(outcome.result == "bad_magic: model");
  CHECK(outcome.pages == 1);
  outcome = Refuse({'G', 'G', 'U', 'F'});
  CHECK(outcome.result == "bad_version: header");
  CHECK(outcome.pages == 1);
  outcome = Refuse({'G', 'G', 'U', 'F', 3, 0, 0, 0});
  CHECK(outcome.result == "bad_tensor: header");
  CHECK(outcome.pages == 1);
  // A header that is in order, and then noise, or nothing.
  testing::Bytes header = testing::MakeSmallModel().Build();
  header.resize(24);
  outcome = Refuse(header);
  CHECK(outcome.result == "truncated: key name");
  CHECK(outcome.pages == 1);
  outcome = Refuse(header, false);
  CHECK(outcome.result == "bad_key: key name");
  CHECK(outcome.pages == 1);
}

TEST_CASE("100 MB behind the keys or tensors of a model: what they stand in") {
  const testing::Bytes whole = testing::MakeSmallModel().Build();
  Outcome outcome = Refuse(whole);
  CHECK(outcome.result == "bad_tensor: tensor data");
  CHECK(outcome.pages <= whole.size() / 4096 + 1);
  // The tensors' descriptions account for every byte, but one is wrong.
  ModelFile file = HugeModel("text.fold_table");
  testing::Tensor& table = file.tensors.back();
  table.data.clear();
  std::size_t used = file.Build().size();
  table.dims[0] = kFileBytes - used;
  const testing::Bytes descriptions = Descriptions(file);
  outcome = Refuse(descriptions, false);
  CHECK(outcome.result == "bad_tensor: text.fold_table");
  CHECK(outcome.pages <= whole.size() / 4096 + 2);
  // One is missing.
  file.RemoveTensor("token_embd.weight");
  used = file.Build().size();
  file.tensors.back().dims[0] = kFileBytes - used;
  outcome = Refuse(Descriptions(file), false);
  CHECK(outcome.result == "missing_tensor: token_embd.weight");
  CHECK(outcome.pages <= whole.size() / 4096 + 1);
}

TEST_CASE("strings are walked one by one: their number is bounded") {
  ModelFile file = testing::MakeSmallModel();
  testing::Bytes strings;
  testing::Append(&strings, testing::kValueString, 4);
  testing::Append(&strings, (1 << 20) + 1, 8);
  file.keys.insert(file.keys.begin(), {"many", testing::kValueArray, strings});
  Outcome outcome = Refuse(file.Build(), false);
  CHECK(outcome.result == "bad_key: many");
  CHECK(outcome.pages == 1);
  // Of all keys together: 8 MB of strings without a byte, and one too many.
  testing::Bytes half;
  testing::Append(&half, testing::kValueString, 4);
  testing::Append(&half, 1 << 19, 8);
  half.resize(half.size() + (8 << 19));
  file.keys[0] = {"many", testing::kValueArray, half};
  file.keys.insert(file.keys.begin(), {"more", testing::kValueArray, half});
  outcome = Refuse(file.Build(), false);
  CHECK(outcome.result == "bad_key: general.architecture");
  CHECK(outcome.pages <= (8 << 20) / 4096 + 2);
}

}  // namespace
}  // namespace atto

#endif  // __linux__
