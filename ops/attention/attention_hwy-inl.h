// Highway kernel of streaming attention. Contract: attention.h.
//
// Head by head: keys become panels (as weights of a matrix product, see
// matmul_hwy-inl.h), values are interleaved in quads of tokens, then groups of
// four query rows run scores, softmax and context. Weights of a group of tokens
// stay in the order that packing them to bytes gives (GroupOrder); values are
// interleaved in the same order.
//
// Scores: with VNNI or SDOT by bytes (x86: queries + 128, corrected by -128
// sum(k)); otherwise by pairs of 16-bit numbers, because nothing bounds pairs
// of keys. Context: weights are at most 127, so bytes are exact everywhere.
#if defined(ATTO_OPS_ATTENTION_ATTENTION_HWY_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef ATTO_OPS_ATTENTION_ATTENTION_HWY_INL_H_
#undef ATTO_OPS_ATTENTION_ATTENTION_HWY_INL_H_
#else
#define ATTO_OPS_ATTENTION_ATTENTION_HWY_INL_H_
#endif

#include "ops/attention/attention.h"
#include "ops/backend_memory.h"
#include "ops/base/fixed_point.h"
#include "ops/simd/product-inl.h"
#include "ops/softmax/softmax_hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace atto {
namespace HWY_NAMESPACE {

#if ATTO_X86_WITHOUT_VNNI
using KeyElement = std::int16_t;
using KeyStep = PairStep;
#else
using KeyElement = std::int8_t;
using KeyStep = QuadStep;
#endif
constexpr std::uint8_t kQueryBias =
    HWY_ARCH_X86 && !ATTO_X86_WITHOUT_VNNI ? 0x80 : 0;
constexpr std::size_t kKeysPerStep = 4 / sizeof(KeyElement);

// Where things lie in the scratch; every part is aligned to
// kPackAlignment.
struct AttentionLayout {
  std::size_t panel;    // columns of a panel: two vectors
  std::size_t tokens;   // rounded up to panels
  std::size_t grouped;  // rounded down to groups of GroupOrder
  std::size_t token_quads;
  std::size_t steps;  // of a score: ceil(d_head / kKeysPerStep)
  std::size_t width;  // d_head rounded up to vectors
  std::size_t keys, key_sums, values, queries, scores, weights;

