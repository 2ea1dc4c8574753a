# Arm MPS3 with image AN547: Cortex-M55 at 32 MHz; tightly coupled memories.
set(board_machine mps3-an547)
set(board_memory "FLASH (rx) : ORIGIN = 0x00000000, LENGTH = 512K" "RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 512K")
set(board_test_ram "RAM (rwx) : ORIGIN = 0x60000000, LENGTH = 16M")
set(board_definitions BOARD_UART_BASE=0x59303000 BOARD_CLOCK_MHZ=32)
set(board_device cmsdk)
set(board_stack_bytes 4096)
