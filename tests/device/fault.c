/* Does what the core refuses: on Armv6-M an unaligned access, which shows that
 * emulation would see one in atto, elsewhere an undefined instruction. */
#include <stdint.h>

#include "board.h"

int main(void) {
#if __ARM_ARCH >= 7
  __asm volatile("udf #0");
#else
  static uint32_t words[2];
  uintptr_t address = (uintptr_t)words + 1;
  __asm volatile("" : "+r"(address)); /* or the compiler reads bytes */
  board_print_hex(*(volatile uint32_t*)address);
#endif
  board_print("no fault\r\n");
  return 0;
}
