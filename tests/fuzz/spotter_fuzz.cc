// Any samples, cut in any way, into the keyword spotter: how a stream is cut,
// and which backend runs, changes nothing of what is heard.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/fuzz/run_audio.h"

namespace atto::fuzz {
namespace {

testing::FileBytes DrawModel(FuzzInput* input) {
  testing::ModelOptions options;
  EncoderShape& shape = options.shape;
  shape = testing::SmallShape();
  shape.input = Input::kAudio;
  shape.tokens = static_cast<std::uint16_t>(input->In(2, 9));
  shape.d_input = static_cast<std::uint16_t>(input->In(1, 40));
  shape.classes = static_cast<std::uint16_t>(input->In(2, 5));
  shape.blocks = 1;
  if (input->Coin()) shape.pooling = Pooling::kClass;
  options.seed = static_cast<std::uint32_t>(input->In(0, 255));
  testing::ModelFile file = testing::MakeModel(options);
  if (input->Coin()) {
    // Within the window of 20 samples that the test's front end has.
    file.SetNumber("atto.audio.hop_length",
                   static_cast<std::uint64_t>(input->In(1, 20)));
  }
  return testing::FileBytes(file.Build());
}

std::vector<std::int16_t> DrawSamples(FuzzInput* input) {
  Numbers<std::int16_t> noise(input, input->Size(0, 600), -32768, 32767);
  std::vector<std::int16_t> samples(noise.data(), noise.data() + noise.size());
  while (!input->empty()) {
    samples.push_back(static_cast<std::int16_t>(input->In(-32768, 32767)));
  }
  return samples;
}

}  // namespace
}  // namespace atto::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace atto;
  using namespace atto::fuzz;
  FuzzInput input(data, size);
  const testing::FileBytes file = DrawModel(&input);
  const auto hop = static_cast<std::uint16_t>(input.In(0, 12));
  const auto threshold = static_cast<std::uint16_t>(input.In(0, kScoreOne));
  const std::size_t piece = input.Size(1, 300);
  const std::vector<std::int16_t> pcm = DrawSamples(&input);
  const std::vector<std::uint64_t> heard =
      Listen(file.span(), pcm, pcm.size() + 1, hop, threshold, *Backends()[0]);
  const std::vector<std::int16_t> logits =
      ClassifyClip(file.span(), pcm, *Backends()[0]);
  for (const Backend* const backend : Backends()) {
    if (!backend->supported()) continue;
    Require(Listen(file.span(), pcm, piece, hop, threshold, *backend) == heard,
            "pieces and backends change nothing of what is heard");
    Require(ClassifyClip(file.span(), pcm, *backend) == logits,
            "every backend gives the logits of ref");
  }
  return 0;
}
