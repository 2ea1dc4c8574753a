/* Arm's MPS2 and MPS3 boards: UART of the Cortex-M System Design Kit, and
 * SysTick as the clock. */
#include "board.h"
#include "board_internal.h"

#define WORD(address) (*(volatile uint32_t*)(address))

enum { kData = 0x00, kState = 0x04, kControl = 0x08, kDivider = 0x10 };
enum { kTransmitFull = 1, kReceiveFull = 2 };

void board_uart_start(void) {
  WORD(BOARD_UART_BASE + kDivider) = BOARD_CLOCK_MHZ * 1000000U / 115200U;
  WORD(BOARD_UART_BASE + kControl) = 3; /* transmit, receive */
}

void board_uart_put(char byte) {
  while ((WORD(BOARD_UART_BASE + kState) & kTransmitFull) != 0) {
  }
  WORD(BOARD_UART_BASE + kData) = (uint8_t)byte;
}

char board_uart_get(void) {
  while ((WORD(BOARD_UART_BASE + kState) & kReceiveFull) == 0) {
  }
  return (char)WORD(BOARD_UART_BASE + kData);
}

/* SysTick counts down 24 bits and interrupts when it wraps. */
#define SYSTICK_CONTROL 0xE000E010U
#define SYSTICK_RELOAD 0xE000E014U
#define SYSTICK_VALUE 0xE000E018U
#define SYSTICK_MAX 0xFFFFFFU

static volatile uint32_t wraps;

void board_clock_start(void) {
  WORD(SYSTICK_RELOAD) = SYSTICK_MAX;
  WORD(SYSTICK_VALUE) = 0;
  WORD(SYSTICK_CONTROL) = 7; /* core clock, interrupt, on */
}

void board_clock_wrapped(void) { wraps = wraps + 1; }

uint64_t board_clock(void) {
  uint32_t before;
  uint32_t value;
  do {
    before = wraps;
    value = WORD(SYSTICK_VALUE);
  } while (before != wraps);
  /* 0 follows 1 and is followed by the reload value: it counts as a wrap. */
  const uint64_t ticks =
      (uint64_t)before * (SYSTICK_MAX + 1) + (SYSTICK_MAX - value);
  return ticks * 1000 / BOARD_CLOCK_MHZ;
}
