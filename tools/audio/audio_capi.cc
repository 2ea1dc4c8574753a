// C functions around the runtime's front end, so that training sees exactly the
// features of the device. Used by tools/audio/device_audio.py through ctypes.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/backend.h"
#include "ops/logmel/logmel.h"

#define ATTO_AUDIO_API extern "C" __attribute__((visibility("default")))

// Features of `clips` clips of `samples` each: pcm [clips, samples] -> y
// [clips, frames, bins], with frames = 1 + (samples - frame_length) /
// hop_length. The caller has checked everything. False: ATTO_FORCE_BACKEND
// names no backend of this machine.
ATTO_AUDIO_API bool atto_audio_features(
    const std::int16_t* window, const std::int16_t* filters,
    const std::int16_t* weights, std::int32_t frame_length,
    std::int32_t hop_length, std::int32_t fft_length, std::int32_t bins,
    std::int32_t multiplier, std::int32_t offset, const std::int16_t* pcm,
    std::size_t clips, std::size_t samples, std::int8_t* y) noexcept {
  atto::LogMel mel;
  mel.window = window;
  mel.filters = filters;
  mel.weights = weights;
  mel.frame_length = static_cast<std::uint16_t>(frame_length);
  mel.fft_length = static_cast<std::uint16_t>(fft_length);
  mel.bins = static_cast<std::uint16_t>(bins);
  mel.multiplier = static_cast<std::int16_t>(multiplier);
  mel.offset = offset;
  const atto::Backend* const backend = atto::DefaultBackend();
  if (backend == nullptr) return false;
  std::vector<std::int32_t> scratch(
      LogMelScratchBytes(backend->memory, mel.fft_length) /
      sizeof(std::int32_t));
  const std::size_t length = mel.frame_length;
  const std::size_t hop = static_cast<std::size_t>(hop_length);
  for (std::size_t clip = 0; clip < clips; ++clip) {
    for (std::size_t at = 0; at + length <= samples; at += hop) {
      LogMelKernel (*backend)(mel, pcm + at, y, scratch.data());
      y += mel.bins;
    }
    pcm += samples;
  }
  return true;
}
