// Highway kernels of GELU and ReLU. Contract: activation.h.
#if defined(ATTO_OPS_ACTIVATION_ACTIVATION_HWY_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef ATTO_OPS_ACTIVATION_ACTIVATION_HWY_INL_H_
#undef ATTO_OPS_ACTIVATION_ACTIVATION_HWY_INL_H_
#else
#define ATTO_OPS_ACTIVATION_ACTIVATION_HWY_INL_H_
#endif

#include "ops/activation/activation.h"
#include "ops/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace atto {
namespace HWY_NAMESPACE {

HWY_INLINE V16 Gelu16(V16 q, int fraction_bits) {
  const D16 d;
  // |q| <= 127 leaves room for eight places; the rest by saturating doubling.
  const int places = 13 - fraction_bits;
  V16 t = hn::ShiftLeftSame(hn::Abs(q), places < 8 ? places : 8);
  for (int i = 8; i < places; ++i) t = hn::SaturatedAdd(t, t);
  const V16 w = hn::Sub(hn::Set(d, 32767), t);
  V16 h =
      hn::Add(hn::MulFixedPoint15(w, hn::Set(d, -10456)), hn::Set(d, 31414));
  h = hn::Sub(hn::MulFixedPoint15(w, h), hn::Set(d, 14479));
  h = hn::Add(hn::MulFixedPoint15(w, h), hn::Set(d, 2190));
  const V16 g =
      hn::MulFixedPoint15(t, hn::MulFixedPoint15(hn::MulFixedPoint15(w, w), h));
  const int drop = 12 - fraction_bits;
  const V16 half = hn::Set(d, static_cast<std::int16_t>(1 << (drop - 1)));
  // The result is at most q: no clamp is needed.
  return hn::Sub(hn::ZeroIfNegative(q),
                 hn::ShiftRightSame(hn::Add(g, half), drop));
}

HWY_INLINE void GeluByPolynomial(int fraction_bits, Span<std::int8_t> x) {
  ForEach16(x.size(), [&](std::size_t i, std::size_t count) ATTO_INLINE_LAMBDA {
    const V16 q = LoadSome8(x.data() + i, count);
    StoreSome8(Gelu16(q, fraction_bits), x.data() + i, count);
  });
}

// pshufb looks up 16 bytes by the low four bits of each byte, or gives zero
// where the highest bit is set. SSE2 has no such instruction; other processors'
// give zero beyond 16.
#undef ATTO_GELU_BY_TABLE
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
#define ATTO_GELU_BY_TABLE 1
#else
#define ATTO_GELU_BY_TABLE 0
#endif

#if ATTO_GELU_BY_TABLE
constexpr std::size_t kGeluPart = 16;  // entries of the table in one vector

// relu(q) - y for q = 0..127, in parts of 16: each but the first is XORed with
// the one before, so that XORing the lookups of |q|, |q| - 16, ... leaves the
// entry of |q|. Only the first kParts parts are not zero.
template <std::size_t kParts>
HWY_INLINE void GeluByTable(const std::int8_t* table, Span<std::int8_t> x) {
  static_assert(kParts == 3 || kParts == 5 || kParts == 8);
  const D8 d;
  const auto part = [&](std::size_t i) ATTO_INLINE_LAMBDA {
    return hn::LoadDup128(d, table + kGeluPart * (i < kParts ? i : 0));
  };
  const V8 t0 = part(0), t1 = part(1), t2 = part(2), t3 = part(3);
  const V8 t4 = part(4), t5 = part(5), t6 = part(6), t7 = part(7);
  const V8 step = hn::Set(d, static_cast<std::int8_t>(kGeluPart));
  const auto gelu = [&](V8 q) ATTO_INLINE_LAMBDA {
    V8 at = hn::Abs(q);
    V8 g = hn::TableLookupBytes(t0, at);
    const auto next = [&](V8 t) ATTO_INLINE_LAMBDA {
      at = hn::Sub(at, step);
      g = hn::Xor(g, hn::TableLookupBytes(t, at));
    };
    next(t1);
    next(t2);
    if constexpr (kParts > 3) {
      next(t3);
      next(t4);
    }
    if constexpr (kParts > 5) {
      next(t5);
      next(t6);
      next(t7);
    }
    return hn::Sub(hn::Max(q, hn::Zero(d)), g);
  };
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= x.size(); i += lanes) {
    hn::StoreU(gelu(hn::LoadU(d, x.data() + i)), d, x.data() + i);
  }
  if (i < x.size()) {
    const std::size_t left = x.size() - i;
    hn::StoreN(gelu(hn::LoadN(d, x.data() + i, left)), d, x.data() + i, left);
  }
}

// Makes the table of GeluByTable from the definition.
HWY_INLINE void MakeGeluTable(int fraction_bits, std::int8_t* table) {
  constexpr std::size_t kSize = 8 * kGeluPart;
  HWY_ALIGN std::int8_t y[kSize];
  for (std::size_t q = 0; q < kSize; ++q) y[q] = static_cast<std::int8_t>(q);
  GeluByPolynomial(fraction_bits, Span<std::int8_t>(y, kSize));
  for (std::size_t q = 0; q < kSize; ++q) {
    const auto g = static_cast<std::int8_t>(static_cast<int>(q) - y[q]);
    y[q] = g;
    table[q] =
        q < kGeluPart ? g : static_cast<std::int8_t>(g ^ y[q - kGeluPart]);
  }
}
#endif

inline void GeluS8(unsigned fraction_bits, Span<std::int8_t> x) noexcept {
  const auto bits = static_cast<int>(fraction_bits);
#if ATTO_GELU_BY_TABLE
  constexpr std::size_t kWorthATable = 1024;
  if (x.size() >= kWorthATable) {
    HWY_ALIGN std::int8_t table[8 * kGeluPart];
    MakeGeluTable(bits, table);
    // |x| < 4 has entries: |q| < 2^(bits + 2). One part more leads back to
    // zero.
    if (bits == 3) {
      GeluByTable<3>(table, x);
    } else if (bits == 4) {
      GeluByTable<5>(table, x);
    } else {
      GeluByTable<8>(table, x);
    }
    return;
  }
#endif
  GeluByPolynomial(bits, x);
}

inline void ReluS8(Span<std::int8_t> x) noexcept {
  ForEach16(x.size(), [&](std::size_t i, std::size_t count) HWY_ATTR {
    StoreSome8(hn::ZeroIfNegative(LoadSome8(x.data() + i, count)), x.data() + i,
               count);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace atto
HWY_AFTER_NAMESPACE();

#endif  // toggle
