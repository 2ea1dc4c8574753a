// Sound files of any format, rate and number of channels -> what a model
// hears: mono 16-bit samples at its own rate, piece by piece.
#ifndef ATTO_TOOLS_CLI_AUDIO_FILE_H_
#define ATTO_TOOLS_CLI_AUDIO_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/cli/files.h"

namespace atto::cli {

// Raw samples on standard input.
struct RawFormat {
  unsigned rate = 0;  // Hz; 0: the model's
  unsigned channels = 1;
};

class AudioReader {
 public:
  // Opens a file, or for "-" standard input: signed 16-bit little-endian
  // samples of that format. Throws Failure if it cannot be read or is no sound
  // file that libsndfile knows.
  AudioReader(const std::string& path, unsigned rate,
              const RawFormat& raw = RawFormat());
  ~AudioReader();
  AudioReader(const AudioReader&) = delete;
  AudioReader& operator=(const AudioReader&) = delete;

  // Replaces `pcm` by the next samples, up to about a second; false at the end.
  // Channels are averaged, other rates converted, values beyond the range of 16
  // bits clipped. Throws Failure for a read error or a sample that is no finite
  // number.
  bool Read(std::vector<std::int16_t>* pcm);

  // Of the source.
  unsigned source_rate() const { return source_rate_; }
  unsigned channels() const { return channels_; }

 private:
  struct Source;
  class Resampler;

  bool ReadMono();

  std::string path_;
  unsigned source_rate_ = 0;
  unsigned channels_ = 1;
  std::unique_ptr<Source> source_;
  std::unique_ptr<Resampler> resampler_;  // null if the rate is the model's
  std::vector<float> interleaved_;
  std::vector<float> mono_;  // in units of 16-bit samples
  std::vector<float> resampled_;
  std::uint64_t position_ = 0;  // samples of the source so far
  bool ended_ = false;
};

// A whole file, of which at most `limit` samples are kept; *total counts all.
std::vector<std::int16_t> ReadClip(const std::string& path, unsigned rate,
                                   std::size_t limit, std::uint64_t* total);

// Whether the name ends as that of a sound file: .wav, .flac, .opus, .ogg,
// .mp3.
bool LooksLikeAudio(const std::string& path);

}  // namespace atto::cli

#endif  // ATTO_TOOLS_CLI_AUDIO_FILE_H_
