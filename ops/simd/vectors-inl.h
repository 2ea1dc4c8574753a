// Vector types and helpers that the Highway kernels share. Included once per
// target by ops/backends_hwy.cc.
#if defined(ATTO_OPS_SIMD_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTO_OPS_SIMD_VECTORS_INL_H_
#undef ATTO_OPS_SIMD_VECTORS_INL_H_
#else
#define ATTO_OPS_SIMD_VECTORS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace atto {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// At most 16 lanes of 32 bits: wider SVE vectors would only pad more.
using D32 = hn::CappedTag<std::int32_t, 16>;
using D16 = hn::Repartition<std::int16_t, D32>;
using D8 = hn::Repartition<std::int8_t, D32>;
using DU8 = hn::Repartition<std::uint8_t, D32>;
using DU16 = hn::Repartition<std::uint16_t, D32>;
using DU32 = hn::Repartition<std::uint32_t, D32>;
// As many int8 as D16 has lanes.
using DHalf8 = hn::Rebind<std::int8_t, D16>;
using V32 = hn::Vec<D32>;
using V16 = hn::Vec<D16>;
using V8 = hn::Vec<D8>;

// Attributes of a lambda that belongs into the loop that calls it: a call would
// spill every register of the loop.
#if HWY_COMPILER_MSVC
#define ATTO_INLINE_LAMBDA HWY_ATTR
#else
#define ATTO_INLINE_LAMBDA HWY_ATTR __attribute__((always_inline))
#endif

#define ATTO_X86_WITHOUT_VNNI (HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3_DL)

// The left operand of a dot product of four bytes: unsigned on x86.
#if HWY_ARCH_X86
using DLeft = DU8;
#else
using DLeft = D8;
#endif
using VLeft = hn::Vec<DLeft>;

// acc[c] += sum over four k of left[c][k] right[c][k]. x86 without VNNI: legal
// only where no pair of products leaves 16 bits.
HWY_INLINE V32 DotQuad(V32 acc, VLeft left, V8 right) {
#if ATTO_X86_WITHOUT_VNNI
  const V16 pairs = hn::SatWidenMulPairwiseAdd(D16(), left, right);
  return hn::Add(acc, hn::WidenMulPairwiseAdd(D32(), pairs, hn::Set(D16(), 1)));
#elif HWY_TARGET == HWY_NEON_WITHOUT_AES && defined(__ARM_FEATURE_DOTPROD)
  // A build for cores with the instruction; Highway has no op for it.
  return V32(vdotq_s32(acc.raw, left.raw, right.raw));
#else
  return hn::SumOfMulQuadAccumulate(D32(), left, right, acc);
#endif
}

// Four bytes in every lane.
HWY_INLINE VLeft BroadcastQuad(const void* quad) {
  std::uint32_t bits;
  std::memcpy(&bits, quad, sizeof(bits));
  return hn::BitCast(DLeft(), hn::Set(DU32(), bits));
}

// What quantises by a rounding product: u 2^(15 - shift) / 2^15. Without a
// shift, 1 - 2^-15, which changes nothing that is not cut to 127 anyway.
HWY_INLINE V16 QuantiseFactor(unsigned shift) {
  const int factor = shift == 0 ? 32767 : 32768 >> shift;
  return hn::Set(D16(), static_cast<std::int16_t>(factor));
}

// u 2^-shift, rounded, 16 bits wide and at least -127: saved with Store8, which
// saturates, it is quantise8(u, shift). 0 <= shift <= 7.
HWY_INLINE V16 Quantise16(V16 u, V16 factor) {
  return hn::Max(hn::MulFixedPoint15(u, factor), hn::Set(D16(), -127));
}

// Arithmetic shift of all lanes by the same count, at most 31. x86 shifts by a
// vector of counts in one operation and by a scalar in two, but has the former
// from AVX2 on only.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
using ShiftCount = V32;
HWY_INLINE ShiftCount MakeShift(int count) { return hn::Set(D32(), count); }
HWY_INLINE V32 ShiftRightBy(V32 v, ShiftCount count) {
  return hn::Shr(v, count);
}
HWY_INLINE V32 ShiftLeftBy(V32 v, ShiftCount count) {
  return hn::Shl(v, count);
}
#else
using ShiftCount = int;
HWY_INLINE ShiftCount MakeShift(int count) { return count; }
HWY_INLINE V32 ShiftRightBy(V32 v, ShiftCount count) {
  return hn::ShiftRightSame(v, count);
}
HWY_INLINE V32 ShiftLeftBy(V32 v, ShiftCount count) {
  return hn::ShiftLeftSame(v, count);
}
#endif

