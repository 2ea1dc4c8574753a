// Every truncation of a model file and every change of one byte, with the
// checksum as it was and repaired: an error that names its place, or a model
// that runs. In a build with sanitizers, that shows that it stays in bounds.
//
// Nine values a byte; in header and metadata all 255 with
// ATTO_DAMAGE=exhaustive in the environment (tools/dev safety damage).
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/classifier.h"
#include "runtime/model/crc32.h"
#include "tests/support/model_file.h"

namespace atto {
namespace {

using testing::FileBytes;
using testing::ModelFile;

bool Exhaustive() {
  const char* const damage = std::getenv("ATTO_DAMAGE");
  return damage != nullptr && std::string(damage) == "exhaustive";
}

// What is xored to a byte.
std::vector<unsigned> Flips(bool all) {
  if (!all) return {1, 2, 4, 8, 16, 32, 64, 128, 255};
  std::vector<unsigned> flips;
  for (unsigned flip = 1; flip < 256; ++flip) flips.push_back(flip);
  return flips;
}

// A valid model with all that it takes to run what becomes of it.
class Victim {
 public:
  explicit Victim(const ModelFile& file)
      : whole_(file.Build()),
        checksum_(file.ChecksumOffset()),
        bytes_(whole_),
        blocks_(EncoderShape::kMaxBlocks),
        arena_(testing::Bytes(kArenaBytes)) {
    data_start_ = whole_.size();
    for (const testing::Tensor& tensor : file.tensors) {
      data_start_ -= (tensor.data.size() + file.alignment - 1) /
                     file.alignment * file.alignment;
    }
  }

  std::size_t size() const { return whole_.size(); }
  std::size_t data_start() const { return data_start_; }
  bool IsChecksum(std::size_t at) const {
    return at >= checksum_ && at < checksum_ + 4;
  }

  void Change(std::size_t at, unsigned flip) {
    bytes_.data()[at] = static_cast<std::uint8_t>(whole_[at] ^ flip);
  }
  void RepairChecksum() {
    constexpr std::uint8_t kZeros[4] = {};
    const Span<const std::uint8_t> all = bytes_.span();
    const std::size_t after = checksum_ + 4;
    std::uint32_t crc = Crc32(all.subspan(0, checksum_));
    crc = Crc32(kZeros, crc);
    crc = Crc32(all.subspan(after, all.size() - after), crc);
    for (std::size_t i = 0; i < 4; ++i) {
      bytes_.data()[checksum_ + i] = static_cast<std::uint8_t>(crc >> (8 * i));
    }
  }
  void Restore(std::size_t at) {
    bytes_.data()[at] = whole_[at];
    std::memcpy(bytes_.data() + checksum_, whole_.data() + checksum_, 4);
  }

  // The status of a file of the first `size` bytes, in memory that ends there.
  Status LoadPart(std::size_t size, bool repair) {
    testing::Bytes part(whole_.begin(),
                        whole_.begin() + static_cast<std::ptrdiff_t>(size));
    if (repair) {
      std::memset(part.data() + checksum_, 0, 4);
      const std::uint32_t crc = Crc32({part.data(), part.size()});
      for (std::size_t i = 0; i < 4; ++i) {
        part[checksum_ + i] = static_cast<std::uint8_t>(crc >> (8 * i));
      }
    }
    const FileBytes exact(part);
    return Load(exact.span());
  }
  Status Load() { return Load(bytes_.span()); }

  // Legal: Load gave kOk. What has been accepted also runs.
  void Run() {
    const Span<std::uint8_t> arena(arena_.data(), kArenaBytes);
    const Span<const std::uint8_t> file = bytes_.span();
    for (const Backend* const backend : {Backends()[0], DefaultBackend()}) {
      if (ArenaBytes(model_.shape(), backend->memory) > kArenaBytes) {
        FAIL("the arena of an accepted model has grown");
      }
      Status status;
      if (model_.shape().input == Input::kText) {
        TextClassifier classifier;
        Classification result;
        status = classifier.Init(file, arena, nullptr, backend);
        if (status == Status::kOk) {
          status = classifier.Classify("fr33 c@sh 0900 123 456", &result);
        }
      } else {
        AudioClassifier classifier;
        Classification result;
        status = classifier.Init(file, arena, nullptr, backend);
        if (status == Status::kOk) {
          constexpr std::int16_t kSamples[] = {32767, -32768, 0, 1, -1};
          status = classifier.Classify(kSamples, &result);
        }
      }
      if (status != Status::kOk) FAIL("an accepted model does not run");
    }
    for (std::size_t i = 0; i < model_.shape().classes; ++i) {
      if (model_.label(i).empty()) FAIL("a label is empty");
    }
  }

 private:
  // Twice what the small models take, for shapes that a byte may enlarge.
  static constexpr std::size_t kArenaBytes = 1 << 16;

  Status Load(Span<const std::uint8_t> file) {
    ErrorInfo error;
    const Status status =
        model_.Init(file, {blocks_.data(), blocks_.size()}, &error);
    if (status != Status::kOk &&
        (error.status != status || error.subject[0] == '\0')) {
      FAIL("an error without a place");
    }
    return status;
  }

  testing::Bytes whole_;
  std::size_t checksum_;
  std::size_t data_start_ = 0;
  FileBytes bytes_;
  std::vector<BlockWeights> blocks_;
  FileBytes arena_;
  Model model_;
};

std::vector<ModelFile> Models() {
  return {testing::MakeSmallModel(1), testing::MakeOtherSmallModel(1)};
}

TEST_CASE("every truncation is called one, whatever its checksum") {
  std::size_t cases = 0;
  for (const ModelFile& file : Models()) {
    Victim victim(file);
    const std::size_t checksum_end = file.ChecksumOffset() + 4;
    for (std::size_t size = 0; size < victim.size(); ++size) {
      for (const bool repair : {false, true}) {
        if (repair && size < checksum_end) continue;
        const Status status = victim.LoadPart(size, repair);
        if (status != Status::kTruncated) FAIL("not cut at byte ", size);
        ++cases;
      }
    }
  }
  MESSAGE("truncations: ", cases, " cases, as many errors");
  CHECK(cases > 0);
}

TEST_CASE("every change of a byte is an error, or a model that runs") {
  std::size_t cases = 0;
  std::size_t noticed = 0;
  std::size_t refused = 0;
  std::size_t accepted = 0;
  for (const ModelFile& file : Models()) {
    Victim victim(file);
    REQUIRE(victim.Load() == Status::kOk);
    for (std::size_t at = 0; at < victim.size(); ++at) {
      const bool all = Exhaustive() && at < victim.data_start();
      for (const unsigned flip : Flips(all)) {
        victim.Change(at, flip);
        ++cases;
        if (victim.Load() == Status::kOk) FAIL("unnoticed at byte ", at);
        ++noticed;
        if (!victim.IsChecksum(at)) {
          victim.RepairChecksum();
          ++cases;
          if (victim.Load() == Status::kOk) {
            victim.Run();
            ++accepted;
          } else {
            ++refused;
          }
        }
        victim.Restore(at);
      }
    }
  }
  MESSAGE("changes of a byte: ", cases, " cases; checksum as it was: ", noticed,
          " errors; checksum repaired: ", refused, " errors, ", accepted,
          " accepted, all of which ran");
  CHECK(refused > 0);
  CHECK(accepted > 0);
}

}  // namespace
}  // namespace atto
