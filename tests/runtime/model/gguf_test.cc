#include "runtime/model/gguf.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/model_file.h"

namespace atto {
namespace {

std::string Text(StringView view) { return {view.data(), view.size()}; }

// How far a reader came, and why it stopped: "ok", or the status and subject.
struct Reading {
  std::string result = "ok";
  ErrorInfo error;
  std::vector<std::string> keys;
  std::vector<GgufTensor> tensors;
};

Reading Read(const testing::FileBytes& bytes) {
  Reading reading;
  GgufReader reader;
  const auto failed = [&](Status status) {
    if (status == Status::kOk) return false;
    CHECK(reading.error.status == status);
    reading.result =
        std::string(StatusName(status)) + ": " + reading.error.subject;
    return true;
  };
  if (failed(reader.Open(bytes.span(), &reading.error))) return reading;
  GgufKey key;
  for (std::uint32_t i = 0; i < reader.key_count(); ++i) {
    if (failed(reader.NextKey(&key))) return reading;
    reading.keys.push_back(Text(key.name));
  }
  if (failed(reader.OpenTensors())) return reading;
  for (std::uint32_t i = 0; i < reader.tensor_count(); ++i) {
    reading.tensors.push_back(reader.NextTensor());
  }
  return reading;
}

Reading Read(const testing::Bytes& bytes) {
  return Read(testing::FileBytes(bytes));
}

Reading Read(const testing::ModelFile& file) { return Read(file.Build()); }

// A file with one key of every type and two tensors.
testing::ModelFile MakeFile() {
  testing::ModelFile file;
  file.keys.push_back(testing::StringKey("text", "abc"));
  file.keys.push_back(testing::StringKey("empty", ""));
  file.keys.push_back(testing::StringsKey("texts", {"a", "", "bc"}));
  constexpr int kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  for (std::uint32_t type = 0; type < 13; ++type) {
    if (kBytes[type] == 0) continue;
    const std::string name = "type" + std::to_string(type);
    testing::Key key{name, type, {}};
    testing::Append(&key.value, 7, kBytes[type]);
    file.keys.push_back(key);
    file.keys.push_back(
        testing::ArrayKey(name + "s", type, kBytes[type], {1, 2, 3}));
  }
  file.tensors.push_back(
      {"one", testing::kDataI8, {3, 5}, testing::Bytes(15, 0x11), 0});
  file.tensors.push_back(
      {"two", testing::kDataI32, {2}, testing::Bytes(8, 0x22), 0});
  file.tensors.push_back(
      {"three", testing::kDataF32, {1, 2, 1, 2}, testing::Bytes(16, 0x33), 0});
  file.tensors.push_back(
      {"four", testing::kDataI16, {7}, testing::Bytes(14, 0x44), 0});
  return file;
}

TEST_CASE("numbers are little-endian at any address") {
  constexpr std::uint8_t kBytes[] = {0xEE, 0x01, 0x82, 0x03, 0x84, 0, 0, 0, 0};
  CHECK(LoadU16(kBytes + 1) == 0x8201);
  CHECK(LoadU32(kBytes + 1) == 0x84038201);
  CHECK(LoadSize(kBytes + 1) == 0x84038201);
  constexpr std::uint8_t kLarge[] = {1, 0, 0, 0, 0, 0, 0, 0x80};
  CHECK(LoadSize(kLarge) == 0xFFFFFFFF);
}

TEST_CASE("a file gives back what was written") {
  const testing::ModelFile file = MakeFile();
  const testing::FileBytes bytes(file.Build());
  const Reading reading = Read(bytes);
  REQUIRE(reading.result == "ok");
  REQUIRE(reading.keys.size() == file.keys.size());
  for (std::size_t i = 0; i < file.keys.size(); ++i) {
    CHECK(reading.keys[i] == file.keys[i].name);
  }
  REQUIRE(reading.tensors.size() == file.tensors.size());
  for (std::size_t i = 0; i < file.tensors.size(); ++i) {
    const GgufTensor& found = reading.tensors[i];
    const testing::Tensor& written = file.tensors[i];
    CHECK(Text(found.name) == written.name);
    CHECK(static_cast<std::uint32_t>(found.type) == written.type);
    REQUIRE(found.dims == written.dims.size());
    for (std::size_t d = 0; d < GgufTensor::kMaxDims; ++d) {
      CHECK(found.shape[d] == (d < found.dims ? written.dims[d] : 1));
    }
    REQUIRE(found.bytes == written.data.size());
    CHECK(std::memcmp(found.data, written.data.data(), found.bytes) == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(found.data) % 32 == 0);
  }
}

TEST_CASE("values point at their first element") {
  const testing::FileBytes bytes(MakeFile().Build());
  GgufReader reader;
  REQUIRE(reader.Open(bytes.span(), nullptr) == Status::kOk);
  GgufKey key;
  REQUIRE(reader.NextKey(&key) == Status::kOk);
  CHECK(key.type == GgufType::kString);
  CHECK(key.element == GgufType::kString);
  CHECK(LoadSize(key.value) == 3);
  CHECK(key.value[8] == 'a');
  REQUIRE(reader.NextKey(&key) == Status::kOk);
  REQUIRE(reader.NextKey(&key) == Status::kOk);
  CHECK(key.type == GgufType::kArray);
  CHECK(key.element == GgufType::kString);
  CHECK(LoadSize(key.value - 8) == 3);
  CHECK(LoadSize(key.value) == 1);
}

TEST_CASE("every cut of a file is told from a whole one") {
  const testing::Bytes whole = MakeFile().Build();
  REQUIRE(Read(whole).result == "ok");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const testing::Bytes cut(whole.begin(),
                             whole.begin() + static_cast<std::ptrdiff_t>(size));
    const Reading reading = Read(cut);
    CHECK(reading.error.status == Status::kTruncated);
    CHECK(reading.error.found == static_cast<std::int64_t>(size));
    CHECK(reading.error.expected > reading.error.found);
    CHECK(reading.error.expected <= static_cast<std::int64_t>(whole.size()));
  }
}

TEST_CASE("other files are no GGUF, however short") {
  CHECK(Read(testing::Bytes{'P'}).result == "bad_magic: model");
  CHECK(Read(testing::Bytes{'G', 'G', 'M', 'L'}).result == "bad_magic: model");
  const Reading reading = Read(testing::Bytes(100, 0));
  CHECK(reading.result == "bad_magic: model");
  // No numbers where the matter is none.
  CHECK(reading.error.found == 0);
  CHECK(reading.error.expected == 0);
  CHECK(Read(testing::Bytes{'G', 'G'}).result == "truncated: header");
}

TEST_CASE("null and too large files are refused") {
  GgufReader reader;
  ErrorInfo error;
  CHECK(reader.Open({}, &error) == Status::kNullPointer);
  const std::uint8_t byte = 'G';
  const Span<const std::uint8_t> large(
      &byte, std::size_t{GgufReader::kMaxFileBytes} + 1);
  CHECK(reader.Open(large, &error) == Status::kUnsupported);
  CHECK(error.found == static_cast<std::int64_t>(large.size()));
  CHECK(error.expected == std::int64_t{GgufReader::kMaxFileBytes});
}

TEST_CASE("an array as long as the file is read") {
  constexpr std::uint32_t kCount = GgufReader::kMaxFileBytes / 8 + 1;
  testing::ModelFile file;
  testing::Key key{"bytes", testing::kValueArray, {}};
  testing::Append(&key.value, testing::kValueU8, 4);
  testing::Append(&key.value, kCount, 8);
  file.keys.push_back(key);
  const testing::Bytes bytes = file.Build();
  const std::size_t position = 24 + 8 + 5 + 4 + 4 + 8;
  // Nobody looks at the elements: none is there.
  const auto status = [&](std::size_t size) {
    GgufReader reader;
    REQUIRE(reader.Open({bytes.data(), size}, nullptr) == Status::kOk);
    GgufKey found;
    return reader.NextKey(&found);
  };
  CHECK(status(position + kCount) == Status::kOk);
  CHECK(status(position + kCount - 1) == Status::kTruncated);
}

TEST_CASE("versions other than 3 are refused") {
  for (const std::uint32_t version : {0U, 1U, 2U, 4U, 0x03000000U}) {
    testing::ModelFile file = MakeFile();
    file.version = version;
    const Reading reading = Read(file);
    CHECK(reading.result == "bad_version: header");
    CHECK(reading.error.found == version);
    CHECK(reading.error.expected == 3);
  }
}

TEST_CASE("hostile counts fail at once") {
  for (const int bit : {13, 31, 32, 33, 63}) {
    testing::ModelFile file = MakeFile();
    file.key_count_error = std::uint64_t{1} << bit;
    CHECK(Read(file).result == "bad_key: header");
    file.key_count_error = 0;
    file.tensor_count_error = std::uint64_t{1} << bit;
    CHECK(Read(file).result == "bad_tensor: header");
  }
}

TEST_CASE("hostile sizes fail without overflow") {
  for (const std::uint64_t size :
       {std::uint64_t{1000}, std::uint64_t{0x7FFFFFFF},
        std::uint64_t{0xFFFFFFF8}, std::uint64_t{0xFFFFFFFF},
        std::uint64_t{1} << 32, std::uint64_t{1} << 61, std::uint64_t{1} << 63,
        ~std::uint64_t{0}}) {
    CAPTURE(size);
    // A string, strings, and arrays of elements of every size.
    for (const char* name :
         {"text", "texts", "type0s", "type2s", "type4s", "type10s"}) {
      testing::ModelFile file = MakeFile();
      testing::Key& key = file.key(name);
      testing::Bytes number;
      testing::Append(&number, size, 8);
      const std::size_t at = key.type == testing::kValueArray ? 4 : 0;
      std::copy(number.begin(), number.end(),
                key.value.begin() + static_cast<std::ptrdiff_t>(at));
      const Reading reading = Read(file);
      // Within the file the wrong size garbles what follows.
      if (size > 1000) {
        CHECK(reading.result == std::string("truncated: ") + name);
      } else {
        CHECK(reading.result != "ok");
      }
    }
    testing::ModelFile file = MakeFile();
    file.tensor("one").dims = {size, size};
    CHECK(Read(file).result ==
          (size > 1000 ? "bad_tensor: one" : "truncated: one"));
    file.tensor("one").dims = {1, 1, 1, size};
    CHECK(Read(file).result ==
          (size > 1000 ? "bad_tensor: one" : "bad_tensor: two"));
    file = MakeFile();
    file.tensor("two").offset_error = static_cast<std::int64_t>(size);
    CHECK(Read(file).result == "bad_tensor: two");
  }
}

TEST_CASE("an array that is cut says how long the file must be") {
  constexpr std::uint64_t kMost = GgufReader::kMaxFileBytes / 8;
  for (const std::uint32_t type :
       {std::uint32_t{10}, std::uint32_t{testing::kValueString}}) {
    for (const std::uint64_t count : {std::uint64_t{2}, kMost, kMost + 1}) {
      testing::ModelFile file;
      testing::Key key{"numbers", testing::kValueArray, {}};
      testing::Append(&key.value, type, 4);
      testing::Append(&key.value, count, 8);
      file.keys.push_back(key);
      const Reading reading = Read(file);
      CHECK(reading.result == "truncated: numbers");
      // Header, name, type; then type and number of elements, and they.
      const std::uint64_t position = 24 + 8 + 7 + 4 + 4 + 8;
      // What no file can hold is not multiplied out.
      const std::uint64_t needed =
          count > kMost ? 0xFFFFFFFF : position + 8 * count;
      CHECK(reading.error.expected == static_cast<std::int64_t>(needed));
    }
  }
}

TEST_CASE("names are printable ASCII of bounded length") {
  for (const char c : {'\0', '\n', ' ', '\x7F', '\xC3'}) {
    testing::ModelFile file = MakeFile();
    file.keys[1].name[2] = c;
    const Reading reading = Read(file);
    CHECK(reading.result == "bad_key: key name");
    CHECK(reading.error.found == static_cast<std::uint8_t>(c));
    CHECK(reading.error.expected == '~');
    file = MakeFile();
    file.tensors[1].name[2] = c;
    CHECK(Read(file).result == "bad_tensor: tensor name");
  }
  testing::ModelFile file = MakeFile();
  file.keys[1].name.clear();
  CHECK(Read(file).result == "bad_key: key name");
  file = MakeFile();
  file.tensors[1].name.clear();
  CHECK(Read(file).result == "bad_tensor: tensor name");
  file = MakeFile();
  file.keys[1].name.assign(255, 'k');
  CHECK(Read(file).result == "ok");
  file.keys[1].name.assign(256, 'k');
  const Reading reading = Read(file);
  CHECK(reading.result == "bad_key: key name");
  CHECK(reading.error.found == 256);
  CHECK(reading.error.expected == 255);
}

TEST_CASE("unknown value types and nested arrays are refused") {
  for (const std::uint32_t type : {13U, 255U, 256U, 265U, 0xFFFFFFFFU}) {
    testing::ModelFile file = MakeFile();
    file.key("type4").type = type;
    const Reading reading = Read(file);
    CHECK(reading.result == "bad_key: type4");
    CHECK(reading.error.found == type);
    CHECK(reading.error.expected == 12);
    file = MakeFile();
    testing::Bytes& value = file.key("type4s").value;
    value.erase(value.begin(), value.begin() + 4);
    testing::Bytes number;
    testing::Append(&number, type, 4);
    value.insert(value.begin(), number.begin(), number.end());
    CHECK(Read(file).result == "bad_key: type4s");
  }
  testing::ModelFile file = MakeFile();
  file.key("type4s").value[0] = testing::kValueArray;
  CHECK(Read(file).result == "bad_key: type4s");
}

TEST_CASE("the alignment is a power of two from 16 to 4096, given once") {
  for (const std::uint32_t alignment : {16U, 32U, 64U, 4096U}) {
    testing::ModelFile file = MakeFile();
    file.alignment = alignment;
    file.keys.push_back(testing::NumberKey("general.alignment", alignment));
    CHECK(Read(file).result == "ok");
  }
  for (const std::uint32_t alignment :
       {0U, 1U, 8U, 24U, 33U, 4095U, 8192U, 0x80000000U, 0xFFFFFFFFU}) {
    testing::ModelFile file = MakeFile();
    file.keys.push_back(testing::NumberKey("general.alignment", alignment));
    const Reading reading = Read(file);
    CHECK(reading.result == "bad_key: general.alignment");
    CHECK(reading.error.found == alignment);
    CHECK(reading.error.expected == 4096);
  }
  testing::ModelFile file = MakeFile();
  file.keys.push_back(testing::NumberKey("general.alignment", 32));
  file.keys.push_back(testing::NumberKey("general.alignment", 32));
  CHECK(Read(file).result == "bad_key: general.alignment");
  file = MakeFile();
  file.keys.push_back(testing::StringKey("general.alignment", "32"));
  CHECK(Read(file).result == "bad_key: general.alignment");
}

TEST_CASE("tensor types, dimensions and elements have bounds") {
  for (const std::uint32_t type : {1U, 2U, 8U, 23U, 27U, 28U, 280U}) {
    testing::ModelFile file = MakeFile();
    file.tensor("two").type = type;
    const Reading reading = Read(file);
    CHECK(reading.result == "bad_tensor: two");
    CHECK(reading.error.found == type);
    CHECK(reading.error.expected == testing::kDataI32);
  }
  testing::ModelFile file = MakeFile();
  file.tensor("two").dims = {};
  CHECK(Read(file).result == "bad_tensor: two");
  file.tensor("two").dims = {2, 1, 1, 1, 1};
  Reading reading = Read(file);
  CHECK(reading.result == "bad_tensor: two");
  CHECK(reading.error.found == 5);
  CHECK(reading.error.expected == 4);
  file.tensor("two").dims = {2, 0};
  CHECK(Read(file).result == "bad_tensor: two");
  file.tensor("two").dims = {1U << 27, 1U << 30};
  reading = Read(file);
  CHECK(reading.result == "bad_tensor: two");
  CHECK(reading.error.found == std::int64_t{1} << 57);
  CHECK(reading.error.expected == GgufReader::kMaxFileBytes / 4);
}

TEST_CASE("tensor data neither overlap nor leave gaps nor end early") {
  for (const int error : {-32, -1, 1, 16, 32, 64}) {
    testing::ModelFile file = MakeFile();
    file.tensor("three").offset_error = error;
    const Reading reading = Read(file);
    CHECK(reading.result == "bad_tensor: three");
    CHECK(reading.error.found == reading.error.expected + error);
  }
  testing::Bytes bytes = MakeFile().Build();
  bytes.push_back(0);
  CHECK(Read(bytes).result == "bad_tensor: tensor data");
}

TEST_CASE("a file without tensors is whole") {
  testing::ModelFile file = MakeFile();
  file.tensors.clear();
  CHECK(Read(file).result == "ok");
}

}  // namespace
}  // namespace atto
