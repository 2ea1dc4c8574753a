# SIMD kernels of host builds. The list of targets is fixed here: compile time
# grows with each. ops/backends_hwy.cc has a name for each.

set(ATTO_SIMD
    AUTO
    CACHE STRING "Highway kernels: ON (fail without Highway), OFF or AUTO")
set_property(CACHE ATTO_SIMD PROPERTY STRINGS ON OFF AUTO)

set(atto_highway FALSE)
if(ATTO_SIMD)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|aarch64|arm64")
    set(atto_reason "there are none for ${CMAKE_SYSTEM_PROCESSOR}")
  else()
    find_package(hwy 1.2 QUIET)
    if(hwy_FOUND)
      set(atto_highway TRUE)
    else()
      set(atto_reason "Highway 1.2 or later is missing: run tools/dev setup")
    endif()
  endif()
  if(NOT atto_highway AND NOT ATTO_SIMD STREQUAL "AUTO")
    message(FATAL_ERROR "ATTO_SIMD asks for SIMD kernels, but ${atto_reason}")
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

# Adds the list of backends to the library: Highway's or the scalar one.
function(atto_add_backends target)
  if(NOT atto_highway)
    target_sources(${target} PRIVATE ops/backends_ref.cc)
    return()
  endif()
  target_sources(${target} PRIVATE ops/backends_hwy.cc)
  target_compile_definitions(${target} PUBLIC ATTO_WITH_HIGHWAY=1)
  target_link_libraries(${target} PRIVATE hwy::hwy)
  atto_highway_source(ops/backends_hwy.cc)
endfunction()
