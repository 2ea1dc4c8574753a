# 64-bit Arm Linux: Raspberry Pi 3 and later, servers.
set(ATTO_TRIPLE aarch64-linux-gnu)
set(ATTO_EMULATOR qemu-aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/linux-cross.cmake)
