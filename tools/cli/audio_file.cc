#include "tools/cli/audio_file.h"

#include <sndfile.h>
#include <soxr.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

namespace atto::cli {
namespace {

// Frames read at a time.
constexpr std::size_t kChunk = 16384;
constexpr float kFullScale = 32768.0F;

}  // namespace

struct AudioReader::Source {
  ~Source() {
    if (file != nullptr) sf_close(file);
  }

  SNDFILE* file = nullptr;
};

// soxr at high quality: what is below the lower rate's half is kept.
class AudioReader::Resampler {
 public:
  Resampler(unsigned from, unsigned to)
      : ratio_(static_cast<double>(to) / from) {
    const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
    soxr_error_t error = nullptr;
    soxr_ = soxr_create(from, to, 1, &error, nullptr, &quality, nullptr);
    if (soxr_ == nullptr || error != nullptr) {
      throw Failure(std::string("cannot convert the sample rate: ") +
                    (error != nullptr ? error : "out of memory"));
    }
  }
  ~Resampler() { soxr_delete(soxr_); }
  Resampler(const Resampler&) = delete;
  Resampler& operator=(const Resampler&) = delete;

  // Converts `in`; an empty one ends the stream.
  void Convert(const std::vector<float>& in, std::vector<float>* out) {
    const auto most =
        static_cast<std::size_t>(static_cast<double>(in.size()) * ratio_);
    out->resize(most + kChunk);
    std::size_t written = 0;
    const soxr_error_t error =
        soxr_process(soxr_, in.empty() ? nullptr : in.data(), in.size(),
                     nullptr, out->data(), out->size(), &written);
    if (error != nullptr) {
      throw Failure(std::string("cannot convert the sample rate: ") + error);
    }
    out->resize(written);
  }

 private:
  double ratio_;
  soxr_t soxr_ = nullptr;
};

AudioReader::AudioReader(const std::string& path, unsigned rate,
                         const RawFormat& raw)
    : path_(path == "-" ? "standard input" : path),
      source_(std::make_unique<Source>()) {
  SF_INFO info{};
  if (path == "-") {
    info.samplerate = static_cast<int>(raw.rate == 0 ? rate : raw.rate);
    info.channels = static_cast<int>(raw.channels);
    info.format = SF_FORMAT_RAW | SF_FORMAT_PCM_16 | SF_ENDIAN_LITTLE;
    source_->file = sf_open_fd(fileno(stdin), SFM_READ, &info, SF_FALSE);
  } else {
    // For a sentence of our own: libsndfile's is about formats.
    if (!IsFile(path)) {
      std::error_code ignored;
      throw Failure(path + (std::filesystem::is_directory(path, ignored)
                                ? ": is a folder, not a file"
                                : ": no such file"));
    }
    source_->file = sf_open(path.c_str(), SFM_READ, &info);
  }
  if (source_->file == nullptr) {
    throw Failure(path_ + ": " + sf_strerror(nullptr));
  }
  source_rate_ = static_cast<unsigned>(info.samplerate);
  channels_ = static_cast<unsigned>(info.channels);
  if (source_rate_ < 1000 || source_rate_ > 768000) {
    throw Failure(path_ + ": has a sample rate of " +
                  std::to_string(source_rate_) +
                  " Hz; 1,000 to 768,000 can be converted");
  }
  if (source_rate_ != rate) {
    resampler_ = std::make_unique<Resampler>(source_rate_, rate);
  }
}

AudioReader::~AudioReader() = default;

// Fills mono_ with the next samples of the source; false at its end.
bool AudioReader::ReadMono() {
  interleaved_.resize(kChunk * channels_);
  const sf_count_t frames = sf_readf_float(source_->file, interleaved_.data(),
                                           static_cast<sf_count_t>(kChunk));
  if (frames <= 0) {
    if (sf_error(source_->file) != SF_ERR_NO_ERROR) {
      throw Failure(path_ + ": " + sf_strerror(source_->file));
    }
    return false;
  }
  mono_.resize(static_cast<std::size_t>(frames));
  const float scale = kFullScale / static_cast<float>(channels_);
  for (std::size_t i = 0; i < mono_.size(); ++i) {
    float sum = 0;
    for (unsigned c = 0; c < channels_; ++c) {
      sum += interleaved_[i * channels_ + c];
    }
    if (!std::isfinite(sum)) {
      throw Failure(path_ + ": sample " + std::to_string(position_ + i) +
                    " is not a finite number");
    }
    mono_[i] = sum * scale;
  }
  position_ += mono_.size();
  return true;
}

bool AudioReader::Read(std::vector<std::int16_t>* pcm) {
  pcm->clear();
  while (pcm->empty() && !ended_) {
    if (!ReadMono()) {
      ended_ = true;
      mono_.clear();
    }
    const std::vector<float>* samples = &mono_;
    if (resampler_ != nullptr) {
      resampler_->Convert(mono_, &resampled_);
      samples = &resampled_;
    }
    for (const float sample : *samples) {
      const float clipped = std::clamp(sample, -kFullScale, kFullScale - 1);
      pcm->push_back(static_cast<std::int16_t>(std::lrintf(clipped)));
    }
  }
  return !pcm->empty();
}

std::vector<std::int16_t> ReadClip(const std::string& path, unsigned rate,
                                   std::size_t limit, std::uint64_t* total) {
  AudioReader reader(path, rate);
  std::vector<std::int16_t> clip;
  std::vector<std::int16_t> pcm;
  *total = 0;
  while (reader.Read(&pcm)) {
    *total += pcm.size();
    const std::size_t room = limit - clip.size();
    const std::size_t count = std::min(room, pcm.size());
    clip.insert(clip.end(), pcm.begin(),
                pcm.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return clip;
}

bool LooksLikeAudio(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  for (char& c : extension) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return extension == ".wav" || extension == ".flac" || extension == ".opus" ||
         extension == ".ogg" || extension == ".mp3";
}

}  // namespace atto::cli
