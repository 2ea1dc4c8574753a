# Which kernels the library has beside the scalar ones: Highway's on x86-64 and
# AArch64, `dsp` or `helium` on Cortex-M.
#
# The list of Highway's targets is fixed here: compile time grows with each.
# ops/backends_hwy.cc has a name for each.

set(ATTO_SIMD
    AUTO
    CACHE STRING "SIMD kernels: ON (fail if there are none), OFF or AUTO")
set_property(CACHE ATTO_SIMD PROPERTY STRINGS ON OFF AUTO)

# Kernels of a Cortex-M by what the compiler says that its flags allow, so that
# no build takes scalar code for SIMD code.
function(atto_find_mcu_kernels result reason)
  include(CheckCXXSourceCompiles)
  set(kernels "")
  set(why "this core has neither the DSP extension nor MVE")
  check_cxx_source_compiles(
    "#if !(__ARM_FEATURE_MVE & 1)\n#error\n#endif" ATTO_TARGET_HAS_MVE)
  check_cxx_source_compiles(
    "#if !__ARM_FEATURE_DSP || __ARM_ARCH_PROFILE != 'M'\n#error\n#endif"
    ATTO_TARGET_HAS_DSP)
  if(ATTO_TARGET_HAS_MVE)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION
                                                VERSION_LESS 13)
      set(why "GCC ${CMAKE_CXX_COMPILER_VERSION} breaks down on MVE code:\
 use GCC 13 or clang (ATTO_USE_CLANG)")
    else()
      set(kernels helium)
    endif()
  elseif(ATTO_TARGET_HAS_DSP)
    set(kernels dsp)
  endif()
  if(kernels AND NOT EXISTS ${PROJECT_SOURCE_DIR}/ops/backends_${kernels}.cc)
    set(why "there are no kernels for ${kernels}")
    set(kernels "")
  endif()
  set(${result}
      "${kernels}"
      PARENT_SCOPE)
  set(${reason}
      "${why}"
      PARENT_SCOPE)
endfunction()

set(atto_highway FALSE)
set(atto_mcu_kernels "")
if(ATTO_SIMD)
  if(CMAKE_SYSTEM_NAME STREQUAL "Generic")
    atto_find_mcu_kernels(atto_mcu_kernels atto_reason)
  elseif(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|aarch64|arm64")
    set(atto_reason "there are none for ${CMAKE_SYSTEM_PROCESSOR}")
  else()
    find_package(hwy 1.2 QUIET)
    if(NOT hwy_FOUND AND NOT ATTO_SIMD STREQUAL "AUTO")
      atto_fetch_highway()
    endif()
    if(TARGET hwy::hwy)
      set(atto_highway TRUE)
    else()
      set(atto_reason "Highway 1.2 or later is missing: run tools/dev setup, \
or configure with -D ATTO_SIMD=ON, which fetches it")
    endif()
  endif()
  if(NOT atto_highway
     AND NOT atto_mcu_kernels
     AND NOT ATTO_SIMD STREQUAL "AUTO")
    message(FATAL_ERROR "ATTO_SIMD asks for SIMD kernels, but ${atto_reason}")
  elseif(NOT atto_highway AND NOT atto_mcu_kernels)
    message(STATUS "atto has scalar kernels alone: ${atto_reason}")
  endif()
endif()

# Flags of a source that Highway compiles once a target.
function(atto_highway_source file)
  # HWY_WANT_AVX3_DL: VNNI is not among Highway's default targets.
  set_source_files_properties(
    ${file}
    PROPERTIES
      COMPILE_DEFINITIONS
      "HWY_WANT_AVX3_DL=1;HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_AVX3_ZEN4|HWY_AVX3_SPR|HWY_NEON|HWY_SVE|HWY_SVE_256)"
      COMPILE_OPTIONS
      "-Wno-pedantic;-Wno-shadow;-Wno-cast-align;-Wno-old-style-cast;$<$<CONFIG:Debug>:-O1>"
  )
endfunction()

# Adds kernels and the list of backends to the library.
function(atto_add_backends target)
  if(atto_mcu_kernels)
    file(GLOB sources CONFIGURE_DEPENDS ops/*/*_${atto_mcu_kernels}.cc)
    target_sources(${target} PRIVATE ops/backends_${atto_mcu_kernels}.cc
                                     ${sources})
    string(TOUPPER ${atto_mcu_kernels} name)
    target_compile_definitions(${target} PUBLIC ATTO_WITH_${name}=1)
    # Where a few hundred bytes buy the most: these stay fast in small builds.
    set_source_files_properties(
      ops/matmul/matmul_dsp.cc ops/layernorm/layernorm_dsp.cc
      PROPERTIES COMPILE_OPTIONS $<$<CONFIG:MinSizeRel>:-O2>)
    # Clang's -Os still trades size for speed, in the tokenizer 5 KB of it.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      set(small ${atto_sources})
      list(FILTER small INCLUDE REGEX "/runtime/")
      set_source_files_properties(
        ${small} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:MinSizeRel>:-Oz>)
    endif()
    return()
  endif()
  if(NOT atto_highway)
    target_sources(${target} PRIVATE ops/backends_ref.cc)
    return()
  endif()
  target_sources(${target} PRIVATE ops/backends_hwy.cc)
  target_compile_definitions(${target} PUBLIC ATTO_WITH_HIGHWAY=1)
  target_link_libraries(${target} PRIVATE hwy::hwy)
  atto_highway_source(ops/backends_hwy.cc)
endfunction()
