# Float kernels of host builds (xsimd, header only): the float twin of the
# encoder. One object an architecture, each with its own flags; which one runs is
# chosen at run time. Firmware builds have none of this.

set(ATTO_FLOAT
    AUTO
    CACHE STRING "Float encoder: ON (fail without xsimd), OFF or AUTO")
set_property(CACHE ATTO_FLOAT PROPERTY STRINGS ON OFF AUTO)

# xsimd's own package file wants a library that atto has no use for: the headers
# are all it takes.
set(atto_float FALSE)
if(ATTO_FLOAT)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|aarch64|arm64")
    set(atto_reason "there are no kernels for ${CMAKE_SYSTEM_PROCESSOR}")
  else()
    find_path(ATTO_XSIMD_INCLUDE_DIR xsimd/xsimd.hpp)
    mark_as_advanced(ATTO_XSIMD_INCLUDE_DIR)
    set(atto_xsimd_major 0)
    if(ATTO_XSIMD_INCLUDE_DIR)
      file(STRINGS ${ATTO_XSIMD_INCLUDE_DIR}/xsimd/config/xsimd_config.hpp
           atto_xsimd_major REGEX "^#define XSIMD_VERSION_MAJOR ")
      string(REGEX REPLACE "[^0-9]" "" atto_xsimd_major "${atto_xsimd_major}")
    endif()
    if(atto_xsimd_major GREATER_EQUAL 13)
      set(atto_float TRUE)
    else()
      set(atto_reason "xsimd 13 or later is missing: run tools/dev setup")
    endif()
  endif()
  if(NOT atto_float AND NOT ATTO_FLOAT STREQUAL "AUTO")
    message(FATAL_ERROR "ATTO_FLOAT asks for the float encoder, but ${atto_reason}")
  endif()
endif()

# Adds the kernels of one architecture to `target`. `id`: as in
# ops/float_backend_list.h; further arguments are compiler flags.
function(atto_add_float_architecture target id name architecture)
  set(kernels atto_float_${name})
  add_library(${kernels} OBJECT ops/float_backends_xsimd.cc)
  atto_library_flags(${kernels})
  target_include_directories(${kernels} PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(${kernels} SYSTEM
                             PRIVATE ${ATTO_XSIMD_INCLUDE_DIR})
  target_compile_definitions(
    ${kernels} PRIVATE ATTO_WITH_XSIMD=1 ATTO_XSIMD_ARCH=${architecture}
                       ATTO_FLOAT_BACKEND=${id} ATTO_FLOAT_NAME="${name}")
  # Optimised in every configuration: without inlining, functions of the standard
  # library would be compiled out of line for this architecture, and the linker
  # might choose them for all. With UndefinedBehaviorSanitizer the fully inlined
  # kernels take GCC 12 minutes and gigabytes, so that they have AddressSanitizer
  # alone. The AVX-512 intrinsics of GCC 12 warn about themselves.
  set(optimise -O3)
  if(ATTO_SANITIZE)
    set(optimise -O1 -fno-sanitize=undefined)
  endif()
  target_compile_options(
    ${kernels}
    PRIVATE ${ARGN} ${optimise} -fno-math-errno
            $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized
            -Wno-maybe-uninitialized -Wno-psabi>)
  set_target_properties(${kernels} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${kernels}>)
endfunction()

# Adds the float encoder and its backends to the library.
function(atto_add_float target)
  if(NOT atto_float)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ops/*/*_f32.cc
       runtime/float_*.cc runtime/*/float_*.cc)
  target_sources(${target} PRIVATE ops/float_backend.cc ${sources})
  target_compile_definitions(${target} PUBLIC ATTO_WITH_XSIMD=1)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(avx2 -mavx2 -mfma)
    atto_add_float_architecture(${target} Sse4 f32_sse4 xsimd::sse4_2 -msse4.2)
    atto_add_float_architecture(${target} Avx2 f32_avx2
                                xsimd::fma3<xsimd::avx2> ${avx2})
    atto_add_float_architecture(
      ${target}
      Avx512
      f32_avx512
      xsimd::avx512bw
      ${avx2}
      -mavx512f
      -mavx512cd
      -mavx512dq
      -mavx512bw)
  else()
    atto_add_float_architecture(${target} Neon f32_neon xsimd::neon64)
  endif()
endfunction()
