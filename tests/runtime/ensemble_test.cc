#include "runtime/ensemble.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "runtime/classifier.h"
#include "tests/support/aligned_bytes.h"
#include "tests/support/golden.h"
#include "tests/support/model_file.h"

namespace atto {
namespace {

TEST_CASE("ensemble: the sum of the scores decides") {
  std::uint32_t sums[3] = {9, 9, 9};
  Ensemble ensemble(sums);
  CHECK_FALSE(ensemble.Decide(0).accepted);
  CHECK(ensemble.Decide(0).members == 0);
  const std::uint16_t first[] = {10000, 20000, 2768};
  const std::uint16_t second[] = {22768, 9999, 1};
  REQUIRE(ensemble.Add(first) == Status::kOk);
  CHECK(ensemble.Decide(20000).label == 1);
  CHECK(ensemble.Decide(20000).accepted);
  CHECK_FALSE(ensemble.Decide(20001).accepted);
  REQUIRE(ensemble.Add(second) == Status::kOk);
  const Vote vote = ensemble.Decide(16384);
  CHECK(vote.label == 0);
  CHECK(vote.score == 16384);
  CHECK(vote.members == 2);
  CHECK(vote.accepted);
  // The sum is 29,999: below two times 15,000, though the mean rounds to it.
  CHECK(ensemble.Decide(1, 15000).score == 14999);
  CHECK_FALSE(ensemble.Decide(1, 15000).accepted);
  CHECK(ensemble.Decide(1, 14999).accepted);
  ensemble.Start();
  CHECK(ensemble.members() == 0);
  REQUIRE(ensemble.Add(second) == Status::kOk);
  CHECK(ensemble.Decide(0).score == 22768);
}

TEST_CASE("ensemble: equal sums go to the first class") {
  std::uint32_t sums[2];
  Ensemble ensemble(sums);
  const std::uint16_t even[] = {16384, 16384};
  REQUIRE(ensemble.Add(even) == Status::kOk);
  CHECK(ensemble.Decide(0).label == 0);
}

TEST_CASE("ensemble: what is refused") {
  std::uint32_t sums[2];
  Ensemble ensemble(sums);
  const std::uint16_t three[] = {1, 2, 3};
  CHECK(ensemble.Add(three) == Status::kInvalidArgument);
  const std::uint16_t two[] = {32768, 0};
  for (std::size_t i = 0; i < Ensemble::kMaxMembers; ++i) {
    REQUIRE(ensemble.Add(two) == Status::kOk);
  }
  CHECK(ensemble.Add(two) == Status::kInvalidArgument);
  CHECK(ensemble.Decide(32768).score == 32768);
  CHECK(ensemble.Decide(32768).accepted);
}

TEST_CASE("ensemble: as many labels are not yet the same labels") {
  testing::ModelFile file = testing::MakeSmallModel();
  const testing::FileBytes first(file.Build());
  for (testing::Key& key : file.keys) {
    if (key.name == "atto.labels") key.value.back() ^= 1U;
  }
  const testing::FileBytes second(file.Build());
  std::vector<BlockWeights> blocks(EncoderShape::kMaxBlocks);
  Model a;
  Model b;
  REQUIRE(a.Init(first.span(), {blocks.data(), blocks.size()}) == Status::kOk);
  REQUIRE(b.Init(second.span(), {blocks.data(), blocks.size()}) == Status::kOk);
  REQUIRE(a.shape().classes == b.shape().classes);
  CHECK(Ensemble::SameLabels(a, a));
  CHECK_FALSE(Ensemble::SameLabels(a, b));
}

TEST_CASE("ensemble: text models and audio models alike") {
  const std::string folder = testing::SourceDir() + "/tests/golden/";
  auto text = testing::AlignedBytes::Read(folder + "models/pre_mean_gelu.gguf");
  EncoderShape shape;
  REQUIRE(Model::ReadShape(text.span(), &shape) == Status::kOk);
  testing::AlignedBytes arena(ArenaBytes(shape));
  TextClassifier classifier;
  REQUIRE(classifier.Init(text.span(), arena.span()) == Status::kOk);
  Classification result;
  REQUIRE(classifier.Classify("some words", &result) == Status::kOk);
  std::vector<std::uint32_t> sums(shape.classes);
  Ensemble ensemble({sums.data(), sums.size()});
  REQUIRE(ensemble.Add(result.scores) == Status::kOk);
  REQUIRE(ensemble.Add(result.scores) == Status::kOk);
  CHECK(ensemble.Decide(0).label == result.label);
  CHECK(ensemble.Decide(0).score == result.score);
  CHECK(Ensemble::SameLabels(classifier.model(), classifier.model()));

  auto audio = testing::AlignedBytes::Read(folder + "spotters/class.gguf");
  REQUIRE(Model::ReadShape(audio.span(), &shape) == Status::kOk);
  testing::AlignedBytes audio_arena(ArenaBytes(shape));
  AudioClassifier hearer;
  REQUIRE(hearer.Init(audio.span(), audio_arena.span()) == Status::kOk);
  CHECK_FALSE(Ensemble::SameLabels(classifier.model(), hearer.model()));
}

}  // namespace
}  // namespace atto
