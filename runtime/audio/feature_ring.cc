#include "runtime/audio/feature_ring.h"

#include <cstring>

namespace atto {

void FeatureRing::Reset() noexcept {
  filled_ = 0;
  next_ = 0;
}

bool FeatureRing::NextFrame(Span<const std::int16_t>* pcm) noexcept {
  const std::size_t wanted = shape_.frame_length - filled_;
  const std::size_t count = pcm->size() < wanted ? pcm->size() : wanted;
  if (count == 0) return false;
  std::memcpy(samples_ + filled_, pcm->data(), count * sizeof(std::int16_t));
  *pcm = pcm->subspan(count, pcm->size() - count);
  filled_ += count;
  if (count < wanted) return false;
  LogMelKernel (*backend_)(mel_, samples_, features_.row(next_), scratch_);
  if (++next_ == features_.rows()) next_ = 0;
  filled_ -= shape_.hop_length;
  std::memmove(samples_, samples_ + shape_.hop_length,
               filled_ * sizeof(std::int16_t));
  return true;
}

void FeatureRing::CopyFrames(std::size_t age, std::size_t count,
                             std::int8_t* row) const noexcept {
  const std::size_t bins = features_.cols();
  std::size_t at = next_ >= age ? next_ - age : next_ + features_.rows() - age;
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(row + i * bins, features_.row(at), bins);
    if (++at == features_.rows()) at = 0;
  }
}

}  // namespace atto
