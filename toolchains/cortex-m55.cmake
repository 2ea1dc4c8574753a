# Cortex-M55: MVE. GCC before 13 breaks down on MVE code, so clang compiles.
set(ATTO_CPU_FLAGS -mcpu=cortex-m55 -mfloat-abi=hard)
set(ATTO_USE_CLANG ON)
include(${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake)
