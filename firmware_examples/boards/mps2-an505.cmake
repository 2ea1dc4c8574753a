# Arm MPS2 with image AN505: Cortex-M33 at 20 MHz; secure addresses.
set(board_machine mps2-an505)
set(board_memory "FLASH (rx) : ORIGIN = 0x10000000, LENGTH = 4M" "RAM (rwx) : ORIGIN = 0x38000000, LENGTH = 4M")
set(board_test_ram "RAM (rwx) : ORIGIN = 0x80000000, LENGTH = 16M")
set(board_definitions BOARD_UART_BASE=0x50200000 BOARD_CLOCK_MHZ=20)
set(board_device cmsdk)
set(board_stack_bytes 4096)
