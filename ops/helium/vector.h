// What the MVE (Helium) kernels share. Vectors have 16 bytes; the last one of a
// row is handled by predication, in the same loop as the others.
#ifndef ATTO_OPS_HELIUM_VECTOR_H_
#define ATTO_OPS_HELIUM_VECTOR_H_

#if !(__ARM_FEATURE_MVE & 1)
#error "The Helium kernels need a core with MVE: check -mcpu"
#endif

#include <arm_mve.h>

#include <cstddef>
#include <cstdint>

namespace atto::helium {

// Predicates of the first `left` lanes, all of them if there are more.
inline mve_pred16_t Lanes8(std::size_t left) noexcept {
  return vctp8q(static_cast<std::uint32_t>(left));
}
inline mve_pred16_t Lanes16(std::size_t left) noexcept {
  return vctp16q(static_cast<std::uint32_t>(left));
}
inline mve_pred16_t Lanes32(std::size_t left) noexcept {
  return vctp32q(static_cast<std::uint32_t>(left));
}

// clamp127(x), halfwise.
inline int16x8_t Clamp127(int16x8_t x) noexcept {
  return vmaxq_s16(vminq_s16(x, vdupq_n_s16(127)), vdupq_n_s16(-127));
}

}  // namespace atto::helium

#endif  // ATTO_OPS_HELIUM_VECTOR_H_
