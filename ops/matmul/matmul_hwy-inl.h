// Highway kernels of the int8 matrix product. Contract: matmul.h.
//
// Weights are packed once into panels of P channels: quads of four inputs, so
// that one broadcast of four activations meets P channels in one instruction
// (vpdpbusd, sdot) or three (vpmaddubsw, vpmaddwd, vpaddd).
//
// x86 multiplies unsigned by signed bytes: activations get 128 added and the
// packed bias loses 128 sum(w). Without VNNI, vpmaddubsw saturates pairs at 16
// bits; 255 (|w0| + |w1|) < 2^15 holds whenever |w0| + |w1| <= 128. Packing
// proves that pair by pair: a quad that breaks it is split into two halves
// whose sum it is, the second one appended to the panel with the index of its
// activations. A panel with too many such quads is marked for the kernel that
// multiplies |x| by sign(x) w, which is exact for all weights.
#if defined(ATTO_OPS_MATMUL_MATMUL_HWY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTO_OPS_MATMUL_MATMUL_HWY_INL_H_
#undef ATTO_OPS_MATMUL_MATMUL_HWY_INL_H_
#else
#define ATTO_OPS_MATMUL_MATMUL_HWY_INL_H_
#endif

#include "ops/backend_memory.h"
#include "ops/matmul/matmul.h"
#include "ops/simd/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace atto {
namespace HWY_NAMESPACE {

// Added to int8 activations so that they are unsigned; see above.
constexpr std::uint8_t kActivationBias = HWY_ARCH_X86 ? 0x80 : 0;

HWY_INLINE std::size_t PanelChannels() { return 2 * hn::Lanes(D32()); }

// One panel in memory, everything aligned to 64 bytes but the indices.
struct PanelLayout {
  std::size_t channels;    // P
  std::size_t quads;       // ceil(in / 4)
  std::size_t max_splits;  // appended halves at most

  explicit PanelLayout(const Linear& linear)
      : channels(PanelChannels()),
        quads((linear.in + 3U) / 4),
        max_splits(ATTO_X86_WITHOUT_VNNI ? MaxSplitQuads(quads) : 0) {}

  std::size_t WeightBytes() const {
    return 4 * channels * (quads + max_splits);
  }
  std::size_t Bytes() const {
    // weights, bias, multipliers, split count or kExact, split indices
    const std::size_t bytes =
        WeightBytes() + 4 * channels + 2 * channels + 2 * (1 + max_splits);
    return RoundUpTo(bytes, kPackAlignment);
  }
  std::size_t Panels(std::size_t out) const {
    return (out + channels - 1) / channels;
  }
};

constexpr std::uint16_t kExact = 0xFFFF;  // split count of a |x| sign(x) panel

struct Panel {
  std::int8_t* weights;      // [quads + splits][P][4]
  std::int32_t* bias;        // [P], in accumulator order
  std::int16_t* multiplier;  // [P]
  std::uint16_t* splits;     // count or kExact, then quad indices

