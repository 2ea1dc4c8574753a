#include "ops/logmel/logmel.h"
#include "ops/logmel/twiddles.h"

namespace atto {
namespace {

struct Complex {
  std::int32_t re;
  std::int32_t im;
};

// Element k of an array of complex numbers, real parts first.
Complex Load(const std::int32_t* z, std::size_t k) noexcept {
  return {z[2 * k], z[2 * k + 1]};
}
void Store(Complex x, std::int32_t* z, std::size_t k) noexcept {
  z[2 * k] = x.re;
  z[2 * k + 1] = x.im;
}

// floor(x w / 2^16) without a 64-bit product.
constexpr std::int32_t MulW(std::int32_t x, std::int32_t w) noexcept {
  return (x >> 16) * w + (((x & 0xFFFF) * w) >> 16);
}

// -w x / 2 for the root of unity w that the twiddle stands for.
constexpr Complex NegatedHalfProduct(Complex x, Twiddle w) noexcept {
  return {MulW(x.re, w.c) + MulW(x.im, w.s), MulW(x.im, w.c) - MulW(x.re, w.s)};
}

constexpr std::uint32_t Magnitude(std::int32_t x) noexcept {
  return static_cast<std::uint32_t>(x < 0 ? -x : x);
}

// Windowed samples in pairs, padded with zeros, in bit-reversed order.
void LoadWindowed(const LogMel& mel, const std::int16_t* pcm,
                  std::size_t points, std::int32_t* z) noexcept {
  const auto sample = [&](std::size_t i) noexcept {
    return i < mel.frame_length ? pcm[i] * mel.window[i] : 0;
  };
  std::size_t reversed = 0;
  for (std::size_t n = 0; n < points; ++n) {
    Store({sample(2 * n), sample(2 * n + 1)}, z, reversed);
    // Adds one to a counter whose bits run the other way.
    std::size_t bit = points >> 1;
    for (; (reversed & bit) != 0; bit >>= 1) reversed ^= bit;
    reversed |= bit;
  }
}

// Complex FFT in place, radix 2, decimation in time, halved at every stage.
void Transform(std::int32_t* z, std::size_t points) noexcept {
  for (std::size_t half = 1; half < points; half *= 2) {
    const std::size_t stride = kTwiddles / half;
    for (std::size_t j = 0; j < half; ++j) {
      const Twiddle w = kTwiddleTable.at[j * stride];
      for (std::size_t k = j; k < points; k += 2 * half) {
        const Complex a = Load(z, k);
        const Complex t = NegatedHalfProduct(Load(z, k + half), w);
        Store({(a.re >> 1) - t.re, (a.im >> 1) - t.im}, z, k);
        Store({(a.re >> 1) + t.re, (a.im >> 1) + t.im}, z, k + half);
      }
    }
  }
}

// Spectrum of the packed samples -> that of the real signal in place, bins
// 1..points - 1. Returns the bit length of the largest component.
unsigned Unpack(std::int32_t* z, std::size_t points) noexcept {
  const std::size_t stride = kTwiddles / points;
  std::uint32_t bits = 0;
  for (std::size_t k = 1; k <= points / 2; ++k) {
    const Complex a = Load(z, k);
    const Complex b = Load(z, points - k);
    const Complex even = {(a.re >> 1) + (b.re >> 1), (a.im >> 1) - (b.im >> 1)};
    const Complex odd = {(a.re >> 1) - (b.re >> 1), (a.im >> 1) + (b.im >> 1)};
    const Complex t = NegatedHalfProduct(odd, kTwiddleTable.at[k * stride]);
    const Complex low = {(even.re >> 1) - t.im, (even.im >> 1) + t.re};
    const Complex high = {(even.re >> 1) + t.im, t.re - (even.im >> 1)};
    Store(high, z, points - k);
    Store(low, z, k);
    bits |= Magnitude(low.re) | Magnitude(low.im) | Magnitude(high.re) |
            Magnitude(high.im);
  }
  return BitLength64(bits);
}

// Bins 1..points - 1 -> their power, which takes the first half of the place.
void Power(std::int32_t* z, std::size_t points, unsigned shift) noexcept {
  for (std::size_t k = 1; k < points; ++k) {
    const Complex x = Load(z, k);
    const std::int64_t power =
        std::int64_t{x.re} * x.re + std::int64_t{x.im} * x.im;
    z[k] =
        static_cast<std::int32_t>(static_cast<std::uint64_t>(power) >> shift);
  }
}

}  // namespace

void MelBinsS8(const LogMel& mel, const std::uint32_t* power,
               unsigned power_shift, std::int8_t* y) noexcept {
  const std::int16_t* weights = mel.weights;
  for (std::size_t i = 0; i < mel.bins; ++i) {
    const std::uint32_t* const inside = power + mel.filters[2 * i];
    const std::int16_t count = mel.filters[2 * i + 1];
    std::uint64_t energy = 0;
    for (std::int16_t k = 0; k < count; ++k) {
      const std::uint64_t weight = static_cast<std::uint16_t>(weights[k]);
      energy += inside[k] * weight;
    }
    weights += count;
    y[i] = QuantiseLogMel(mel, energy, power_shift);
  }
}

void LogMelS8Ref(const LogMel& mel, const std::int16_t* pcm, std::int8_t* y,
                 void* scratch) noexcept {
  const std::size_t points = mel.fft_length / 2U;
  std::int32_t* const z = static_cast<std::int32_t*>(scratch);
  LoadWindowed(mel, pcm, points, z);
  Transform(z, points);
  const unsigned shift = PowerShift(Unpack(z, points));
  Power(z, points, shift);
  const void* const power = z;
  MelBinsS8(mel, static_cast<const std::uint32_t*>(power), shift, y);
}

}  // namespace atto
