#include "ops/dsp/word.h"
#include "ops/layernorm/layernorm.h"

namespace atto {
namespace {

// The standardised row z = rdh16(c, reciprocal), of which c is kept: two 16-bit
// numbers a word, the last one alone when d is odd.
struct Row {
  std::uint32_t centred[LayerNorm::kMaxSize / 2];
  std::int32_t reciprocal;  // R; 0 for a constant row, which makes z 0
};

std::int32_t Low(std::uint32_t pair) noexcept {
  return static_cast<std::int16_t>(pair);
}
std::int32_t High(std::uint32_t pair) noexcept {
  return static_cast<std::int32_t>(pair) >> 16;
}

struct Extremes {
  std::int32_t sum;
  std::int32_t min;
  std::int32_t max;
};

Extremes FindExtremes(const std::int16_t* x, std::size_t d) noexcept {
  std::uint32_t min = dsp::LoadWord(x);
  std::uint32_t max = min;
  std::int32_t sum = 0;
  const std::int16_t* const end = x + d / 2 * 2;
  for (; x != end; x += 2) {
    const std::uint32_t pair = dsp::LoadWord(x);
    sum = dsp::MultiplyPairs(pair, 0x00010001, sum);
    min = dsp::SmallerHalves(min, pair);
    max = dsp::LargerHalves(max, pair);
  }
  Extremes extremes = {sum, Low(min), Low(max)};
  if (High(min) < extremes.min) extremes.min = High(min);
  if (High(max) > extremes.max) extremes.max = High(max);
  if (d % 2 != 0) {
    extremes.sum += *end;
    if (*end < extremes.min) extremes.min = *end;
    if (*end > extremes.max) extremes.max = *end;
  }
  return extremes;
}

void Standardise(const LayerNorm& norm, const std::int16_t* x,
                 Row* row) noexcept {
  const std::int32_t d = norm.d;
  const Extremes extremes = FindExtremes(x, norm.d);
  const std::int32_t above = d * extremes.max - extremes.sum;
  const std::int32_t below = extremes.sum - d * extremes.min;
  const std::int32_t extreme = above > below ? above : below;
  row->reciprocal = 0;
  std::uint32_t scale = 0;
  std::uint32_t offset = 0;
  if (extreme != 0) {
    // 31 - bitlen(extreme)
    const int up = __builtin_clz(static_cast<std::uint32_t>(extreme)) - 1;
    scale = static_cast<std::uint32_t>(d) << up;
    offset = 0U - (static_cast<std::uint32_t>(extremes.sum) << up);
  }
  // x scale + offset in modular arithmetic; c is its high half.
  const auto centre = [scale, offset](std::int32_t value) noexcept {
    return static_cast<std::uint32_t>(value) * scale + offset;
  };
  std::int64_t squares = 0;
  std::uint32_t* centred = row->centred;
  const std::int16_t* const end = x + norm.d / 2 * 2;
  for (; x != end; x += 2, ++centred) {
    const std::uint32_t pair = dsp::LoadWord(x);
    const std::uint32_t c =
        dsp::HighHalves(centre(Low(pair)), centre(High(pair)));
    *centred = c;
    squares = dsp::MultiplyPairs(c, c, squares);
  }
  if (norm.d % 2 != 0) {
    const std::uint32_t c = centre(*x) >> 16;
    *centred = c;
    squares = dsp::MultiplyPairs(c, c, squares);
  }
  if (extreme != 0) {
    row->reciprocal =
        LayerNormReciprocal(static_cast<std::uint64_t>(squares), norm.sqrt_d);
  }
}

// rdh16(rdh16(c, reciprocal), gain) of a pair, before the bias.
inline std::uint32_t ScalePair(std::uint32_t centred, std::int32_t reciprocal,
                               std::uint32_t gain) noexcept {
  constexpr std::int32_t kRound = 1 << 14;
  const auto c = static_cast<std::int32_t>(centred);
  const auto g = static_cast<std::int32_t>(gain);
  const std::int32_t low = __smlabb(c, reciprocal, kRound) >> 15;
  const std::int32_t high = __smlatb(c, reciprocal, kRound) >> 15;
  const std::int32_t low_product = __smlabb(low, g, kRound);
  const std::int32_t high_product = __smlabt(high, g, kRound);
  return (static_cast<std::uint32_t>(low_product >> 15) & 0xFFFF) |
         ((static_cast<std::uint32_t>(high_product) << 1) & 0xFFFF0000);
}

// u of the last element of a row of odd length.
std::int32_t LastElement(const LayerNorm& norm, const Row& row) noexcept {
  const std::size_t i = norm.d - 1U;
  const std::uint32_t pair =
      ScalePair(row.centred[i / 2], row.reciprocal,
                static_cast<std::uint16_t>(norm.gain[i]));
  return dsp::Saturate<16>(Low(pair) + norm.bias[i]);
}

}  // namespace

void LayerNormS8Dsp(const LayerNorm& norm, MatrixView<const std::int16_t> x,
                    MatrixView<std::int8_t> y) noexcept {
  const unsigned shift = norm.shift;
  const std::int32_t half = (1 << shift) >> 1;
  // Adding these in turn, with saturation, rounds and clamps to -127 2^shift.
  const std::int32_t lift = 32768 - (127 << shift);
  const std::uint32_t down = dsp::BothHalves(half - lift);
  const std::uint32_t up = dsp::BothHalves(lift);
  const std::int32_t shift_right = 1 << (16 - shift);
  Row row;
  for (std::size_t r = 0; r < x.rows(); ++r) {
    Standardise(norm, x.row(r), &row);
    const std::uint32_t* centred = row.centred;
    const std::int16_t* gain = norm.gain;
    const std::int16_t* bias = norm.bias;
    std::int8_t* to = y.row(r);
    const std::int8_t* const end = to + norm.d / 2 * 2;
    for (; to != end; to += 2, gain += 2, bias += 2) {
      std::uint32_t u =
          ScalePair(*centred++, row.reciprocal, dsp::LoadWord(gain));
      u = dsp::AddSaturating(u, dsp::LoadWord(bias));
      u = dsp::AddSaturating(dsp::AddSaturating(u, down), up);
      const auto pair = static_cast<std::int32_t>(u);
      to[0] = static_cast<std::int8_t>(
          dsp::Saturate<8>(__smlawb(shift_right, pair, 0)));
      to[1] = static_cast<std::int8_t>(
          dsp::Saturate<8>(__smlawt(shift_right, pair, 0)));
    }
    if (norm.d % 2 != 0) *to = Quantise8(LastElement(norm, row), shift);
  }
}

void LayerNormS16Dsp(const LayerNorm& norm, MatrixView<const std::int16_t> x,
                     MatrixView<std::int16_t> y) noexcept {
  Row row;
  for (std::size_t r = 0; r < x.rows(); ++r) {
    Standardise(norm, x.row(r), &row);
    const std::uint32_t* centred = row.centred;
    std::int16_t* const to = y.row(r);
    const std::size_t whole = norm.d / 2U * 2U;
    for (std::size_t i = 0; i < whole; i += 2) {
      const std::uint32_t u =
          ScalePair(*centred++, row.reciprocal, dsp::LoadWord(norm.gain + i));
      dsp::StoreWord(dsp::AddSaturating(u, dsp::LoadWord(norm.bias + i)),
                     to + i);
    }
    if (norm.d % 2 != 0) {
      to[whole] = static_cast<std::int16_t>(LastElement(norm, row));
    }
  }
}

void QuantiseS8Dsp(unsigned shift, Span<const std::int16_t> x,
                   std::int8_t* y) noexcept {
  const std::int32_t half = (1 << shift) >> 1;
  for (const std::int16_t u : x) *y++ = dsp::Clamp127((u + half) >> shift);
}

}  // namespace atto