  Panel(const PanelLayout& layout, const std::uint8_t* packed, std::size_t i) {
    std::uint8_t* p = const_cast<std::uint8_t*>(packed) + i * layout.Bytes();
    weights = reinterpret_cast<std::int8_t*>(p);
    p += layout.WeightBytes();
    bias = reinterpret_cast<std::int32_t*>(p);
    p += 4 * layout.channels;
    multiplier = reinterpret_cast<std::int16_t*>(p);
    p += 2 * layout.channels;
    splits = reinterpret_cast<std::uint16_t*>(p);
  }
};

// order[i]: channel of accumulator lane i (over both vectors) such that
// ReorderDemote2To puts channel j into lane j.
HWY_INLINE void ChannelOrder(std::uint16_t* order) {
  const std::size_t n = hn::Lanes(D32());
  HWY_ALIGN std::int16_t source[2 * 16];
  const V32 lo = hn::Iota(D32(), 0);
  const V32 hi = hn::Iota(D32(), static_cast<std::int32_t>(n));
  hn::Store(hn::ReorderDemote2To(D16(), lo, hi), D16(), source);
  for (std::size_t i = 0; i < 2 * n; ++i) {
    order[source[i]] = static_cast<std::uint16_t>(i);
  }
}

HWY_INLINE bool PairSaturates(int w0, int w1) {
  return (w0 < 0 ? -w0 : w0) + (w1 < 0 ? -w1 : w1) > 128;
}

inline std::size_t PackLinear(const Linear& linear, std::uint8_t* memory) {
  const PanelLayout layout(linear);
  const std::size_t bytes = layout.Bytes() * layout.Panels(linear.out);
  const std::size_t p_count = layout.channels;
  std::uint16_t order[2 * 16];
  ChannelOrder(order);
  std::memset(memory, 0, bytes);
  for (std::size_t i = 0; i < layout.Panels(linear.out); ++i) {
    const Panel panel(layout, memory, i);
    for (std::size_t lane = 0; lane < p_count; ++lane) {
      const std::size_t channel = i * p_count + order[lane];
      if (channel >= linear.out) continue;
      const std::int8_t* const row = linear.weights + channel * linear.in;
      std::int32_t sum = 0;
      for (std::size_t k = 0; k < linear.in; ++k) {
        panel.weights[(k / 4 * p_count + lane) * 4 + k % 4] = row[k];
        sum += row[k];
      }
      panel.bias[lane] = linear.bias[channel] - kActivationBias * sum;
    }
    for (std::size_t j = 0; j < p_count; ++j) {
      const std::size_t channel = i * p_count + j;
      panel.multiplier[j] =
          channel < linear.out ? linear.multiplier[channel] : std::int16_t{0};
    }
    std::uint16_t split_count = 0;
#if ATTO_X86_WITHOUT_VNNI
    for (std::size_t q = 0; q < layout.quads; ++q) {
      const std::int8_t* const quad = panel.weights + q * p_count * 4;
      bool saturates = false;
      for (std::size_t b = 0; b < 4 * p_count; b += 2) {
        saturates |= PairSaturates(quad[b], quad[b + 1]);
      }
      if (!saturates) continue;
      if (split_count == layout.max_splits) {
        split_count = kExact;
        break;
      }
      panel.splits[1 + split_count++] = static_cast<std::uint16_t>(q);
    }
    if (split_count != kExact) {
      for (std::size_t s = 0; s < split_count; ++s) {
        std::int8_t* const quad =
            panel.weights + panel.splits[1 + s] * p_count * 4;
        std::int8_t* const rest =
            panel.weights + (layout.quads + s) * p_count * 4;
        for (std::size_t b = 0; b < 4 * p_count; ++b) {
          rest[b] = static_cast<std::int8_t>(quad[b] / 2);
          quad[b] = static_cast<std::int8_t>(quad[b] - rest[b]);
        }
      }
    } else {
      // |x| sign(x) w needs the bias as it is.
      for (std::size_t lane = 0; lane < p_count; ++lane) {
        const std::size_t channel = i * p_count + order[lane];
        if (channel < linear.out) panel.bias[lane] = linear.bias[channel];
      }
    }
#endif
    panel.splits[0] = split_count;
  }
  return bytes;
}

// What becomes of 16-bit results: one functor a public op. `count` channels
// are valid.
struct StoreS8 {
  MatrixView<std::int8_t> y;
  HWY_INLINE void operator()(V16 u, std::size_t row, std::size_t channel,
                             std::size_t count) const {
    StoreSome8(hn::Max(u, hn::Set(D16(), -127)), y.row(row) + channel, count);
  }
};

struct StoreS16 {
  MatrixView<std::int16_t> y;
  HWY_INLINE void operator()(V16 u, std::size_t row, std::size_t channel,
                             std::size_t count) const {
    std::int16_t* const to = y.row(row) + channel;
    if (HWY_LIKELY(count == hn::Lanes(D16()))) {
      hn::StoreU(u, D16(), to);
    } else {
      hn::StoreN(u, D16(), to, count);
    }
  }
};

struct AddS16Store {
  MatrixView<std::int16_t> r;
  HWY_INLINE void operator()(V16 u, std::size_t row, std::size_t channel,
                             std::size_t count) const {
    std::int16_t* const to = r.row(row) + channel;
    if (HWY_LIKELY(count == hn::Lanes(D16()))) {
      hn::StoreU(hn::SaturatedAdd(u, hn::LoadU(D16(), to)), D16(), to);
    } else {
      hn::StoreN(hn::SaturatedAdd(u, hn::LoadN(D16(), to, count)), D16(), to,
                 count);
    }
  }
};

template <class Store>
HWY_INLINE void Finish(V32 acc0, V32 acc1, ShiftCount shift, V16 multiplier,
                       const Store& store, std::size_t row, std::size_t channel,
                       std::size_t count) {
  const V16 t = hn::ReorderDemote2To(D16(), ShiftRightBy(acc0, shift),
                                     ShiftRightBy(acc1, shift));
  store(hn::MulFixedPoint15(t, multiplier), row, channel, count);
}

#if ATTO_X86_WITHOUT_VNNI
// One row times a panel whose weights may saturate vpmaddubsw: |x| sign(x) w.
template <class Store>
HWY_INLINE void RowTimesExactPanel(const PanelLayout& layout,
                                   const Panel& panel, ShiftCount shift,
                                   const std::uint8_t* x, const Store& store,
                                   std::size_t row, std::size_t channel,
                                   std::size_t count) {
  const std::size_t n = hn::Lanes(D32());
  V32 acc0 = hn::Load(D32(), panel.bias);
  V32 acc1 = hn::Load(D32(), panel.bias + n);
  const std::int8_t* w = panel.weights;
  const V8 flip = hn::Set(D8(), static_cast<std::int8_t>(-128));
  for (std::size_t k = 0; k < 4 * layout.quads; k += 4) {
    const V8 v = hn::Xor(hn::BitCast(D8(), BroadcastQuad(x + k)), flip);
    const hn::Vec<DU8> magnitude = hn::BitCast(DU8(), hn::Abs(v));
    const V8 w0 = hn::Load(D8(), w);
    const V8 w1 = hn::Load(D8(), w + 4 * n);
    w += 8 * n;
    // A zero in v makes the product zero whatever the sign operation gives.
    acc0 = DotQuad(acc0, magnitude, hn::IfNegativeThenNegOrUndefIfZero(v, w0));
    acc1 = DotQuad(acc1, magnitude, hn::IfNegativeThenNegOrUndefIfZero(v, w1));
  }
  Finish(acc0, acc1, shift, hn::Load(D16(), panel.multiplier), store, row,
         channel, count);
}
#endif

// Copies rows with the activation bias and zero padding to whole quads.
HWY_INLINE void PrepareRows(MatrixView<const std::int8_t> x, std::size_t first,
                            std::size_t rows, std::size_t stride,
                            std::uint8_t* to) {
  const V8 bias = hn::Set(D8(), static_cast<std::int8_t>(kActivationBias));
  const std::size_t n = hn::Lanes(D8());
  const std::size_t in = x.cols();
  for (std::size_t r = 0; r < rows; ++r) {
    const std::int8_t* const from = x.row(first + r);
    std::int8_t* const row = reinterpret_cast<std::int8_t*>(to) + r * stride;
    std::size_t k = 0;
    for (; k + n <= in; k += n) {
      hn::StoreU(hn::Xor(hn::LoadU(D8(), from + k), bias), D8(), row + k);
    }
    if (k < in) {
      // The stride is a multiple of the vector, so that the tail may be whole.
      hn::StoreU(hn::Xor(hn::LoadN(D8(), from + k, in - k), bias), D8(),
                 row + k);
    }
  }
}

template <class Store>
HWY_INLINE void Matmul(const Linear& linear, MatrixView<const std::int8_t> x,
                       const Store& store) {
  constexpr std::size_t kScratch = 32768;
  HWY_ALIGN std::uint8_t scratch[kScratch];
  const PanelLayout layout(linear);
  const std::size_t vector = hn::Lanes(D8());
  const std::size_t stride = (linear.in + vector - 1) / vector * vector;
  const std::size_t chunk = kScratch / stride / 4 * 4;
  const std::size_t panels = layout.Panels(linear.out);
  const ShiftCount shift = MakeShift(linear.shift);
  for (std::size_t first = 0; first < x.rows(); first += chunk) {
    const std::size_t left = x.rows() - first;
    const std::size_t rows = left < chunk ? left : chunk;
    PrepareRows(x, first, rows, stride, scratch);
    for (std::size_t p = 0; p < panels; ++p) {
      const Panel panel(layout, linear.packed, p);
      const std::size_t channel = p * layout.channels;
      const std::size_t rest = linear.out - channel;
      const std::size_t count = rest < layout.channels ? rest : layout.channels;
#if ATTO_X86_WITHOUT_VNNI
      if (panel.splits[0] == kExact) {
        for (std::size_t r = 0; r < rows; ++r) {
          RowTimesExactPanel(layout, panel, shift, scratch + r * stride, store,
                             first + r, channel, count);
        }
        continue;
      }
#endif
      const Span<const std::uint16_t> splits(panel.splits + 1, panel.splits[0]);
      const V32 bias0 = hn::Load(D32(), panel.bias);
      const V32 bias1 = hn::Load(D32(), panel.bias + hn::Lanes(D32()));
      const V16 multiplier = hn::Load(D16(), panel.multiplier);
      ForRowGroups(rows, [&](auto group, std::size_t r) HWY_ATTR {
        RowsTimesPanel<decltype(group)::value, QuadStep>(
            LeftRows{scratch + r * stride, stride}, panel.weights, layout.quads,
            splits, bias0, bias1,
            [&](std::size_t i, V32 acc0, V32 acc1) ATTO_INLINE_LAMBDA {
              Finish(acc0, acc1, shift, multiplier, store, first + r + i,
                     channel, count);
            });
      });
    }
  }
}

inline void MatmulS8(const Linear& linear, MatrixView<const std::int8_t> x,
                     MatrixView<std::int8_t> y) noexcept {
  Matmul(linear, x, StoreS8{y});
}

inline void MatmulS16(const Linear& linear, MatrixView<const std::int8_t> x,
                      MatrixView<std::int16_t> y) noexcept {
  Matmul(linear, x, StoreS16{y});
}

inline void MatmulAddS16(const Linear& linear, MatrixView<const std::int8_t> x,
                         MatrixView<std::int16_t> r) noexcept {
  Matmul(linear, x, AddS16Store{r});
}

}  // namespace HWY_NAMESPACE
}  // namespace atto
HWY_AFTER_NAMESPACE();

#endif  // toggle
