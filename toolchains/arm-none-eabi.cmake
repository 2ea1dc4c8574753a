# Bare-metal Cortex-M. A toolchain file of a core or a board sets
#   ATTO_CPU_FLAGS     its -mcpu, -mfloat-abi, -mfpu
#   ATTO_USE_CLANG     ON: clang compiles, GCC's driver still links (libraries,
#                      multilib); for MVE with a GCC before 13
# and includes this file. Works with any arm-none-eabi-gcc on the PATH.

set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
# A linked program needs a board's linker script, which compiler checks have not.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

find_program(ATTO_ARM_GCC arm-none-eabi-gcc REQUIRED)
find_program(ATTO_ARM_GXX arm-none-eabi-g++ REQUIRED)
find_program(CMAKE_OBJCOPY arm-none-eabi-objcopy REQUIRED)
find_program(CMAKE_SIZE arm-none-eabi-size REQUIRED)
find_program(CMAKE_AR arm-none-eabi-ar REQUIRED)
find_program(CMAKE_RANLIB arm-none-eabi-ranlib REQUIRED)
find_program(CMAKE_NM arm-none-eabi-nm REQUIRED)
find_program(CMAKE_OBJDUMP arm-none-eabi-objdump REQUIRED)
find_program(CMAKE_READELF arm-none-eabi-readelf REQUIRED)

list(JOIN ATTO_CPU_FLAGS " " atto_cpu_flags)
string(PREPEND atto_cpu_flags "-mthumb ")

if(ATTO_USE_CLANG)
  find_program(ATTO_ARM_CLANG NAMES clang-19 clang-20 clang-18 clang REQUIRED)
  find_program(ATTO_ARM_CLANGXX NAMES clang++-19 clang++-20 clang++-18 clang++
                                      REQUIRED)
  set(CMAKE_C_COMPILER ${ATTO_ARM_CLANG})
  set(CMAKE_CXX_COMPILER ${ATTO_ARM_CLANGXX})
  set(CMAKE_C_COMPILER_TARGET arm-none-eabi)
  set(CMAKE_CXX_COMPILER_TARGET arm-none-eabi)
  # The headers of GCC's C and C++ library, of the multilib of these flags.
  separate_arguments(atto_flag_list UNIX_COMMAND "${atto_cpu_flags}")
  execute_process(
    COMMAND ${ATTO_ARM_GXX} ${atto_flag_list} -E -v -x c++ /dev/null
    RESULT_VARIABLE atto_status
    OUTPUT_QUIET
    ERROR_VARIABLE atto_search)
  if(NOT atto_status EQUAL 0)
    string(REGEX MATCH "error: [^\n]*" atto_search "${atto_search}")
    list(JOIN ATTO_CPU_FLAGS " " atto_cpu_flags)
    message(FATAL_ERROR "clang compiles with the headers of GCC's C library, but "
                        "${ATTO_ARM_GXX} does not take ATTO_CPU_FLAGS "
                        "'${atto_cpu_flags}': ${atto_search}")
  endif()
  string(REGEX REPLACE ".*search starts here:\n" "" atto_search "${atto_search}")
  string(REGEX REPLACE "End of search list.*" "" atto_search "${atto_search}")
  string(REGEX MATCHALL "[^ \n]+" atto_search "${atto_search}")
  # The compiler's own headers (stdint.h, arm_mve.h) are clang's.
  list(FILTER atto_search EXCLUDE REGEX "/gcc/arm-none-eabi/[0-9.]+/include(-fixed)?$")
  set(atto_c_includes "")
  set(atto_cxx_includes "")
  foreach(folder IN LISTS atto_search)
    string(APPEND atto_cxx_includes " -isystem ${folder}")
    if(NOT folder MATCHES "/c\\+\\+/")
      string(APPEND atto_c_includes " -isystem ${folder}")
    endif()
  endforeach()
  set(atto_link "<CMAKE_CXX_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
  set(CMAKE_C_LINK_EXECUTABLE "${ATTO_ARM_GXX} ${atto_cpu_flags} ${atto_link}")
  set(CMAKE_CXX_LINK_EXECUTABLE "${CMAKE_C_LINK_EXECUTABLE}")
  set(atto_cpu_flags "${atto_cpu_flags} -fshort-enums") # as GCC has it
else()
  set(CMAKE_C_COMPILER ${ATTO_ARM_GCC})
  set(CMAKE_CXX_COMPILER ${ATTO_ARM_GXX})
endif()

# Each function in a section of its own: the linker drops those not called.
set(atto_cpu_flags "${atto_cpu_flags} -ffunction-sections -fdata-sections")
set(CMAKE_C_FLAGS_INIT "${atto_cpu_flags}${atto_c_includes}")
set(CMAKE_CXX_FLAGS_INIT "${atto_cpu_flags}${atto_cxx_includes}")
set(CMAKE_ASM_FLAGS_INIT "${atto_cpu_flags}")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
