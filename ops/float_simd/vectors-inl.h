// The vector type of one float backend and what its kernels share.
//
// A -inl.h file is included by ops/float_backends_xsimd.cc alone, which is
// compiled once for each architecture, with that architecture's flags.
// Everything here has internal linkage, so that no function compiled for a
// newer CPU can take the place of its namesake in another object; xsimd's own
// functions carry the architecture in their type.
#ifndef ATTO_OPS_FLOAT_SIMD_VECTORS_INL_H_
#define ATTO_OPS_FLOAT_SIMD_VECTORS_INL_H_

#include <cstddef>
#include <utility>
#include <xsimd/xsimd.hpp>

// Kernels keep their accumulators in registers only if everything in them is
// inlined.
#define ATTO_INLINE inline __attribute__((always_inline))

namespace atto {
namespace {

using Vector = xsimd::batch<float, ATTO_XSIMD_ARCH>;
constexpr std::size_t kLanes = Vector::size;

// Registers bound the block of accumulators: rows x 2 vectors, beside two
// vectors of weights and one of input. 32 of them with AVX-512 and NEON.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr std::size_t kMaxRows = 12;
#else
constexpr std::size_t kMaxRows = 6;
#endif
constexpr std::size_t kPanelVectors = 2;
constexpr std::size_t kPanel = kPanelVectors * kLanes;

ATTO_INLINE Vector Load(const float* p) { return Vector::load_unaligned(p); }
ATTO_INLINE void Store(Vector v, float* p) { v.store_unaligned(p); }

// Fewer than kLanes elements; the other lanes are zero.
ATTO_INLINE Vector LoadPart(const float* p, std::size_t count) {
  alignas(64) float lanes[kLanes] = {};
  for (std::size_t i = 0; i < count; ++i) lanes[i] = p[i];
  return Vector::load_aligned(lanes);
}

ATTO_INLINE void StorePart(Vector v, float* p, std::size_t count) {
  alignas(64) float lanes[kLanes];
  v.store_aligned(lanes);
  for (std::size_t i = 0; i < count; ++i) p[i] = lanes[i];
}

// out[i] = f(in[i]) over `size` elements, the tail in the same body.
template <typename F>
ATTO_INLINE void Map(const float* in, float* out, std::size_t size,
                     const F& f) {
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) Store(f(Load(in + i)), out + i);
  if (i < size) {
    const std::size_t left = size - i;
    StorePart(f(LoadPart(in + i, left)), out + i, left);
  }
}

// As Map, with a second input.
template <typename F>
ATTO_INLINE void Map2(const float* a, const float* b, float* out,
                      std::size_t size, const F& f) {
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    Store(f(Load(a + i), Load(b + i)), out + i);
  }
  if (i < size) {
    const std::size_t left = size - i;
    StorePart(f(LoadPart(a + i, left), LoadPart(b + i, left)), out + i, left);
  }
}

}  // namespace
}  // namespace atto

#endif  // ATTO_OPS_FLOAT_SIMD_VECTORS_INL_H_
