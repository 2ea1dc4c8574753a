# A Linux target by GNU cross compiler, run by qemu-user. A toolchain file sets
#   ATTO_TRIPLE        such as aarch64-linux-gnu
#   ATTO_EMULATOR      such as qemu-aarch64
#   ATTO_CPU_FLAGS     may be empty
# and includes this file.

set(CMAKE_SYSTEM_NAME Linux)
string(REGEX MATCH "^[a-z0-9]+" CMAKE_SYSTEM_PROCESSOR ${ATTO_TRIPLE})
set(CMAKE_LIBRARY_ARCHITECTURE ${ATTO_TRIPLE})

find_program(CMAKE_C_COMPILER ${ATTO_TRIPLE}-gcc REQUIRED)
find_program(CMAKE_CXX_COMPILER ${ATTO_TRIPLE}-g++ REQUIRED)
list(JOIN ATTO_CPU_FLAGS " " atto_cpu_flags)
set(CMAKE_C_FLAGS_INIT "${atto_cpu_flags}")
set(CMAKE_CXX_FLAGS_INIT "${atto_cpu_flags}")

find_program(ATTO_QEMU ${ATTO_EMULATOR})
if(ATTO_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${ATTO_QEMU} -L /usr/${ATTO_TRIPLE})
endif()

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
