# Libraries of the host-only parts (tests, tools, benchmarks) and of the SIMD
# kernels: the system's if it has one, else a release pinned by its hash. A
# scalar library needs none.

include(FetchContent)

# Libraries that tools/dev unpacked because the distribution's are too old, or
# are not those of the target.
set(atto_unpacked ${PROJECT_SOURCE_DIR}/build/deps)
if(CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  string(APPEND atto_unpacked "-arm64")
endif()
if(EXISTS ${atto_unpacked}/usr)
  list(APPEND CMAKE_PREFIX_PATH ${atto_unpacked}/usr)
endif()

# Makes the CMake package `name` available: find_package first, then `url`.
macro(atto_dependency name version url sha256)
  find_package(${name} ${version} QUIET)
  if(NOT ${name}_FOUND)
    message(STATUS "${name} ${version} or later is not installed: fetching it")
    FetchContent_Declare(${name} URL ${url} URL_HASH SHA256=${sha256})
    FetchContent_MakeAvailable(${name})
  endif()
endmacro()

macro(atto_need_doctest)
  atto_dependency(
    doctest 2.4.6
    https://github.com/doctest/doctest/archive/refs/tags/v2.4.11.tar.gz
    632ed2c05a7f53fa961381497bf8069093f0d6628c5f26286161fbd32a560186)
endmacro()

macro(atto_need_cli11)
  atto_dependency(
    CLI11 2.1 https://github.com/CLIUtils/CLI11/archive/v2.4.1.tar.gz
    73b7ec52261ce8fe980a29df6b4ceb66243bb0b779451e820d9d6e7e8c4fce6c)
endmacro()

macro(atto_need_json)
  atto_dependency(
    nlohmann_json 3.10
    https://github.com/nlohmann/json/releases/download/v3.11.3/json.tar.xz
    d6c65aca6b1ed68e7a182f4757257b107ae403032760ed6ef121c9d55e81757d)
endmacro()

# Sound files, sample rate conversion and PNG: system libraries only.
macro(atto_need_sound)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(atto_sound_libraries QUIET IMPORTED_TARGET sndfile soxr
                      libpng)
  endif()
  if(NOT atto_sound_libraries_FOUND)
    message(FATAL_ERROR "pkg-config, libsndfile, soxr or libpng is missing: run "
                        "tools/dev setup, or configure with "
                        "-D ATTO_BUILD_TOOLS=OFF")
  endif()
  add_library(atto_sound INTERFACE)
  target_link_libraries(atto_sound INTERFACE PkgConfig::atto_sound_libraries)
endmacro()

macro(atto_need_benchmark)
  set(BENCHMARK_ENABLE_TESTING OFF)
  atto_dependency(
    benchmark 1.6 https://github.com/google/benchmark/archive/refs/tags/v1.8.3.tar.gz
    6bc180a57d23d4d9515519f92b0c83d61b05b5bab188961f36ac7b06b0d9e9ce)
endmacro()

# Highway from its release, for a build that asks for SIMD where the system has
# none: static, and without its tests, examples and extras.
macro(atto_fetch_highway)
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW) # what is set here are its options
  set(HWY_ENABLE_CONTRIB OFF)
  set(HWY_ENABLE_EXAMPLES OFF)
  set(HWY_ENABLE_TESTS OFF)
  set(HWY_FORCE_STATIC_LIBS ON)
  atto_dependency(
    hwy 1.2 https://github.com/google/highway/archive/refs/tags/1.2.0.tar.gz
    7e0be78b8318e8bdbf6fa545d2ecb4c90f947df03f7aadc42c1967f019e63343)
  if(TARGET hwy AND NOT TARGET hwy::hwy)
    add_library(hwy::hwy ALIAS hwy)
  endif()
endmacro()
