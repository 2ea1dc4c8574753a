// From the scores of many looks at a stream to events: smoothing, thresholds,
// votes, refractory time. Definition: docs/audio.md.
#ifndef ATTO_RUNTIME_AUDIO_EVENT_DETECTOR_H_
#define ATTO_RUNTIME_AUDIO_EVENT_DETECTOR_H_

#include <cstddef>
#include <cstdint>

#include "ops/base/span.h"
#include "runtime/audio/spotter_params.h"

namespace atto {

// A keyword in a stream. Positions count samples from the start of the stream.
struct KeywordEvent {
  std::uint16_t word = 0;   // class
  std::uint16_t score = 0;  // smoothed, of kScoreOne
  // What all the looks that voted have seen: the word lies within.
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t detected = 0;  // samples that had come when it was reported
};

class EventDetector {
 public:
  // Bytes of memory for that many classes, aligned to 2.
  static constexpr std::size_t MemoryBytes(std::size_t classes) noexcept {
    return classes * (SpotterParams::kMaxSmoothing + 2) * sizeof(std::uint16_t);
  }

  EventDetector() noexcept = default;

  // `memory`: MemoryBytes(classes), kept. The thresholds are to be set.
  // Legal: params within the ranges of docs/audio.md.
  EventDetector(const SpotterParams& params, std::size_t classes,
                std::uint32_t sample_rate, std::uint16_t* memory) noexcept;

  // 0..kScoreOne; a larger one is never reached. Legal: word < classes.
  void set_threshold(std::size_t word, std::uint16_t threshold) noexcept {
    thresholds_[word] = threshold;
  }
  std::uint16_t threshold(std::size_t word) const noexcept {
    return thresholds_[word];
  }

  void Reset() noexcept;

  // Scores [classes] of a look at the samples [start, end). True if it makes an
  // event. Looks come in the order of the stream.
  bool Look(Span<const std::uint16_t> scores, std::uint64_t start,
            std::uint64_t end, KeywordEvent* event) noexcept;

  // Scores [classes] of the last look, smoothed.
  Span<const std::uint16_t> smoothed() const noexcept {
    return {smoothed_, classes_};
  }

 private:
  static constexpr std::uint16_t kNoVote = 0xFFFF;

  void Smooth(Span<const std::uint16_t> scores) noexcept;

  SpotterParams params_;
  std::size_t classes_ = 0;
  std::uint16_t* thresholds_ = nullptr;  // [classes]
  std::uint16_t* smoothed_ = nullptr;    // [classes]
  std::uint16_t* history_ = nullptr;     // [kMaxSmoothing, classes]
  std::uint32_t smoothing_looks_ = 0;    // in the history
  std::uint32_t smoothing_next_ = 0;     // row of the history
  std::uint32_t next_look_ = 0;          // slot of its vote
  std::uint16_t votes_[SpotterParams::kMaxLooks] = {};
  std::uint64_t ends_[SpotterParams::kMaxLooks] = {};  // of the looks
  std::uint64_t refractory_samples_ = 0;
  std::uint64_t silent_until_ = 0;  // looks that end before do not vote
};

}  // namespace atto

#endif  // ATTO_RUNTIME_AUDIO_EVENT_DETECTOR_H_