  AttentionLayout(std::size_t n, std::size_t d_head)
      : panel(2 * hn::Lanes(D32())),
        tokens(RoundUpTo(n, panel)),
        grouped(n / GroupTokens() * GroupTokens()),
        token_quads((n + 3) / 4),
        steps((d_head + kKeysPerStep - 1) / kKeysPerStep),
        width(RoundUpTo(d_head, hn::Lanes(D32()))) {
    std::size_t at = 0;
    const auto take = [&at](std::size_t bytes) {
      const std::size_t start = at;
      at += RoundUpTo(bytes, kPackAlignment);
      return start;
    };
    keys = take(tokens * steps * 4);
    key_sums = take(tokens * sizeof(std::int32_t));
    values = take(token_quads * width * 4);
    queries = take(4 * steps * 4);
    scores = take(4 * tokens * sizeof(std::int32_t));
    weights = take(4 * tokens);
  }
};

// d_head int8 -> whole steps of KeyElement, zero-padded; queries get the bias.
HWY_INLINE void WidenHead(const std::int8_t* head, std::size_t d_head,
                          std::uint8_t bias, const AttentionLayout& layout,
                          std::uint8_t* to) {
  const std::size_t padded = layout.steps * kKeysPerStep;
#if ATTO_X86_WITHOUT_VNNI
  (void)bias;
  auto* const wide = reinterpret_cast<std::int16_t*>(to);
  ForEach16(d_head, [&](std::size_t c, std::size_t count) HWY_ATTR {
    StoreSome16(LoadSome8(head + c, count), wide + c, count);
  });
  if (padded != d_head) wide[d_head] = 0;
#else
  const hn::CappedTag<std::int8_t, 16> d;
  const auto flip = hn::Set(d, static_cast<std::int8_t>(bias));
  const std::size_t lanes = hn::Lanes(d);
  auto* const bytes = reinterpret_cast<std::int8_t*>(to);
  std::size_t c = 0;
  for (; c + lanes <= d_head; c += lanes) {
    hn::StoreU(hn::Xor(hn::LoadU(d, head + c), flip), d, bytes + c);
  }
  for (; c < padded; ++c) {
    const std::int8_t value = c < d_head ? head[c] : std::int8_t{0};
    to[c] = static_cast<std::uint8_t>(value) ^ bias;
  }
#endif
}

// Stands for the rows of tokens that only pad.
alignas(64) constexpr std::int8_t kNoToken[512] = {};

// Four steps of a key: 16 bytes of KeyElement. The last ones may lack some of
// their elements, which are zero then.
HWY_INLINE hn::Vec<hn::Full128<std::int32_t>> LoadFourSteps(
    const std::int8_t* from, std::size_t left) {
  const hn::Full128<KeyElement> d;
  const hn::Rebind<std::int8_t, decltype(d)> d8;
  const auto bytes =
      left >= hn::Lanes(d8) ? hn::LoadU(d8, from) : hn::LoadN(d8, from, left);
#if ATTO_X86_WITHOUT_VNNI
  return hn::BitCast(hn::Full128<std::int32_t>(), hn::PromoteTo(d, bytes));
#else
  return hn::BitCast(hn::Full128<std::int32_t>(), bytes);
#endif
}

// Columns `first`.. of k [n, d] -> panels [tokens / panel][steps][panel][4 B].
HWY_INLINE void PackKeys(MatrixView<const std::int8_t> k, std::size_t first,
                         std::size_t d_head, const AttentionLayout& layout,
                         std::uint8_t* base) {
  const hn::Full128<std::int32_t> d32;
  const hn::Full128<std::int64_t> d64;
  std::uint8_t* const keys = base + layout.keys;
  const std::size_t step_bytes = 4 * layout.panel;
  const std::size_t panel_bytes = layout.steps * step_bytes;
  for (std::size_t j = 0; j < layout.tokens; j += 4) {
    const std::int8_t* rows[4];
    for (std::size_t i = 0; i < 4; ++i) {
      rows[i] = j + i < k.rows() ? k.row(j + i) + first : kNoToken;
    }
    std::uint8_t* const to =
        keys + j / layout.panel * panel_bytes + j % layout.panel * 4;
    for (std::size_t s = 0; s < layout.steps; s += 4) {
      const std::size_t c = s * kKeysPerStep;
      const auto r0 = LoadFourSteps(rows[0] + c, d_head - c);
      const auto r1 = LoadFourSteps(rows[1] + c, d_head - c);
      const auto r2 = LoadFourSteps(rows[2] + c, d_head - c);
      const auto r3 = LoadFourSteps(rows[3] + c, d_head - c);
      const auto lo01 = hn::BitCast(d64, hn::InterleaveLower(d32, r0, r1));
      const auto hi01 = hn::BitCast(d64, hn::InterleaveUpper(d32, r0, r1));
      const auto lo23 = hn::BitCast(d64, hn::InterleaveLower(d32, r2, r3));
      const auto hi23 = hn::BitCast(d64, hn::InterleaveUpper(d32, r2, r3));
      const auto store = [&](std::size_t step, hn::Vec<decltype(d64)> four_keys)
                             ATTO_INLINE_LAMBDA {
                               if (s + step >= layout.steps) return;
                               hn::Store(four_keys, d64,
                                         reinterpret_cast<std::int64_t*>(
                                             to + (s + step) * step_bytes));
                             };
      store(0, hn::InterleaveLower(d64, lo01, lo23));
      store(1, hn::InterleaveUpper(d64, lo01, lo23));
      store(2, hn::InterleaveLower(d64, hi01, hi23));
      store(3, hn::InterleaveUpper(d64, hi01, hi23));
    }
  }
  // The scores start from what the bias of the queries adds to them; keys that
  // only pad a panel start so low that they are never a row's maximum.
  auto* const sums = reinterpret_cast<std::int32_t*>(base + layout.key_sums);
  const std::size_t lanes = hn::Lanes(D32());
  for (std::size_t j = 0; j < layout.tokens; j += lanes) {
    V32 sum = hn::Zero(D32());
    if (kQueryBias != 0) {
      const std::int8_t* from = reinterpret_cast<const std::int8_t*>(
          keys + j / layout.panel * panel_bytes + j % layout.panel * 4);
      const std::uint32_t ones = 0x01010101;
      for (std::size_t s = 0; s < layout.steps; ++s, from += step_bytes) {
        sum = DotQuad(sum, BroadcastQuad(&ones), hn::Load(D8(), from));
      }
      sum = hn::Neg(hn::Mul(sum, hn::Set(D32(), kQueryBias)));
    }
    hn::Store(sum, D32(), sums + j);
  }
  for (std::size_t j = k.rows(); j < layout.tokens; ++j) sums[j] = -(1 << 30);
}

// Columns `first`.. of v [n, d] -> [token_quads][width][4 tokens], tokens in
// the order of the weights.
HWY_INLINE void PackValues(MatrixView<const std::int8_t> v, std::size_t first,
                           std::size_t d_head, const AttentionLayout& layout,
                           std::uint8_t* base) {
  const hn::Full128<std::int8_t> d8;
  const hn::Full128<std::int16_t> d16;
  HWY_ALIGN std::int8_t order[4 * 16];
  GroupOrder(order);
  const std::size_t group = GroupTokens();
  for (std::size_t q = 0; q < layout.token_quads; ++q) {
    auto* const to = reinterpret_cast<std::int8_t*>(base + layout.values) +
                     q * layout.width * 4;
    const std::int8_t* rows[4];
    for (std::size_t i = 0; i < 4; ++i) {
      std::size_t token = 4 * q + i;
      if (token < layout.grouped) {
        token += static_cast<std::size_t>(order[token % group]) - token % group;
      }
      rows[i] = token < v.rows() ? v.row(token) + first : kNoToken;
    }
    std::size_t c = 0;
    for (; c + 16 <= d_head; c += 16) {
      const auto r0 = hn::LoadU(d8, rows[0] + c);
      const auto r1 = hn::LoadU(d8, rows[1] + c);
      const auto r2 = hn::LoadU(d8, rows[2] + c);
      const auto r3 = hn::LoadU(d8, rows[3] + c);
      const auto lo01 = hn::BitCast(d16, hn::InterleaveLower(d8, r0, r1));
      const auto hi01 = hn::BitCast(d16, hn::InterleaveUpper(d8, r0, r1));
      const auto lo23 = hn::BitCast(d16, hn::InterleaveLower(d8, r2, r3));
      const auto hi23 = hn::BitCast(d16, hn::InterleaveUpper(d8, r2, r3));
      auto* const quads = reinterpret_cast<std::int16_t*>(to + 4 * c);
      hn::StoreU(hn::InterleaveLower(d16, lo01, lo23), d16, quads);
      hn::StoreU(hn::InterleaveUpper(d16, lo01, lo23), d16, quads + 8);
      hn::StoreU(hn::InterleaveLower(d16, hi01, hi23), d16, quads + 16);
      hn::StoreU(hn::InterleaveUpper(d16, hi01, hi23), d16, quads + 24);
    }
    for (; c < layout.width; ++c) {
      for (std::size_t i = 0; i < 4; ++i) {
        to[4 * c + i] = c < d_head ? rows[i][c] : std::int8_t{0};
      }
    }
  }
}

// What turns sums of weighted values into their mean: weighted_mean8 of the
// definition with k = 16 - bitlen(sum), which is 0..9 here:
// ((a << k) + 2^8) >> 9 = (a + half) >> right.
struct RowMean {
  std::int32_t half;  // 2^(8 - k), or 0 for k = 9
  int right;          // 9 - k
  std::int16_t inverse;

