// atto features: a picture of what a model hears.
#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "tools/cli/audio_file.h"
#include "tools/cli/commands.h"
#include "tools/cli/format.h"
#include "tools/cli/session.h"

namespace atto::cli {
namespace {

constexpr std::size_t kPixelsPerFrame = 4;
constexpr std::size_t kPixelsPerBin = 6;
constexpr std::size_t kTickRows = 6;      // below the picture
constexpr std::size_t kMaxFrames = 8000;  // 80 s at 10 ms: wider is no picture

struct Colour {
  double red;
  double green;
  double blue;
};

// Points of matplotlib's "magma", evenly spaced, dark to bright.
constexpr std::array<Colour, 6> kMagma = {{{0, 0, 4},
                                           {59, 15, 112},
                                           {140, 41, 129},
                                           {222, 73, 104},
                                           {254, 159, 109},
                                           {252, 253, 191}}};

void Paint(double share, std::uint8_t* pixel) {
  const double at = share * (kMagma.size() - 1);
  const std::size_t low =
      std::min(static_cast<std::size_t>(at), kMagma.size() - 2);
  const double rest = at - static_cast<double>(low);
  const auto mix = [rest](double a, double b) {
    return static_cast<std::uint8_t>(std::lround(a + rest * (b - a)));
  };
  pixel[0] = mix(kMagma[low].red, kMagma[low + 1].red);
  pixel[1] = mix(kMagma[low].green, kMagma[low + 1].green);
  pixel[2] = mix(kMagma[low].blue, kMagma[low + 1].blue);
}

// Features [frames, bins] of the front end.
std::vector<std::int8_t> Features(AudioSession* session,
                                  const std::vector<std::int16_t>& pcm) {
  const AudioShape& audio = session->shape().audio;
  const Backend& backend = session->encoder().backend();
  std::vector<std::int32_t> scratch(
      LogMelScratchBytes(backend.memory, audio.fft_length) /
      sizeof(std::int32_t));
  std::vector<std::int8_t> features;
  for (std::size_t at = 0; at + audio.frame_length <= pcm.size();
       at += audio.hop_length) {
    features.resize(features.size() + audio.bins);
    LogMelKernel(backend)(session->model().log_mel(), pcm.data() + at,
                          features.data() + features.size() - audio.bins,
                          scratch.data());
  }
  return features;
}

}  // namespace

void DrawFeatures(const FeaturesOptions& options) {
  if (!IsFile(options.model)) {
    throw Failure(options.model +
                  ": no such file; name the model whose front end is to be "
                  "drawn with --model");
  }
  AudioSession session(options.model);
  const AudioShape& audio = session.shape().audio;
  const std::size_t most =
      (kMaxFrames - 1) * audio.hop_length + audio.frame_length;
  std::uint64_t total = 0;
  const std::vector<std::int16_t> pcm =
      ReadClip(options.file, session.sample_rate(), most, &total);
  const std::vector<std::int8_t> features = Features(&session, pcm);
  const std::size_t frames = features.size() / audio.bins;
  if (frames == 0) {
    throw Failure(options.file + ": is shorter than one frame of " +
                  std::to_string(audio.frame_length) + " samples");
  }
  const std::size_t width = frames * kPixelsPerFrame;
  const std::size_t height = audio.bins * kPixelsPerBin + kTickRows;
  std::vector<std::uint8_t> pixels(width * height * 3, 255);
  for (std::size_t y = 0; y < audio.bins * kPixelsPerBin; ++y) {
    // Low frequencies at the bottom.
    const std::size_t bin = audio.bins - 1 - y / kPixelsPerBin;
    for (std::size_t x = 0; x < width; ++x) {
      const int value = features[x / kPixelsPerFrame * audio.bins + bin];
      Paint((value + 127) / 254.0, &pixels[(y * width + x) * 3]);
    }
  }
  // A tick every tenth of a second, a longer one every second.
  for (std::size_t i = 0;; ++i) {
    const std::size_t x = i * audio.sample_rate * kPixelsPerFrame /
                          (std::size_t{10} * audio.hop_length);
    if (x >= width) break;
    const std::size_t rows = i % 10 == 0 ? kTickRows : kTickRows / 2;
    for (std::size_t y = height - kTickRows; y < height - kTickRows + rows;
         ++y) {
      for (std::size_t c = 0; c < 3; ++c) pixels[(y * width + x) * 3 + c] = 0;
    }
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_RGB;
  if (png_image_write_to_file(&image, options.png.c_str(), 0, pixels.data(), 0,
                              nullptr) == 0) {
    throw Failure(options.png + ": " + image.message);
  }
  std::printf(
      "%s: %s frames of %u bins, every %s ms; dark is -127, bright 127; a tick "
      "is 0.1 s\n",
      options.png.c_str(), Grouped(frames).c_str(), unsigned{audio.bins},
      Fixed(1000.0 * audio.hop_length / audio.sample_rate, 1).c_str());
  if (total > pcm.size()) {
    std::printf(
        "only the first %s s are drawn\n",
        Fixed(static_cast<double>(pcm.size()) / audio.sample_rate, 1).c_str());
  }
}

}  // namespace atto::cli
