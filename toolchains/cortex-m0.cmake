# Cortex-M0: no unaligned access, no hardware division.
set(ATTO_CPU_FLAGS -mcpu=cortex-m0)
include(${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake)
