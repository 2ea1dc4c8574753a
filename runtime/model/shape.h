// Shape of an encoder: all that memory and work depend on.
#ifndef ATTO_RUNTIME_MODEL_SHAPE_H_
#define ATTO_RUNTIME_MODEL_SHAPE_H_

#include <cstddef>
#include <cstdint>

namespace atto {

enum class Norm : std::uint8_t { kPre = 0, kPost = 1 };
enum class Activation : std::uint8_t { kGelu = 0, kRelu = 1 };
enum class Pooling : std::uint8_t { kMean = 0, kClass = 1 };
enum class Input : std::uint8_t { kText = 0, kAudio = 1 };

// Front end of an audio model; all zero in others. Legal ranges: docs/audio.md.
struct AudioShape {
  std::uint16_t sample_rate = 0;   // Hz
  std::uint16_t frame_length = 0;  // samples
  std::uint16_t hop_length = 0;    // samples from frame to frame
  std::uint16_t fft_length = 0;
  std::uint16_t bins = 0;          // features of a frame
  std::uint16_t patch_frames = 0;  // frames that make one row of the encoder
  std::uint16_t patch_stride = 0;  // frames from row to row
};

// Legal ranges: docs/model_format.md. An aggregate, so that a generated header
// can write one as a constant.
struct EncoderShape {
  static constexpr std::size_t kMaxTokens = 512;
  static constexpr std::size_t kMinModel = 8;
  static constexpr std::size_t kMaxModel = 512;
  static constexpr std::size_t kMaxFeedForward = 4096;
  static constexpr std::size_t kMaxBlocks = 64;
  static constexpr std::size_t kMaxInput = 512;
  static constexpr std::size_t kMaxClasses = 1024;

  std::uint16_t tokens = 0;   // n_max, class token included
  std::uint16_t d_model = 0;  // d
  std::uint16_t heads = 0;    // h
  std::uint16_t d_ffn = 0;    // f
  std::uint16_t blocks = 0;
  std::uint16_t d_input = 0;  // e, width of the rows that enter the projection
  std::uint16_t classes = 0;  // c
  Norm norm = Norm::kPre;
  Activation activation = Activation::kGelu;
  Pooling pooling = Pooling::kMean;
  Input input = Input::kText;
  AudioShape audio;
};

// Rows that audio can give: the class token takes a place.
constexpr std::size_t AudioRows(const EncoderShape& shape) noexcept {
  return shape.tokens - (shape.pooling == Pooling::kClass ? 1U : 0U);
}

// Frames that `rows` rows are made of. Legal: rows >= 1.
constexpr std::size_t AudioFrames(const AudioShape& audio,
                                  std::size_t rows) noexcept {
  return (rows - 1) * audio.patch_stride + audio.patch_frames;
}

// Samples of a full sequence: what one look at the stream sees.
constexpr std::size_t WindowSamples(const EncoderShape& shape) noexcept {
  const std::size_t frames = AudioFrames(shape.audio, AudioRows(shape));
  return (frames - 1) * shape.audio.hop_length + shape.audio.frame_length;
}

// Multiply-adds of matrix products for `tokens` tokens, head excluded.
constexpr std::uint64_t MultiplyAdds(const EncoderShape& shape,
                                     std::uint64_t tokens) noexcept {
  const std::uint64_t d = shape.d_model;
  const std::uint64_t linear = 4 * d * d + 2 * d * shape.d_ffn;
  const std::uint64_t attention = 2 * tokens * d;
  return tokens * (d * shape.d_input + shape.blocks * (linear + attention));
}

}  // namespace atto

#endif  // ATTO_RUNTIME_MODEL_SHAPE_H_
