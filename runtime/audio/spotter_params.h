// How a keyword spotter decides: part of the model file. docs/audio.md.
#ifndef ATTO_RUNTIME_AUDIO_SPOTTER_PARAMS_H_
#define ATTO_RUNTIME_AUDIO_SPOTTER_PARAMS_H_

#include <cstdint>

namespace atto {

// The defaults are those of a model file without the keys.
struct SpotterParams {
  static constexpr std::uint16_t kMaxSmoothing = 8;
  static constexpr std::uint16_t kMaxLooks = 32;
  static constexpr std::uint16_t kMaxRefractory = 10000;
  static constexpr std::uint16_t kDefaultThreshold = 24576;  // 0.75
  static constexpr std::uint16_t kNever = 0xFFFF;  // no score reaches it

  std::uint16_t hop = 5;           // rows from look to look
  std::uint16_t smoothing = 3;     // looks whose scores are averaged
  std::uint16_t looks = 4;         // that vote
  std::uint16_t votes = 2;         // of them that make an event
  std::uint16_t refractory = 750;  // ms after an event without another one
  // u16 little-endian, one a class; null: kDefaultThreshold, and classes named
  // `unknown` or `silence` are never reported.
  const std::uint8_t* thresholds = nullptr;
};

}  // namespace atto

#endif  // ATTO_RUNTIME_AUDIO_SPOTTER_PARAMS_H_
