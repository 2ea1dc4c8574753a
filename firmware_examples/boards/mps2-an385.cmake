# Arm MPS2 with image AN385: Cortex-M3 at 25 MHz.
set(board_machine mps2-an385)
set(board_memory "FLASH (rx) : ORIGIN = 0x00000000, LENGTH = 4M" "RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 4M")
set(board_test_ram "RAM (rwx) : ORIGIN = 0x21000000, LENGTH = 16M")
set(board_definitions BOARD_UART_BASE=0x40004000 BOARD_CLOCK_MHZ=25)
set(board_device cmsdk)
set(board_stack_bytes 4096)
