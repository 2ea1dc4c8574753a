# BBC micro:bit: Nordic nRF51822, Cortex-M0 at 16 MHz.
set(board_machine microbit)
set(board_memory "FLASH (rx) : ORIGIN = 0x00000000, LENGTH = 256K" "RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 16K")
set(board_device nrf51)
set(board_stack_bytes 2560)
