/* Nordic nRF51: its UART, and TIMER0 at 16 MHz as the clock, since the part has
 * no SysTick. */
#include "board.h"
#include "board_internal.h"

#define WORD(address) (*(volatile uint32_t*)(address))

#define UART 0x40002000U
enum {
  kStartReceive = 0x000,
  kStartTransmit = 0x008,
  kReceived = 0x108,
  kTransmitted = 0x11C,
  kEnable = 0x500,
  kPinTransmit = 0x50C,
  kPinReceive = 0x514,
  kReceiveData = 0x518,
  kTransmitData = 0x51C,
  kBaudRate = 0x524,
};

void board_uart_start(void) {
  WORD(UART + kPinTransmit) = 24; /* to the USB interface */
  WORD(UART + kPinReceive) = 25;
  WORD(UART + kBaudRate) = 0x01D7E000; /* 115,200 */
  WORD(UART + kEnable) = 4;
  WORD(UART + kStartTransmit) = 1;
  WORD(UART + kStartReceive) = 1;
}

void board_uart_put(char byte) {
  WORD(UART + kTransmitted) = 0;
  WORD(UART + kTransmitData) = (uint8_t)byte;
  while (WORD(UART + kTransmitted) == 0) {
  }
}

char board_uart_get(void) {
  while (WORD(UART + kReceived) == 0) {
  }
  WORD(UART + kReceived) = 0;
  return (char)WORD(UART + kReceiveData);
}

#define TIMER 0x40008000U
enum {
  kStart = 0x000,
  kClear = 0x00C,
  kCapture = 0x040,
  kMode = 0x504,
  kBitMode = 0x508,
  kPrescaler = 0x510,
  kCaptured = 0x540,
};

void board_clock_start(void) {
  WORD(TIMER + kMode) = 0;
  WORD(TIMER + kBitMode) = 3; /* 32 bits: wraps after 268 seconds */
  WORD(TIMER + kPrescaler) = 0;
  WORD(TIMER + kClear) = 1;
  WORD(TIMER + kStart) = 1;
}

void board_clock_wrapped(void) {}

uint64_t board_clock(void) {
  WORD(TIMER + kCapture) = 1;
  return (uint64_t)WORD(TIMER + kCaptured) * 1000 / 16;
}
