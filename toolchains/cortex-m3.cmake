# Cortex-M3.
set(ATTO_CPU_FLAGS -mcpu=cortex-m3)
include(${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake)
