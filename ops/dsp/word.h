// Four bytes or two 16-bit numbers in a register, from and to any address:
// these cores load and store words unaligned.
#ifndef ATTO_OPS_DSP_WORD_H_
#define ATTO_OPS_DSP_WORD_H_

#include <arm_acle.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#if !__ARM_FEATURE_SIMD32
#error "The DSP kernels need a core with the DSP extension: check -mcpu"
#endif

namespace atto::dsp {

inline std::uint32_t LoadWord(const void* address) noexcept {
  std::uint32_t word;
  std::memcpy(&word, address, sizeof(word));
  return word;
}

// The first `bytes` (1..3) of a word, zeros behind them.
inline std::uint32_t LoadPart(const void* address, std::size_t bytes) noexcept {
  const auto* const from = static_cast<const std::uint8_t*>(address);
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    word |= std::uint32_t{from[i]} << (8 * i);
  }
  return word;
}

inline void StoreWord(std::uint32_t word, void* address) noexcept {
  std::memcpy(address, &word, sizeof(word));
}

inline void StorePart(std::uint32_t word, void* address,
                      std::size_t bytes) noexcept {
  auto* const to = static_cast<std::uint8_t*>(address);
  for (std::size_t i = 0; i < bytes; ++i) {
    to[i] = static_cast<std::uint8_t>(word >> (8 * i));
  }
}

// Bytes 0 and 2, sign-extended to 16 bits each.
inline std::uint32_t EvenBytes(std::uint32_t word) noexcept {
  return static_cast<std::uint32_t>(__sxtb16(static_cast<int8x4_t>(word)));
}

// Bytes 1 and 3. Spelt out, because GCC does not fold the rotation.
inline std::uint32_t OddBytes(std::uint32_t word) noexcept {
  std::uint32_t pair;
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(word));
  return pair;
}

// The same without signs.
inline std::uint32_t EvenHalf(std::uint32_t word) noexcept {
  return word & 0x00FF00FF;
}
inline std::uint32_t OddHalf(std::uint32_t word) noexcept {
  return (word >> 8) & 0x00FF00FF;
}

// Low halves of a and b: (a.low, b.low).
inline std::uint32_t LowHalves(std::uint32_t a, std::uint32_t b) noexcept {
  return (a & 0xFFFF) | (b << 16);
}

// High halves: (a.high, b.high).
inline std::uint32_t HighHalves(std::uint32_t a, std::uint32_t b) noexcept {
  return (a >> 16) | (b & 0xFFFF0000);
}

// sum + a.low b.low + a.high b.high.
inline std::int32_t MultiplyPairs(std::uint32_t a, std::uint32_t b,
                                  std::int32_t sum) noexcept {
  return __smlad(static_cast<int16x2_t>(a), static_cast<int16x2_t>(b), sum);
}

// x clamped to kBits bits.
template <int kBits>
std::int32_t Saturate(std::int32_t x) noexcept {
  const auto saturated = __builtin_arm_ssat(x, kBits);
  return static_cast<std::int32_t>(saturated);
}

// Rdh16(a, b) before its final shift by 15.
inline std::int32_t RoundedProduct(std::int32_t a, std::int32_t b) noexcept {
  return __smlabb(a, b, 1 << 14);
}

// clamp127(x). Legal: any x.
inline std::int8_t Clamp127(std::int32_t x) noexcept {
  const std::int32_t clamped = Saturate<8>(x);
  return static_cast<std::int8_t>(clamped < -127 ? -127 : clamped);
}

}  // namespace atto::dsp

#endif  // ATTO_OPS_DSP_WORD_H_
