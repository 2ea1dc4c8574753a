// From samples that come in any pieces to the rows of an encoder: each frame's
// features are computed once and kept as long as a row may need them.
#ifndef ATTO_RUNTIME_AUDIO_FEATURE_RING_H_
#define ATTO_RUNTIME_AUDIO_FEATURE_RING_H_

#include <cstddef>
#include <cstdint>

#include "ops/backend.h"
#include "ops/base/span.h"
#include "ops/logmel/logmel.h"
#include "runtime/model/shape.h"

namespace atto {

class FeatureRing {
 public:
  FeatureRing() noexcept = default;

  // `samples` [frame_length] int16 and `features` [frames, bins] int8 are kept;
  // `scratch` is the backend's for log-mel features. The tables of `mel` must
  // outlive the ring. Legal: 1 <= frames.
  FeatureRing(const AudioShape& shape, const LogMel& mel,
              const Backend& backend, std::int16_t* samples,
              MatrixView<std::int8_t> features, void* scratch) noexcept
      : shape_(shape),
        mel_(mel),
        backend_(&backend),
        samples_(samples),
        features_(features),
        scratch_(scratch) {}

  // Forgets all samples and frames.
  void Reset() noexcept;

  // Takes samples from the front of `pcm` until a frame is complete, and
  // computes it; false when `pcm` ends before.
  bool NextFrame(Span<const std::int16_t>* pcm) noexcept;

  // Copies `count` frames, one after the other, from `age` frames ago on (1 is
  // the newest one) to `row`. Legal: count <= age <= frames so far and kept.
  void CopyFrames(std::size_t age, std::size_t count,
                  std::int8_t* row) const noexcept;

 private:
  AudioShape shape_;
  LogMel mel_;
  const Backend* backend_ = nullptr;
  std::int16_t* samples_ = nullptr;  // those of the next frame so far
  std::size_t filled_ = 0;
  MatrixView<std::int8_t> features_;
  std::size_t next_ = 0;  // slot of the next frame
  void* scratch_ = nullptr;
};

}  // namespace atto

#endif  // ATTO_RUNTIME_AUDIO_FEATURE_RING_H_
