#include "runtime/audio/event_detector.h"

#include <cstring>

namespace atto {

EventDetector::EventDetector(const SpotterParams& params, std::size_t classes,
                             std::uint32_t sample_rate,
                             std::uint16_t* memory) noexcept
    : params_(params),
      classes_(classes),
      thresholds_(memory),
      smoothed_(memory + classes),
      history_(memory + 2 * classes),
      refractory_samples_(params.refractory * sample_rate / 1000) {
  Reset();
}

void EventDetector::Reset() noexcept {
  smoothing_looks_ = 0;
  smoothing_next_ = 0;
  next_look_ = 0;
  silent_until_ = 0;
  for (std::uint16_t& vote : votes_) vote = kNoVote;
}

// The mean of the last looks, rounded down.
void EventDetector::Smooth(Span<const std::uint16_t> scores) noexcept {
  std::memcpy(history_ + smoothing_next_ * classes_, scores.data(),
              classes_ * sizeof(std::uint16_t));
  if (++smoothing_next_ == params_.smoothing) smoothing_next_ = 0;
  if (smoothing_looks_ < params_.smoothing) ++smoothing_looks_;
  for (std::size_t i = 0; i < classes_; ++i) {
    std::uint32_t sum = 0;
    for (std::size_t k = 0; k < smoothing_looks_; ++k) {
      sum += history_[k * classes_ + i];
    }
    smoothed_[i] = static_cast<std::uint16_t>(sum / smoothing_looks_);
  }
}

bool EventDetector::Look(Span<const std::uint16_t> scores, std::uint64_t start,
                         std::uint64_t end, KeywordEvent* event) noexcept {
  Smooth(scores);
  std::uint16_t best = 0;
  for (std::size_t i = 1; i < classes_; ++i) {
    if (smoothed_[i] > smoothed_[best]) best = static_cast<std::uint16_t>(i);
  }
  const bool votes =
      end >= silent_until_ && smoothed_[best] >= thresholds_[best];
  votes_[next_look_] = votes ? best : kNoVote;
  ends_[next_look_] = end;
  if (++next_look_ == params_.looks) next_look_ = 0;
  if (!votes) return false;
  std::uint32_t count = 0;
  std::uint64_t first_end = end;
  for (std::size_t i = 0; i < params_.looks; ++i) {
    if (votes_[i] != best) continue;
    ++count;
    if (ends_[i] < first_end) first_end = ends_[i];
  }
  if (count < params_.votes) return false;
  event->word = best;
  event->score = smoothed_[best];
  event->start = start;
  // Looks far apart have seen nothing together.
  event->end = first_end > start ? first_end : end;
  event->detected = end;
  silent_until_ = end + refractory_samples_;
  for (std::uint16_t& vote : votes_) vote = kNoVote;
  return true;
}

}  // namespace atto
