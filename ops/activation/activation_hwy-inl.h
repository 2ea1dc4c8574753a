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

inline void GeluS8(unsigned fraction_bits, Span<std::int8_t> x) noexcept {
  ForEach16(x.size(), [&](std::size_t i, std::size_t count) HWY_ATTR {
    const V16 q = LoadSome8(x.data() + i, count);
    StoreSome8(Gelu16(q, static_cast<int>(fraction_bits)), x.data() + i, count);
  });
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
