#include "ops/dsp/product.h"
#include "ops/dsp/word.h"

namespace atto::dsp {
namespace {

// What MultiplyRows reads, at fixed offsets.
struct Job {
  const std::uint32_t* panel;
  std::size_t quads;
  std::int32_t* sums;
  std::size_t sums_step;     // bytes from one row's sums to the next
  std::size_t weights_step;  // bytes from the end of a channel to the next one
  const std::int8_t* end;    // of the last channel
};

// All quads of all channels (at least one). In assembly because the order
// matters: 14 registers are just enough, and one LDM brings the pairs of two
// rows.
__attribute__((naked)) void MultiplyRows(Job*, const std::int8_t*) noexcept {
  // r0 job, r1 weights, r2 panel, r3 quads left, r4-r7 sums, r8-r11 pairs of
  // two rows, r12 and r14 weights.
  __asm__(
      ".macro atto_quad\n\t"
      "ldr    r14, [r1], #4\n\t"
      "ldmia  r2!, {r8, r9, r10, r11}\n\t"
      "sxtb16 r12, r14\n\t"
      "sxtb16 r14, r14, ror #8\n\t"
      "smlad  r4, r8, r12, r4\n\t"
      "smlad  r5, r10, r12, r5\n\t"
      "smlad  r4, r9, r14, r4\n\t"
      "smlad  r5, r11, r14, r5\n\t"
      "ldmia  r2!, {r8, r9, r10, r11}\n\t"
      "smlad  r6, r8, r12, r6\n\t"
      "smlad  r7, r10, r12, r7\n\t"
      "smlad  r6, r9, r14, r6\n\t"
      "smlad  r7, r11, r14, r7\n\t"
      ".endm\n\t"
      "push   {r4-r11, lr}\n"
      "1:\n\t"
      "ldrd   r2, r3, [r0]\n\t"
      "movs   r4, #0\n\t"
      "movs   r5, #0\n\t"
      "movs   r6, #0\n\t"
      "movs   r7, #0\n\t"
      "subs   r3, #4\n\t"
      "blo    3f\n"
      "2:\n\t"
      "atto_quad\n\t"
      "atto_quad\n\t"
      "atto_quad\n\t"
      "atto_quad\n\t"
      "subs   r3, #4\n\t"
      "bhs    2b\n"
      "3:\n\t"
      "adds   r3, #4\n\t"
      "beq    5f\n"
      "4:\n\t"
      "atto_quad\n\t"
      "subs   r3, #1\n\t"
      "bne    4b\n"
      "5:\n\t"
      "ldrd   r8, r9, [r0, #8]\n\t"
      "ldrd   r10, r11, [r0, #16]\n\t"
      "str    r4, [r8]\n\t"
      "str    r5, [r8, r9]\n\t"
      "add    r4, r8, r9, lsl #1\n\t"
      "str    r6, [r4]\n\t"
      "str    r7, [r4, r9]\n\t"
      "add    r8, r8, #4\n\t"
      "str    r8, [r0, #8]\n\t"
      "add    r1, r10\n\t"
      "cmp    r1, r11\n\t"
      "bne    1b\n\t"
      "pop    {r4-r11, pc}\n\t"
      ".purgem atto_quad");
}

}  // namespace

void MakePanel(const std::int8_t* const (&rows)[kRows], std::size_t inputs,
               std::uint32_t* panel) noexcept {
  for (std::size_t r = 0; r < kRows; ++r) {
    const std::int8_t* row = rows[r];
    std::uint32_t* pairs = panel + 2 * r;
    const std::int8_t* const end = row + inputs / 4 * 4;
    for (; row != end; row += 4, pairs += 2 * kRows) {
      const std::uint32_t word = LoadWord(row);
      pairs[0] = EvenBytes(word);
      pairs[1] = OddBytes(word);
    }
    if (inputs % 4 != 0) {
      const std::uint32_t word = LoadPart(row, inputs % 4);
      pairs[0] = EvenBytes(word);
      pairs[1] = OddBytes(word);
    }
  }
}

void Product(const std::uint32_t* panel, std::size_t inputs,
             const std::int8_t* weights, std::size_t weights_stride,
             std::size_t channels, std::int32_t* sums,
             std::size_t sums_stride) noexcept {
  const std::size_t whole = inputs / 4 * 4;
  const std::size_t tail = inputs - whole;
  Job job = {panel,
             whole / 4,
             sums,
             sums_stride * sizeof(std::int32_t),
             weights_stride - whole,
             weights + channels * weights_stride};
  MultiplyRows(&job, weights);
  if (tail == 0) return;
  const std::uint32_t* const pairs = panel + PanelWords(whole);
  for (std::size_t c = 0; c < channels; ++c) {
    const std::uint32_t word =
        LoadPart(weights + c * weights_stride + whole, tail);
    for (std::size_t r = 0; r < kRows; ++r) {
      std::int32_t& sum = sums[r * sums_stride + c];
      sum = MultiplyPairs(pairs[2 * r], EvenBytes(word), sum);
      sum = MultiplyPairs(pairs[2 * r + 1], OddBytes(word), sum);
    }
  }
}

}  // namespace atto::dsp
