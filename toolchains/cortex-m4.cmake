# Cortex-M4 with its single-precision FPU.
set(ATTO_CPU_FLAGS -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16)
include(${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake)
