/* Between the files of a board's support code. */
#ifndef ATTO_FIRMWARE_EXAMPLES_BOARDS_BOARD_INTERNAL_H_
#define ATTO_FIRMWARE_EXAMPLES_BOARDS_BOARD_INTERNAL_H_

#include <stdint.h>

/* Addresses of the linker script. */
extern uint32_t board_flash_start[];
extern uint32_t board_data_load[], board_data_start[], board_data_end[];
extern uint32_t board_bss_start[], board_bss_end[];
extern uint32_t board_ram_start[], board_stack_top[];

/* What the stack holds where it has never been. */
#define BOARD_STACK_PAINT 0x5AFE57ACU

/* Of the device: cmsdk.c or nrf51.c. */
void board_uart_start(void);
void board_uart_put(char byte);
char board_uart_get(void);
void board_clock_start(void);
void board_clock_wrapped(void);

#endif /* ATTO_FIRMWARE_EXAMPLES_BOARDS_BOARD_INTERNAL_H_ */
