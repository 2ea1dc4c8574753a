# Cortex-M7 with a double-precision FPU.
set(ATTO_CPU_FLAGS -mcpu=cortex-m7 -mfloat-abi=hard -mfpu=fpv5-d16)
include(${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake)
