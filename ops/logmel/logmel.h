// Log-mel features of one frame of audio: window, real FFT, power, mel filters,
// logarithm, in integers. Integer definition: docs/audio.md.
#ifndef ATTO_OPS_LOGMEL_LOGMEL_H_
#define ATTO_OPS_LOGMEL_LOGMEL_H_

#include <cstddef>
#include <cstdint>

#include "ops/base/fixed_point.h"

namespace atto {

// One front end; the arrays stay in the model file.
struct LogMel {
  static constexpr std::size_t kMinFft = 32;
  static constexpr std::size_t kMaxFft = 512;
  static constexpr std::size_t kMaxBins = 128;
  static constexpr std::int32_t kMaxOffset = (1 << 22) - 1;

  const std::int16_t* window = nullptr;   // [frame_length], 0..32,767
  const std::int16_t* filters = nullptr;  // [bins, 2]: first FFT bin, FFT bins
  // The filters' weights one after the other, 0..32,767. A filter lies within
  // the FFT bins 1..fft_length / 2 - 1.
  const std::int16_t* weights = nullptr;
  std::uint16_t frame_length = 0;  // samples, 1..fft_length
  std::uint16_t fft_length = 0;    // a power of two, kMinFft..kMaxFft
  std::uint16_t bins = 0;          // 1..kMaxBins
  std::int16_t multiplier = 1;     // of log2 units with 9 fraction bits, 1..
  std::int32_t offset = 0;         // log2 with 15 fraction bits that becomes 0
};

// Bytes of scratch of the scalar kernel.
constexpr std::size_t LogMelScratchBytes(std::size_t fft_length) noexcept {
  return fft_length * sizeof(std::int32_t);
}

// pcm [frame_length] -> y [bins] int8 in [-127, 127]. scratch: the bytes that
// ops/backend_memory.h gives for the backend, aligned to 4.
void LogMelS8Ref(const LogMel& mel, const std::int16_t* pcm, std::int8_t* y,
                 void* scratch) noexcept;

// The last steps, the same code for every backend: power [fft_length / 2],
// already shifted right by `power_shift` -> filters, logarithm -> y [bins].
void MelBinsS8(const LogMel& mel, const std::uint32_t* power,
               unsigned power_shift, std::int8_t* y) noexcept;

// Right shift that brings the power of FFT values into 32 bits, when `bits` is
// the bit length of the largest |component|: 0..31.
constexpr unsigned PowerShift(unsigned bits) noexcept {
  return bits < 16 ? 0 : 2 * bits - 31;
}

// Number of significant bits of a 64-bit number; 0 for 0.
constexpr unsigned BitLength64(std::uint64_t x) noexcept {
  const auto high = static_cast<std::uint32_t>(x >> 32);
  return high != 0 ? 32 + BitLength(high)
                   : BitLength(static_cast<std::uint32_t>(x));
}

// log2(x) with 15 fraction bits, to within 5 units; 0 for 0.
constexpr std::int32_t Log2Q15(std::uint64_t x) noexcept {
  if (x == 0) return 0;
  const unsigned exponent = BitLength64(x) - 1;
  // The 15 bits after the leading one.
  const std::uint64_t shifted =
      exponent >= 15 ? x >> (exponent - 15) : x << (15 - exponent);
  const std::int32_t f = static_cast<std::int32_t>(shifted & 0x7FFF);
  const std::int32_t u = (f * (32768 - f)) >> 15;
  const std::int32_t h = Rdh16(f, Rdh16(f, 2691) - 7833) + 14376;
  return static_cast<std::int32_t>(exponent << 15) + f + Rdh16(u, h);
}

// Energy of one mel filter, with the power shift it was computed at -> int8.
constexpr std::int8_t QuantiseLogMel(const LogMel& mel, std::uint64_t energy,
                                     unsigned power_shift) noexcept {
  if (energy == 0) return -127;
  const std::int32_t log2 =
      Log2Q15(energy) + static_cast<std::int32_t>(power_shift << 15);
  const std::int32_t u = Sat16((log2 - mel.offset + 32) >> 6);
  return Clamp127(Rdh16(u, mel.multiplier));
}

}  // namespace atto

#endif  // ATTO_OPS_LOGMEL_LOGMEL_H_
