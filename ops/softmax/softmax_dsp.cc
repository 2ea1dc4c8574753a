#include "ops/dsp/word.h"
#include "ops/softmax/softmax.h"

namespace atto {
namespace {

// What one row needs, at fixed offsets.
struct Row {
  std::uint32_t multiplier;
  std::uint32_t round = (std::uint32_t{1} << 14) + (std::uint32_t{18} << 26);
  std::int32_t max;
  std::uint32_t right;
  // exp2m(f) = 32512 - rdh16(16 f, 21944 - rdh16(16 f, 5740)). rdh16(16 f, y)
  // is (f y + 2^10) >> 11, and c - ((a + 2^10) >> 11) is (c 2^11 + 2^10 - 1 -
  // a) >> 11: one multiply-and-subtract each.
  std::uint32_t factor = 5740;
  std::uint32_t slope = (21944U << 11) + 1023;
  std::uint32_t mantissa = (32512U << 11) + 1023;
};

// weights[j] of `scores` up to their end, a positive multiple of four of them;
// returns the sum. In assembly because constants and four scores fit the
// registers only if the constants come in turns.
//
// x of docs/quantization.md stands in its product before the last shift of
// rdh16: fraction at bit 15, octave at bit 26. The weight is (exp2m + 2^(7 +
// octave)) >> (8 + octave), which is half of (exp2m >> (7 + octave)) + 1; the
// shift by 7 + octave and that by 11 of exp2m are one, and their sum of 18
// comes into the octave with `round`. Shifts of LSR by 32 and more give 0.
__attribute__((naked)) std::int32_t WeighQuads(const Row*, const std::int32_t*,
                                               const std::int32_t*,
                                               std::int8_t*) noexcept {
  // r0 row, r1 scores, r2 their end, r3 weights, r4-r7 four scores, r8-r12
  // constants and temporaries, r14 sum.
  __asm__(
      "push   {r4-r11, lr}\n\t"
      "mov    r14, #0\n"
      "1:\n\t"
      "ldmia  r1!, {r4, r5, r6, r7}\n\t"
      "ldmia  r0, {r8, r9, r10, r11}\n\t"
      ".irp   t, r4, r5, r6, r7\n\t"
      "sub    \\t, r10, \\t\n\t"
      "asr    \\t, \\t, r11\n\t"
      "usat   \\t, #15, \\t\n\t"
      "mla    \\t, \\t, r8, r9\n\t"
      ".endr\n\t"
      "ldrd   r8, r9, [r0, #16]\n\t"
      "ldr    r10, [r0, #24]\n\t"
      ".irp   t, r4, r5, r6, r7\n\t"
      "ubfx   r11, \\t, #15, #11\n\t"
      "mls    r12, r11, r8, r9\n\t"
      "lsr    \\t, \\t, #26\n\t"
      "lsr    r12, r12, #11\n\t"
      "mls    r12, r11, r12, r10\n\t"
      "lsr    \\t, r12, \\t\n\t"
      ".endr\n\t"
      "orr    r4, r4, r5, lsl #8\n\t"
      "orr    r6, r6, r7, lsl #8\n\t"
      "orr    r4, r4, r6, lsl #16\n\t"
      "mov    r5, #0x01010101\n\t"
      "uhadd8 r4, r4, r5\n\t"  // (x + 1) >> 1
      "mov    r5, #0\n\t"
      "usada8 r14, r4, r5, r14\n\t"
      "str    r4, [r3], #4\n\t"
      "cmp    r1, r2\n\t"
      "bne    1b\n\t"
      "mov    r0, r14\n\t"
      "pop    {r4-r11, pc}");
}

// The largest score before the end, a positive multiple of four of them.
__attribute__((naked)) std::int32_t LargestOfQuads(
    const std::int32_t*, const std::int32_t*) noexcept {
  __asm__(
      "push   {r4, r5}\n\t"
      "ldr    r12, [r0]\n"
      "1:\n\t"
      "ldmia  r0!, {r2, r3, r4, r5}\n\t"
      ".irp   t, r2, r3, r4, r5\n\t"
      "cmp    \\t, r12\n\t"
      "it     gt\n\t"
      "movgt  r12, \\t\n\t"
      ".endr\n\t"
      "cmp    r0, r1\n\t"
      "bne    1b\n\t"
      "mov    r0, r12\n\t"
      "pop    {r4, r5}\n\t"
      "bx     lr");
}

}  // namespace

std::int32_t SoftmaxS8Dsp(const SoftmaxParams& params,
                          Span<const std::int32_t> scores,
                          std::int8_t* weights) noexcept {
  const std::int32_t* score = scores.data();
  std::size_t left = scores.size();
  const std::size_t whole = left / 4 * 4;
  std::int32_t max = score[0];
  if (whole != 0) max = LargestOfQuads(score, score + whole);
  for (std::size_t j = whole; j < left; ++j) {
    max = score[j] > max ? score[j] : max;
  }
  Row row;
  row.multiplier = static_cast<std::uint32_t>(params.multiplier);
  row.max = max;
  row.right = static_cast<std::uint32_t>(params.shift > 0 ? params.shift : 0);
  std::int32_t sum = 0;
  if (params.shift >= 0 && left >= 4) {
    sum = WeighQuads(&row, score, score + whole, weights);
    left -= whole;
    score += whole;
    weights += whole;
  }
  // The tail; and all scores if they are to be shifted to the left.
  while (left != 0) {
    const std::size_t count = left < 4 ? left : 4;
    std::int32_t part[4] = {};
    for (std::size_t i = 0; i < count; ++i) {
      const std::int32_t distance = max - score[i];
      part[i] = params.shift < 0 ? max - (distance << -params.shift) : score[i];
    }
    std::int8_t four[4];
    WeighQuads(&row, part, part + 4, four);
    for (std::size_t i = 0; i < count; ++i) {
      weights[i] = four[i];
      sum += four[i];
    }
    left -= count;
    score += count;
    weights += count;
  }
  return sum;
}

}  // namespace atto