// Highway's own reductions of AVX2 cross the halves by a permutation, which
// takes two operations more than splitting the vector once.
#if HWY_TARGET == HWY_AVX2
HWY_INLINE std::int32_t SumOf32(V32 v) {
  const hn::Half<D32> half;
  return hn::ReduceSum(half,
                       hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
}
#else
HWY_INLINE std::int32_t SumOf32(V32 v) { return hn::ReduceSum(D32(), v); }
#endif

// Tells the compiler to finish both sums here, in registers. Without it GCC
// interleaves the rows of a register block until it must spill sums to memory.
HWY_INLINE void KeepOrder(V32& sum0, V32& sum1) {
#if HWY_ARCH_X86
  asm volatile("" : "+v"(sum0.raw), "+v"(sum1.raw));
#else
  (void)sum0;
  (void)sum1;
#endif
}

// y saturated to 8 bits. AVX2 packs two halves, which spares the permutation
// across halves (two operations) that packing one vector needs.
HWY_INLINE hn::Vec<DHalf8> Narrow8(V16 y) {
#if HWY_TARGET == HWY_AVX2
  const hn::Half<D16> half;
  return hn::OrderedDemote2To(DHalf8(), hn::LowerHalf(half, y),
                              hn::UpperHalf(half, y));
#else
  return hn::DemoteTo(DHalf8(), y);
#endif
}

HWY_INLINE void Store8(V16 y, std::int8_t* to) {
  hn::StoreU(Narrow8(y), DHalf8(), to);
}

HWY_INLINE V16 Load8(const std::int8_t* from) {
  return hn::PromoteTo(D16(), hn::LoadU(DHalf8(), from));
}

HWY_INLINE V16 LoadN8(const std::int8_t* from, std::size_t count) {
  return hn::PromoteTo(D16(), hn::LoadN(DHalf8(), from, count));
}

HWY_INLINE void StoreN8(V16 y, std::int8_t* to, std::size_t count) {
  hn::StoreN(hn::DemoteTo(DHalf8(), y), DHalf8(), to, count);
}

// Runs `body(first, count)` over [0, size) in steps of D16's lanes; the last
// step may be shorter. One body serves full vectors and the tail. Two steps a
// turn spare copies of what the body carries from step to step.
template <class Body>
HWY_INLINE void ForEach16(std::size_t size, const Body& body) {
  const std::size_t lanes = hn::Lanes(D16());
  std::size_t i = 0;
  HWY_UNROLL(2)
  for (; i + lanes <= size; i += lanes) body(i, lanes);
  if (i < size) body(i, size - i);
}

// Loads and stores of `count` lanes that know the common case.
HWY_INLINE V16 LoadSome16(const std::int16_t* from, std::size_t count) {
  return HWY_LIKELY(count == hn::Lanes(D16())) ? hn::LoadU(D16(), from)
                                               : hn::LoadN(D16(), from, count);
}
HWY_INLINE void StoreSome16(V16 v, std::int16_t* to, std::size_t count) {
  if (HWY_LIKELY(count == hn::Lanes(D16()))) {
    hn::StoreU(v, D16(), to);
  } else {
    hn::StoreN(v, D16(), to, count);
  }
}
HWY_INLINE V16 LoadSome8(const std::int8_t* from, std::size_t count) {
  return HWY_LIKELY(count == hn::Lanes(D16())) ? Load8(from)
                                               : LoadN8(from, count);
}
HWY_INLINE void StoreSome8(V16 v, std::int8_t* to, std::size_t count) {
  if (HWY_LIKELY(count == hn::Lanes(D16()))) {
    Store8(v, to);
  } else {
    StoreN8(v, to, count);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace atto
HWY_AFTER_NAMESPACE();

#endif  // toggle
