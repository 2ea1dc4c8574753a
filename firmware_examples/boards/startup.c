/* Vector table, reset, and a fault handler that says what happened. Any
 * Armv6-M to Armv8.1-M core. */
#include <stddef.h>
#include <stdint.h>

#include "board.h"
#include "board_internal.h"

int main(void);
void Reset_Handler(void);
void Fault_Handler(void);
void board_fault(const uint32_t* frame, uint32_t exception_return);

#define WORD(address) (*(volatile uint32_t*)(address))

typedef void (*Handler)(void);

static const struct {
  uint32_t* stack_top;
  Handler handlers[15];
} kVectors __attribute__((section(".vectors"), used)) = {
    board_stack_top,
    {
        Reset_Handler,
        Fault_Handler, /* NMI */
        Fault_Handler, /* HardFault */
        Fault_Handler, /* MemManage */
        Fault_Handler, /* BusFault */
        Fault_Handler, /* UsageFault */
        Fault_Handler, /* SecureFault */
        NULL,
        NULL,
        NULL,
        Fault_Handler, /* SVCall */
        Fault_Handler, /* DebugMonitor */
        NULL,
        Fault_Handler, /* PendSV */
        board_clock_wrapped,
    },
};

/* From the variables to a little below this function's own frame. */
static void PaintStack(void) {
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0) - 64;
  for (uint32_t* word = board_bss_end; (uintptr_t)word < here; ++word) {
    *word = BOARD_STACK_PAINT;
  }
}

static void EnableCoprocessors(void) {
#if __ARM_ARCH >= 7
  WORD(0xE000ED24) |= 7U << 16; /* SHCSR: faults of their own, not HardFault */
  WORD(0xE000ED14) |= 1U << 4;  /* CCR: division by zero is a fault */
#endif
#if defined(__ARM_FP)
  WORD(0xE000ED88) |= 0xFU << 20; /* CPACR: floating point and MVE */
#endif
#if defined(__ARM_FEATURE_MVE)
  WORD(0xE000ED14) |= 1U << 19; /* CCR.LOB: low-overhead loops */
#endif
  __asm volatile("dsb\n isb" ::: "memory");
}

__attribute__((noreturn)) void Reset_Handler(void) {
  extern void (*const __init_array_start[])(void);
  extern void (*const __init_array_end[])(void);
  EnableCoprocessors();
  const uint32_t* from = board_data_load;
  for (uint32_t* to = board_data_start; to < board_data_end;) *to++ = *from++;
  for (uint32_t* to = board_bss_start; to < board_bss_end;) *to++ = 0;
  PaintStack();
  board_uart_start();
  board_clock_start();
  for (void (*const* f)(void) = __init_array_start; f < __init_array_end; ++f) {
    (*f)();
  }
  board_exit(main());
}

/* Passes the frame that the core has pushed. */
__attribute__((naked)) void Fault_Handler(void) {
  __asm volatile(
      "mov r1, lr\n"
      "movs r0, #4\n"
      "tst r0, r1\n"
      "beq 1f\n"
      "mrs r0, psp\n"
      "b 2f\n"
      "1: mrs r0, msp\n"
      "2: bl board_fault\n");
}

static const char* FaultName(uint32_t exception) {
  static const char* const kNames[] = {"NMI",      "HardFault",  "MemManage",
                                       "BusFault", "UsageFault", "SecureFault"};
  return exception >= 2 && exception <= 7 ? kNames[exception - 2]
                                          : "unexpected exception";
}

static void PrintRegister(const char* name, uint32_t value) {
  board_print(name);
  board_print_hex(value);
}

void board_fault(const uint32_t* frame, uint32_t exception_return) {
  uint32_t exception;
  __asm volatile("mrs %0, ipsr" : "=r"(exception));
  board_print("\r\n*** ");
  board_print(FaultName(exception));
  const uintptr_t address = (uintptr_t)frame;
  if (address < (uintptr_t)board_bss_end ||
      address + 32 > (uintptr_t)board_stack_top) {
    board_print(": the stack has overflowed");
  } else {
    PrintRegister(" at pc ", frame[6]);
    PrintRegister(", lr ", frame[5]);
    PrintRegister(", r0 ", frame[0]);
    PrintRegister(", r1 ", frame[1]);
    PrintRegister(", r2 ", frame[2]);
    PrintRegister(", r3 ", frame[3]);
  }
  PrintRegister(", exc_return ", exception_return);
#if __ARM_ARCH >= 7
  const uint32_t status = WORD(0xE000ED28);
  PrintRegister("\r\n*** CFSR ", status);
  PrintRegister(", HFSR ", WORD(0xE000ED2C));
  if ((status & (1U << 7)) != 0) PrintRegister(", at ", WORD(0xE000ED34));
  if ((status & (1U << 15)) != 0) PrintRegister(", at ", WORD(0xE000ED38));
  if ((status & (1U << 24)) != 0) board_print(", unaligned access");
  if ((status & (1U << 25)) != 0) board_print(", division by zero");
  if ((status & (1U << 16)) != 0) board_print(", undefined instruction");
  if ((status & (1U << 19)) != 0) board_print(", coprocessor is off");
#endif
  board_print("\r\n");
  board_exit(1);
}
