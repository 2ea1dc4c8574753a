# What toolchains/cortex-m55.cmake is not: MVE by GCC.
set(ATTO_CPU_FLAGS -mcpu=cortex-m55 -mfloat-abi=hard)
include(${CMAKE_CURRENT_LIST_DIR}/../../toolchains/arm-none-eabi.cmake)
