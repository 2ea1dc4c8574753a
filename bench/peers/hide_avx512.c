/* Answers CPUID for a program as a processor without AVX-512, AMX and VNNI
 * would. Preloaded into a process whose CPUID instructions were replaced by a
 * breakpoint and a no-operation (held_ort.py): the breakpoint's handler
 * executes the instruction and clears the bits. x86-64 Linux. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#define BIT(n) (UINT32_C(1) << (n))

/* Intel's manual, volume 2A, CPUID: what leaf 7 tells of these extensions. */
enum { kFeatureLeaf = 7 };
static const uint32_t kLeaf7Ebx = BIT(16) | BIT(17) | BIT(21) | BIT(26) |
                                  BIT(27) | BIT(28) | BIT(30) | BIT(31);
static const uint32_t kLeaf7Ecx = BIT(1) | BIT(6) | BIT(11) | BIT(12) | BIT(14);
static const uint32_t kLeaf7Edx =
    BIT(2) | BIT(3) | BIT(8) | BIT(22) | BIT(23) | BIT(24) | BIT(25);
static const uint32_t kLeaf7Part1Eax = BIT(4) | BIT(5) | BIT(21) | BIT(23);
static const uint32_t kLeaf7Part1Edx = BIT(4) | BIT(5) | BIT(10) | BIT(19);

static void AnswerCpuid(int signal, siginfo_t* info, void* context) {
  greg_t* const registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  const uint32_t leaf = (uint32_t)registers[REG_RAX];
  const uint32_t part = (uint32_t)registers[REG_RCX];
  uint32_t eax, ebx, ecx, edx;
  (void)signal;
  (void)info;
  __cpuid_count(leaf, part, eax, ebx, ecx, edx);
  if (leaf == kFeatureLeaf && part == 0) {
    ebx &= ~kLeaf7Ebx;
    ecx &= ~kLeaf7Ecx;
    edx &= ~kLeaf7Edx;
  } else if (leaf == kFeatureLeaf && part == 1) {
    eax &= ~kLeaf7Part1Eax;
    edx &= ~kLeaf7Part1Edx;
  }
  registers[REG_RAX] = eax;
  registers[REG_RBX] = ebx;
  registers[REG_RCX] = ecx;
  registers[REG_RDX] = edx;
  registers[REG_RIP] += 1; /* over the no-operation */
}

__attribute__((constructor)) static void Install(void) {
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_sigaction = AnswerCpuid;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, NULL);
}
