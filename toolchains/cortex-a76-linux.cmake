# 64-bit Arm Linux on cores with the dot product: Raspberry Pi 5, Neoverse N1.
set(ATTO_TRIPLE aarch64-linux-gnu)
set(ATTO_EMULATOR qemu-aarch64)
set(ATTO_CPU_FLAGS -mcpu=cortex-a76)
include(${CMAKE_CURRENT_LIST_DIR}/linux-cross.cmake)
