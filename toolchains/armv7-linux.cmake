# 32-bit Arm Linux with hard float and NEON: Raspberry Pi 2, BeagleBone.
set(ATTO_TRIPLE arm-linux-gnueabihf)
set(ATTO_EMULATOR qemu-arm)
set(ATTO_CPU_FLAGS -march=armv7-a+simd -mfpu=neon -mfloat-abi=hard)
include(${CMAKE_CURRENT_LIST_DIR}/linux-cross.cmake)
