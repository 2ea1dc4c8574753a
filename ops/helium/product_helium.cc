#include "ops/helium/product.h"
#include "ops/helium/vector.h"

namespace atto::helium {
namespace {

// What MultiplyPairs reads, at fixed offsets.
struct Job {
  const std::int8_t* panel;
  std::size_t steps;  // of 16 inputs, after the first
  std::int32_t* sums;
  std::size_t sums_step;       // bytes from one row's sums to the next
  std::size_t weights_stride;  // bytes from one channel to the next
  std::size_t first;           // inputs of the first step, 1..16
  std::size_t pair_step;       // bytes from the end of a channel to the next
                               // pair
  const std::int8_t* end;      // of the first channel of the last pair
};

// All inputs of all pairs of channels (at least one). In assembly because eight
// sums need every even register, the link register too, which compilers keep
// for their loops.
__attribute__((naked)) void MultiplyPairs(Job*, const std::int8_t*) noexcept {
  // r9 job, r1 and r3 weights of two channels, r5 panel, r7 steps left, r11
  // first inputs; even registers: sums of the four rows, channel by channel.
  __asm__(
      "push {r4-r11, lr}\n\t"
      "vpush {d8-d11}\n\t"
      "mov r9, r0\n\t"
      "ldr r11, [r9, #20]\n\t"
      "ldr r7, [r9, #4]\n\t"
      "cmp r7, #0\n\t"
      "beq.w 4f\n"
      "1:\n\t"
      "ldrd r5, r7, [r9]\n\t"
      "ldr r3, [r9, #16]\n\t"
      "add r3, r1\n\t"
      "vctp.8 r11\n\t"
      "vpstt\n\t"
      "vldrbt.u8 q4, [r1]\n\t"
      "vldrbt.u8 q5, [r3]\n\t"
      "vldrb.u8 q0, [r5], #64\n\t"
      "vldrb.u8 q1, [r5, #-48]\n\t"
      "vldrb.u8 q2, [r5, #-32]\n\t"
      "vldrb.u8 q3, [r5, #-16]\n\t"
      "vmladav.s8 r0, q0, q4\n\t"
      "vmladav.s8 r2, q1, q4\n\t"
      "vmladav.s8 r4, q2, q4\n\t"
      "vmladav.s8 r6, q3, q4\n\t"
      "vmladav.s8 r8, q0, q5\n\t"
      "vmladav.s8 r10, q1, q5\n\t"
      "vmladav.s8 r12, q2, q5\n\t"
      "vmladav.s8 lr, q3, q5\n\t"
      "add r1, r11\n\t"
      "add r3, r11\n\t"
      "cbz r7, 3f\n"
      "2:\n\t"
      "vldrb.u8 q4, [r1], #16\n\t"
      "vldrb.u8 q5, [r3], #16\n\t"
      "vldrb.u8 q0, [r5], #64\n\t"
      "vldrb.u8 q1, [r5, #-48]\n\t"
      "vldrb.u8 q2, [r5, #-32]\n\t"
      "vldrb.u8 q3, [r5, #-16]\n\t"
      "vmladava.s8 r0, q0, q4\n\t"
      "vmladava.s8 r2, q1, q4\n\t"
      "vmladava.s8 r4, q2, q4\n\t"
      "vmladava.s8 r6, q3, q4\n\t"
      "vmladava.s8 r8, q0, q5\n\t"
      "vmladava.s8 r10, q1, q5\n\t"
      "vmladava.s8 r12, q2, q5\n\t"
      "vmladava.s8 lr, q3, q5\n\t"
      "subs r7, #1\n\t"
      "bne 2b\n"
      "3:\n\t"
      "ldrd r5, r7, [r9, #8]\n\t"
      "add r3, r5, #8\n\t"
      "str r3, [r9, #8]\n\t"
      "strd r0, r8, [r5]\n\t"
      "add r5, r7\n\t"
      "strd r2, r10, [r5]\n\t"
      "add r5, r7\n\t"
      "strd r4, r12, [r5]\n\t"
      "add r5, r7\n\t"
      "strd r6, lr, [r5]\n\t"
      "ldrd r5, r7, [r9, #24]\n\t"
      "cmp r1, r7\n\t"
      "add r1, r5\n\t"
      "bne 1b\n\t"
      "b 6f\n"
      // At most 16 inputs: the panel stays in registers. r5 sums, r7 their
      // step, r9 end, r11 pair step.
      "4:\n\t"
      "ldr r5, [r9]\n\t"
      "vctp.8 r11\n\t"
      "vldrb.u8 q0, [r5]\n\t"
      "vldrb.u8 q1, [r5, #16]\n\t"
      "vldrb.u8 q2, [r5, #32]\n\t"
      "vldrb.u8 q3, [r5, #48]\n\t"
      "ldr r3, [r9, #16]\n\t"
      "add r3, r1\n\t"
      "ldrd r5, r7, [r9, #8]\n\t"
      "ldrd r0, r9, [r9, #24]\n\t"
      "sub r9, r11\n\t"
      "add r11, r0\n"
      "5:\n\t"
      "vpstt\n\t"
      "vldrbt.u8 q4, [r1]\n\t"
      "vldrbt.u8 q5, [r3]\n\t"
      "vmladav.s8 r0, q0, q4\n\t"
      "vmladav.s8 r2, q1, q4\n\t"
      "vmladav.s8 r4, q2, q4\n\t"
      "vmladav.s8 r6, q3, q4\n\t"
      "vmladav.s8 r8, q0, q5\n\t"
      "vmladav.s8 r10, q1, q5\n\t"
      "vmladav.s8 r12, q2, q5\n\t"
      "vmladav.s8 lr, q3, q5\n\t"
      "strd r0, r8, [r5], #8\n\t"
      "add r0, r5, r7\n\t"
      "strd r2, r10, [r0, #-8]\n\t"
      "add r0, r7\n\t"
      "strd r4, r12, [r0, #-8]\n\t"
      "add r0, r7\n\t"
      "strd r6, lr, [r0, #-8]\n\t"
      "cmp r1, r9\n\t"
      "add r1, r11\n\t"
      "add r3, r11\n\t"
      "bne 5b\n"
      "6:\n\t"
      "vpop {d8-d11}\n\t"
      "pop {r4-r11, pc}");
}

}  // namespace

void MakePanel(const std::int8_t* const (&rows)[kRows], std::size_t inputs,
               std::int8_t* panel) noexcept {
  const std::size_t first = (inputs - 1) % 16 + 1;
  for (std::size_t r = 0; r < kRows; ++r) {
    const std::int8_t* row = rows[r];
    std::int8_t* to = panel + 16 * r;
    vst1q_s8(to, vldrbq_z_s8(row, Lanes8(first)));
    row += first;
    for (std::size_t left = inputs - first; left != 0; left -= 16) {
      to += 16 * kRows;
      vst1q_s8(to, vldrbq_s8(row));
      row += 16;
    }
  }
}

void Product(const std::int8_t* panel, std::size_t inputs,
             const std::int8_t* weights, std::size_t weights_stride,
             std::size_t channels, std::int32_t* sums,
             std::size_t sums_stride) noexcept {
  const std::size_t paired = channels / 2 * 2;
  Job job = {panel,
             (inputs - 1) / 16,
             sums,
             sums_stride * sizeof(std::int32_t),
             weights_stride,
             (inputs - 1) % 16 + 1,
             2 * weights_stride - inputs,
             weights + paired * weights_stride - 2 * weights_stride + inputs};
  if (paired != 0) MultiplyPairs(&job, weights);
  if (paired == channels) return;
  // The last channel is paired with itself.
  const std::int8_t* const last = weights + paired * weights_stride;
  std::int32_t pairs[kRows][2];
  job.sums = pairs[0];
  job.sums_step = sizeof(pairs[0]);
  job.weights_stride = 0;
  job.end = last + inputs;
  MultiplyPairs(&job, last);
  for (std::size_t r = 0; r < kRows; ++r) {
    sums[r * sums_stride + paired] = pairs[r][0];
  }
}

}  // namespace atto::helium
