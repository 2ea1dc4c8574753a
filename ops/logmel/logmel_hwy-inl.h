// Highway kernel of the log-mel features. Contract: logmel.h.
#if defined(ATTO_OPS_LOGMEL_LOGMEL_HWY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTO_OPS_LOGMEL_LOGMEL_HWY_INL_H_
#undef ATTO_OPS_LOGMEL_LOGMEL_HWY_INL_H_
#else
#define ATTO_OPS_LOGMEL_LOGMEL_HWY_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <utility>

#include "ops/logmel/logmel.h"
#include "ops/logmel/twiddles.h"
#include "ops/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace atto {
namespace HWY_NAMESPACE {

// Complex numbers, real and imaginary parts apart.
struct ComplexRows {
  std::int32_t* re;
  std::int32_t* im;
};

// Not a struct: vectors of unknown length (SVE) are no members.
using ComplexVec = hn::Vec2<D32>;
HWY_INLINE ComplexVec Complex(V32 re, V32 im) {
  return hn::Create2(D32(), re, im);
}
HWY_INLINE V32 Re(ComplexVec x) { return hn::Get2<0>(x); }
HWY_INLINE V32 Im(ComplexVec x) { return hn::Get2<1>(x); }

HWY_INLINE ComplexVec LoadComplex(ComplexRows z, std::size_t k) {
  return Complex(hn::LoadU(D32(), z.re + k), hn::LoadU(D32(), z.im + k));
}
HWY_INLINE void StoreComplex(ComplexVec x, ComplexRows z, std::size_t k) {
  hn::StoreU(Re(x), D32(), z.re + k);
  hn::StoreU(Im(x), D32(), z.im + k);
}

// floor(x w / 2^16), w an int16.
HWY_INLINE V32 MulW(V32 x, V32 w) {
  const V32 low = hn::And(x, hn::Set(D32(), 0xFFFF));
  return hn::Add(hn::Mul(hn::ShiftRight<16>(x), w),
                 hn::ShiftRight<16>(hn::Mul(low, w)));
}

HWY_INLINE ComplexVec NegatedHalfProduct(ComplexVec x, V32 c, V32 s) {
  return Complex(hn::Add(MulW(Re(x), c), MulW(Im(x), s)),
                 hn::Sub(MulW(Im(x), c), MulW(Re(x), s)));
}

HWY_INLINE void Butterfly(ComplexVec a, ComplexVec b, V32 c, V32 s,
                          ComplexRows to, std::size_t top, std::size_t bottom) {
  const ComplexVec t = NegatedHalfProduct(b, c, s);
  const V32 re = hn::ShiftRight<1>(Re(a));
  const V32 im = hn::ShiftRight<1>(Im(a));
  StoreComplex(Complex(hn::Sub(re, Re(t)), hn::Sub(im, Im(t))), to, top);
  StoreComplex(Complex(hn::Add(re, Re(t)), hn::Add(im, Im(t))), to, bottom);
}

// Windowed samples in pairs: even ones real, odd ones imaginary.
inline void LoadWindowed(const LogMel& mel, const std::int16_t* pcm,
                         std::size_t points, ComplexRows z) {
  std::size_t n = 0;
  for (; 2 * n + 1 < mel.frame_length; ++n) {
    z.re[n] = pcm[2 * n] * mel.window[2 * n];
    z.im[n] = pcm[2 * n + 1] * mel.window[2 * n + 1];
  }
  if (2 * n < mel.frame_length) {
    z.re[n] = pcm[2 * n] * mel.window[2 * n];
    z.im[n] = 0;
    ++n;
  }
  for (; n < points; ++n) z.re[n] = z.im[n] = 0;
}

// The butterflies of logmel_ref.cc in another order (Stockham), which needs no
// bit reversal. `half` is the length of the transforms that are there, `rest`
// their number; the result is in the order of the frequencies, in `a` or `b`.
// Legal: points >= lanes^2.
inline ComplexRows Transform(std::size_t points, ComplexRows a, ComplexRows b) {
  const std::size_t lanes = hn::Lanes(D32());
  std::size_t half = 1;
  std::size_t rest = points;
  // [half, rest]: vectors run over the transforms.
  for (; rest / 2 >= lanes; half *= 2, rest /= 2) {
    for (std::size_t j = 0; j < half; ++j) {
      const V32 c = hn::Set(D32(), kStageTwiddles.c[half + j]);
      const V32 s = hn::Set(D32(), kStageTwiddles.s[half + j]);
      for (std::size_t q = 0; q < rest / 2; q += lanes) {
        const std::size_t from = j * rest + q;
        const std::size_t to = j * (rest / 2) + q;
        Butterfly(LoadComplex(a, from), LoadComplex(a, from + rest / 2), c, s,
                  b, to, to + points / 2);
      }
    }
    std::swap(a, b);
  }
  for (std::size_t j = 0; j < half; ++j) {
    for (std::size_t q = 0; q < rest; ++q) {
      b.re[q * half + j] = a.re[j * rest + q];
      b.im[q * half + j] = a.im[j * rest + q];
    }
  }
  std::swap(a, b);
  // [rest, half]: vectors run over the frequencies.
  for (; half < points; half *= 2, rest /= 2) {
    for (std::size_t q = 0; q < rest / 2; ++q) {
      for (std::size_t j = 0; j < half; j += lanes) {
        const V32 c = hn::LoadU(D32(), kStageTwiddles.c + half + j);
        const V32 s = hn::LoadU(D32(), kStageTwiddles.s + half + j);
        const std::size_t to = q * 2 * half + j;
        Butterfly(LoadComplex(a, q * half + j),
                  LoadComplex(a, (q + rest / 2) * half + j), c, s, b, to,
                  to + half);
      }
    }
    std::swap(a, b);
  }
  return a;
}

// Spectrum of the packed samples -> that of the real signal in `x`, bins
// 1..points - 1. Returns the bit length of the largest component.
inline unsigned Unpack(std::size_t points, ComplexRows z, ComplexRows x) {
  const std::size_t lanes = hn::Lanes(D32());
  V32 bits = hn::Zero(D32());
  const auto half = [](V32 v) HWY_ATTR { return hn::ShiftRight<1>(v); };
  for (std::size_t k = 1; k <= points / 2; k += lanes) {
    const std::size_t mirror = points - k - (lanes - 1);
    const ComplexVec a = LoadComplex(z, k);
    const ComplexVec b = LoadComplex(z, mirror);
    const V32 a_re = half(Re(a));
    const V32 a_im = half(Im(a));
    const V32 b_re = half(hn::Reverse(D32(), Re(b)));
    const V32 b_im = half(hn::Reverse(D32(), Im(b)));
    const ComplexVec t =
        NegatedHalfProduct(Complex(hn::Sub(a_re, b_re), hn::Add(a_im, b_im)),
                           hn::LoadU(D32(), kStageTwiddles.c + points + k),
                           hn::LoadU(D32(), kStageTwiddles.s + points + k));
    const V32 re = half(hn::Add(a_re, b_re));
    const V32 im = half(hn::Sub(a_im, b_im));
    const ComplexVec low = Complex(hn::Sub(re, Im(t)), hn::Add(im, Re(t)));
    const ComplexVec high = Complex(hn::Add(re, Im(t)), hn::Sub(Re(t), im));
    StoreComplex(
        Complex(hn::Reverse(D32(), Re(high)), hn::Reverse(D32(), Im(high))), x,
        mirror);
    StoreComplex(low, x, k);
    bits = hn::Or(bits, hn::Or(hn::Or(hn::Abs(Re(low)), hn::Abs(Im(low))),
                               hn::Or(hn::Abs(Re(high)), hn::Abs(Im(high)))));
  }
  HWY_ALIGN std::int32_t all[16];
  hn::Store(bits, D32(), all);
  for (std::size_t i = 1; i < lanes; ++i) all[0] |= all[i];
  return BitLength64(static_cast<std::uint32_t>(all[0]));
}

// |x|^2 >> shift of all bins, 32 bits each.
inline void Power(std::size_t points, ComplexRows x, unsigned shift,
                  std::uint32_t* power) {
  using DU64 = hn::RepartitionToWide<DU32>;
  const auto shifted = [&](auto re2, auto im2) HWY_ATTR {
    return hn::ShiftRightSame(hn::BitCast(DU64(), hn::Add(re2, im2)),
                              static_cast<int>(shift));
  };
  for (std::size_t k = 0; k < points; k += hn::Lanes(D32())) {
    const ComplexVec v = LoadComplex(x, k);
    const auto even =
        shifted(hn::MulEven(Re(v), Re(v)), hn::MulEven(Im(v), Im(v)));
    const auto odd =
        shifted(hn::MulOdd(Re(v), Re(v)), hn::MulOdd(Im(v), Im(v)));
    const auto both = hn::OddEven(hn::BitCast(DU32(), hn::ShiftLeft<32>(odd)),
                                  hn::BitCast(DU32(), even));
    hn::StoreU(both, DU32(), power + k);
  }
}

inline void LogMelS8(const LogMel& mel, const std::int16_t* pcm, std::int8_t* y,
                     void* scratch) noexcept {
  const std::size_t points = mel.fft_length / 2U;
  const std::size_t lanes = hn::Lanes(D32());
  if (points < lanes * lanes) return LogMelS8Ref(mel, pcm, y, scratch);
  std::int32_t* const memory = static_cast<std::int32_t*>(scratch);
  const ComplexRows first = {memory, memory + points};
  const ComplexRows second = {memory + 2 * points, memory + 3 * points};
  LoadWindowed(mel, pcm, points, first);
  const ComplexRows z = Transform(points, first, second);
  const ComplexRows x = z.re == first.re ? second : first;
  x.re[0] = x.im[0] = 0;
  const unsigned shift = PowerShift(Unpack(points, z, x));
  void* const power = z.re;
  Power(points, x, shift, static_cast<std::uint32_t*>(power));
  MelBinsS8(mel, static_cast<const std::uint32_t*>(power), shift, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace atto
HWY_AFTER_NAMESPACE();

#endif  // toggle
