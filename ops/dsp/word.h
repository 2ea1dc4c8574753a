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

// Between words and the types of intrinsics on signed lanes.
inline std::int32_t Packed(std::uint32_t word) noexcept {
  return static_cast<std::int32_t>(word);
}
inline std::uint32_t Unpacked(std::int32_t lanes) noexcept {
  return static_cast<std::uint32_t>(lanes);
}

// Bytes 0 and 2, sign-extended to 16 bits each.
inline std::uint32_t EvenBytes(std::uint32_t word) noexcept {
  return Unpacked(__sxtb16(Packed(word)));
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

// sums + EvenBytes(word), sums + OddBytes(word); halves wrap around.
inline std::uint32_t AddEvenBytes(std::uint32_t sums,
                                  std::uint32_t word) noexcept {
  __asm__("sxtab16 %0, %0, %1" : "+r"(sums) : "r"(word));
  return sums;
}
inline std::uint32_t AddOddBytes(std::uint32_t sums,
                                 std::uint32_t word) noexcept {
  __asm__("sxtab16 %0, %0, %1, ror #8" : "+r"(sums) : "r"(word));
  return sums;
}

// |x| of four bytes, none of which is -128.
inline std::uint32_t Magnitudes(std::uint32_t word) noexcept {
  const int8x4_t negative = __ssub8(0, Packed(word));
  return __sel(Unpacked(negative), word);
}

// max(x, 0) of four bytes with these magnitudes: (x + |x|) / 2.
inline std::uint32_t Positives(std::uint32_t word,
                               std::uint32_t magnitudes) noexcept {
  return Unpacked(__shadd8(Packed(word), Packed(magnitudes)));
}

inline std::uint32_t SubtractBytes(std::uint32_t a, std::uint32_t b) noexcept {
  return Unpacked(__ssub8(Packed(a), Packed(b)));
}

// Halfwise, signed.
inline std::uint32_t SmallerHalves(std::uint32_t a, std::uint32_t b) noexcept {
  static_cast<void>(__ssub16(Packed(a), Packed(b)));
  return __sel(b, a);
}
inline std::uint32_t LargerHalves(std::uint32_t a, std::uint32_t b) noexcept {
  static_cast<void>(__ssub16(Packed(a), Packed(b)));
  return __sel(a, b);
}
inline std::uint32_t AddSaturating(std::uint32_t a, std::uint32_t b) noexcept {
  return Unpacked(__qadd16(Packed(a), Packed(b)));
}

// Both halves to the left, shift 0..15. A pair is shifted as one word; what its
// low half sheds is cut off.
inline std::uint32_t ShiftHalves(std::uint32_t pair, unsigned shift) noexcept {
  return (pair << shift) & ~(((std::uint32_t{1} << shift) - 1) << 16);
}

// x in the int16 range, twice.
inline std::uint32_t BothHalves(std::int32_t x) noexcept {
  return (static_cast<std::uint32_t>(x) & 0xFFFF) * 0x00010001;
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
  return __smlad(Packed(a), Packed(b), sum);
}

inline std::int64_t MultiplyPairs(std::uint32_t a, std::uint32_t b,
                                  std::int64_t sum) noexcept {
  return __smlald(Packed(a), Packed(b), sum);
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
