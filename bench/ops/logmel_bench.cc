#include <vector>

#include "bench/ops/register.h"
#include "bench/support/memory.h"
#include "ops/backend_memory.h"
#include "ops/logmel/logmel.h"

namespace atto::bench {
namespace {

constexpr std::size_t kBins = 40;

// A frame of 30 ms at 16 kHz and an FFT of 512; filters of the usual number of
// FFT bins, evenly spaced.
void Run(benchmark::State& state, const Backend& backend) {
  constexpr std::size_t kFrame = 480;
  constexpr std::size_t kFft = 512;
  constexpr std::int16_t kFilterBins = 12;
  const PageArray<std::int16_t> pcm(kFrame);
  const PageArray<std::int16_t> window(kFrame);
  const PageArray<std::int16_t> weights(kBins * kFilterBins);
  const PageArray<std::int8_t> features(kBins);
  const PageArray<std::uint8_t> scratch(
      LogMelScratchBytes(backend.memory, kFft));
  Noise().Fill(pcm.span(), 5000);
  for (std::int16_t& weight : window.span()) weight = 20000;
  for (std::int16_t& weight : weights.span()) weight = 16384;
  std::vector<std::int16_t> filters;
  for (std::size_t i = 0; i < kBins; ++i) {
    filters.push_back(static_cast<std::int16_t>(1 + 6 * i));
    filters.push_back(kFilterBins);
  }
  LogMel mel;
  mel.window = window.data();
  mel.filters = filters.data();
  mel.weights = weights.data();
  mel.frame_length = kFrame;
  mel.fft_length = kFft;
  mel.bins = kBins;
  mel.multiplier = 512;
  mel.offset = 52 << 15;
  for (auto _ : state) {
    LogMelKernel(backend)(mel, pcm.data(), features.data(), scratch.data());
    benchmark::ClobberMemory();
  }
  CountElements(state, kFrame);
}

}  // namespace

void RegisterLogMel() { RegisterOp("logmel_s8", "480x512x40", &Run); }

}  // namespace atto::bench