  RowMean() = default;
  explicit RowMean(std::int32_t sum) {
    const MeanReciprocal reciprocal =
        MakeMeanReciprocal(static_cast<std::uint32_t>(sum));
    right = 9 - static_cast<int>(reciprocal.left_shift);
    half = (1 << right) >> 1;
    inverse = static_cast<std::int16_t>(reciprocal.inverse);
  }
};

// Sums of values [token_quads][width][4] weighted by kRows rows of weights, for
// two vectors of columns, or for one when there are no more.
template <std::size_t kRows, bool kTwo, class Sink>
HWY_INLINE void Context(const AttentionLayout& layout,
                        const std::int8_t* weights, const std::int8_t* values,
                        const Sink& sink) {
  const std::size_t vector = hn::Lanes(D8());
  const V32 zero = hn::Zero(D32());
  V32 a00 = zero, a01 = zero, a10 = zero, a11 = zero;
  V32 a20 = zero, a21 = zero, a30 = zero, a31 = zero;
  const auto row_step = [](V32& acc0, V32& acc1, const std::int8_t* e, V8 v0,
                           V8 v1) ATTO_INLINE_LAMBDA {
    const VLeft quad = BroadcastQuad(e);
    acc0 = DotQuad(acc0, quad, v0);
    if constexpr (kTwo) acc1 = DotQuad(acc1, quad, v1);
    KeepOrder(acc0, acc1);
  };
  const std::int8_t* const e1 = weights + (kRows > 1 ? layout.tokens : 0);
  const std::int8_t* const e2 = e1 + (kRows > 2 ? layout.tokens : 0);
  const std::int8_t* const e3 = e2 + (kRows > 2 ? layout.tokens : 0);
  for (std::size_t j = 0; j < 4 * layout.token_quads; j += 4) {
    const V8 v0 = hn::Load(D8(), values);
    const V8 v1 = kTwo ? hn::Load(D8(), values + vector) : v0;
    values += 4 * layout.width;
    row_step(a00, a01, weights + j, v0, v1);
    if constexpr (kRows > 1) row_step(a10, a11, e1 + j, v0, v1);
    if constexpr (kRows > 2) {
      row_step(a20, a21, e2 + j, v0, v1);
      row_step(a30, a31, e3 + j, v0, v1);
    }
  }
  sink(0, a00, a01);
  if constexpr (kRows > 1) sink(1, a10, a11);
  if constexpr (kRows > 2) {
    sink(2, a20, a21);
    sink(3, a30, a31);
  }
}

// Scores of kRows queries, and vectors that hold the maximum of each row in
// some lane. kSteps: see RowsTimesPanel.
template <std::size_t kRows, std::size_t kSteps>
HWY_INLINE void ScoreRows(const AttentionLayout& layout, std::uint8_t* base,
                          V32& high0, V32& high1, V32& high2, V32& high3) {
  const D32 d32;
  const std::size_t lanes = hn::Lanes(d32);
  // Copies, so that storing scores does not make the compiler load them again.
  const std::size_t stride = layout.tokens;
  const std::size_t panel = layout.panel;
  const std::size_t steps = kSteps != 0 ? kSteps : layout.steps;
  const LeftRows queries{base + layout.queries, steps * 4};
  auto* scores = reinterpret_cast<std::int32_t*>(base + layout.scores);
  const auto* keys = reinterpret_cast<const std::int8_t*>(base + layout.keys);
  const auto* sums =
      reinterpret_cast<const std::int32_t*>(base + layout.key_sums);
  high0 = high1 = high2 = high3 = hn::Set(d32, -(1 << 30));
  for (std::size_t j = 0; j < stride; j += panel) {
    RowsTimesPanel<kRows, KeyStep, kSteps>(
        queries, keys, steps, {}, hn::Load(d32, sums),
        hn::Load(d32, sums + lanes),
        [&](std::size_t row, V32 acc0, V32 acc1) ATTO_INLINE_LAMBDA {
          V32& high = row == 0
                          ? high0
                          : (row == 1 ? high1 : (row == 2 ? high2 : high3));
          high = hn::Max(high, hn::Max(acc0, acc1));
          hn::Store(acc0, d32, scores + row * stride);
          hn::Store(acc1, d32, scores + row * stride + lanes);
        });
    scores += panel;
    keys += panel * steps * 4;
    sums += panel;
  }
}

template <std::size_t kRows>
HWY_INLINE void AttendRows(const Attention& attention,
                           const AttentionLayout& layout, std::size_t tokens,
                           std::uint8_t* base, MatrixView<std::int8_t> y,
                           std::size_t first) {
  const D32 d32;
  const std::size_t lanes = hn::Lanes(d32);
  const auto* const scores =
      reinterpret_cast<const std::int32_t*>(base + layout.scores);
  auto* const weights = reinterpret_cast<std::int8_t*>(base + layout.weights);
  V32 high0, high1, high2, high3;
  // Heads of 16, the commonest.
  constexpr std::size_t kSteps = 16 / kKeysPerStep;
  if (layout.steps == kSteps) {
    ScoreRows<kRows, kSteps>(layout, base, high0, high1, high2, high3);
  } else {
    ScoreRows<kRows, 0>(layout, base, high0, high1, high2, high3);
  }
  std::int32_t weight_sums[kRows];
  SoftmaxRows<(kRows > 1 ? 2 : 1)>(attention.softmax, scores, layout.tokens,
                                   layout.grouped, tokens, high0, high1,
                                   weights, weight_sums);
  if constexpr (kRows > 2) {
    SoftmaxRows<2>(attention.softmax, scores + 2 * layout.tokens, layout.tokens,
                   layout.grouped, tokens, high2, high3,
                   weights + 2 * layout.tokens, weight_sums + 2);
  }
  RowMean means[kRows];
  for (std::size_t i = 0; i < kRows; ++i) means[i] = RowMean(weight_sums[i]);
  for (std::size_t c = 0; c < attention.d_head; c += layout.panel) {
    const std::size_t left = attention.d_head - c;
    const std::size_t count = left < layout.panel ? left : layout.panel;
    const std::int8_t* const values =
        reinterpret_cast<const std::int8_t*>(base + layout.values) + 4 * c;
    const auto finish = [&](std::size_t row, V32 lo,
                            V32 hi) ATTO_INLINE_LAMBDA {
      const RowMean& mean = means[row];
      const V32 half = hn::Set(d32, mean.half);
      const ShiftCount right = MakeShift(mean.right);
      const V16 scaled =
          hn::OrderedDemote2To(D16(), ShiftRightBy(hn::Add(lo, half), right),
                               ShiftRightBy(hn::Add(hi, half), right));
      // A mean of values within 127 stays there: |u| <= 127 * 64 + 1, so that
      // nothing saturates and nothing needs a clamp.
      const V16 u = hn::MulFixedPoint15(scaled, hn::Set(D16(), mean.inverse));
      const V16 mean8 =
          hn::ShiftRight<6>(hn::Add(u, hn::Set(D16(), std::int16_t{32})));
      StoreSome8(mean8, y.row(row) + first + c, count);
    };
    if (count > lanes) {
      Context<kRows, true>(layout, weights, values, finish);
    } else {
      Context<kRows, false>(layout, weights, values, finish);
    }
  }
}

// Weights of kRows rows of a head, in natural order, into the tap.
template <std::size_t kRows>
HWY_INLINE void TapRows(const AttentionLayout& layout, std::size_t tokens,
                        const std::int8_t* weights, std::size_t tap_stride,
                        std::int8_t* tap) {
  HWY_ALIGN std::int8_t order[4 * 16];
  GroupOrder(order);
  const std::size_t group = GroupTokens();
  for (std::size_t i = 0; i < kRows; ++i) {
    const std::int8_t* const from = weights + i * layout.tokens;
    std::int8_t* const to = tap + i * tap_stride;
    for (std::size_t j = 0; j < layout.grouped; ++j) {
      to[j - j % group + static_cast<std::size_t>(order[j % group])] = from[j];
    }
    std::memcpy(to + layout.grouped, from + layout.grouped,
                tokens - layout.grouped);
  }
}

inline void AttentionS8(const Attention& attention,
                        MatrixView<const std::int8_t> q,
                        MatrixView<const std::int8_t> k,
                        MatrixView<const std::int8_t> v,
                        MatrixView<std::int8_t> y, void* scratch,
                        std::int8_t* tap) noexcept {
  const std::size_t tokens = k.rows();
  const AttentionLayout layout(tokens, attention.d_head);
  std::uint8_t* const base = AlignPack(static_cast<std::uint8_t*>(scratch));
  for (std::size_t head = 0; head < attention.heads; ++head) {
    const std::size_t first = head * attention.d_head;
    PackKeys(k, first, attention.d_head, layout, base);
    PackValues(v, first, attention.d_head, layout, base);
    ForRowGroups(q.rows(), [&](auto group, std::size_t row) HWY_ATTR {
      constexpr std::size_t kRows = decltype(group)::value;
      for (std::size_t i = 0; i < kRows; ++i) {
        WidenHead(q.row(row + i) + first, attention.d_head, kQueryBias, layout,
                  base + layout.queries + i * layout.steps * 4);
      }
      AttendRows<kRows>(attention, layout, tokens, base,
                        y.row_range(row, kRows), first);
      if (tap == nullptr) return;
      TapRows<kRows>(
          layout, tokens,
          reinterpret_cast<const std::int8_t*>(base + layout.weights),
          attention.heads * tokens,
          tap + (row * attention.heads + head) * tokens);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace atto
HWY_AFTER_NAMESPACE();

#endif  // toggle
