# Functions that register tests; tests/CMakeLists.txt says which.

# The interpreter that tools/dev set up, else the system's.
set(atto_python ${PROJECT_SOURCE_DIR}/build/venv/bin/python)
if(NOT EXISTS ${atto_python})
  find_program(ATTO_SYSTEM_PYTHON python3 HINTS /usr/bin REQUIRED)
  set(atto_python ${ATTO_SYSTEM_PYTHON})
endif()

# runtime/text/normalizer_test.cc -> runtime.text.normalizer
function(atto_test_name result file)
  get_filename_component(folder ${file} DIRECTORY)
  get_filename_component(stem ${file} NAME_WE)
  string(REGEX REPLACE "_test$" "" stem ${stem})
  string(REPLACE "/" "." name ${folder}/${stem})
  get_filename_component(extension ${file} LAST_EXT)
  if(extension STREQUAL ".c")
    string(APPEND name ".c99")
  elseif(extension STREQUAL ".py")
    string(APPEND name ".py")
  endif()
  set(${result}
      ${name}
      PARENT_SCOPE)
endfunction()

# What every test gets: a time limit and where to find things; further
# environment variables follow the name.
function(atto_test_environment name)
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300)
  set_property(
    TEST ${name}
    PROPERTY ENVIRONMENT
             ATTO_SOURCE_DIR=${PROJECT_SOURCE_DIR}
             ATTO_BUILD_DIR=${PROJECT_BINARY_DIR}
             ATTO_LIBRARY=$<TARGET_FILE:atto>
             ATTO_TEXT_LIB=${PROJECT_BINARY_DIR}/libatto_text.so
             ATTO_AUDIO_LIB=${PROJECT_BINARY_DIR}/libatto_audio.so
             ATTO_SANITIZE=${ATTO_SANITIZE}
             ATTO_NM=${CMAKE_NM}
             ATTO_READELF=${CMAKE_READELF}
             ATTO_OBJDUMP=${CMAKE_OBJDUMP}
             PYTHONPATH=${PROJECT_SOURCE_DIR}
             PYTHONDONTWRITEBYTECODE=1
             ${ARGN})
endfunction()

# atto_add_test(name SOURCES file... [LIBRARIES target...]): a doctest module.
function(atto_add_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  set(target test.${name})
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE atto_doctest_main ${arg_LIBRARIES})
  atto_common_flags(${target})
  # GCC 12 for AArch64 breaks down while it vectorises a test's own loop.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CROSSCOMPILING)
    target_compile_options(${target} PRIVATE -fno-tree-vectorize)
  endif()
  add_test(NAME ${name} COMMAND ${target} --no-version)
  atto_test_environment(${name})
endfunction()

# The same for C99 sources with a main of their own.
function(atto_add_c_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  set(target test.${name})
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
  atto_common_flags(${target})
  add_test(NAME ${name} COMMAND ${target})
  atto_test_environment(${name})
endfunction()

# Python itself is not built with the sanitizers: what it loads needs their
# run-time to come first.
set(atto_python_environment "")
if(ATTO_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libasan.so
    OUTPUT_VARIABLE atto_asan
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(atto_python_environment "LD_PRELOAD=${atto_asan}"
                              "ASAN_OPTIONS=detect_leaks=0")
endif()

# A unittest file.
function(atto_add_python_test name file)
  add_test(NAME ${name}
           COMMAND ${atto_python} ${PROJECT_SOURCE_DIR}/tests/run_unittest.py
                   ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  atto_test_environment(${name} ${atto_python_environment})
endfunction()

# A source that must compile without ATTO_COMPILE_FAIL, and with it must fail
# with a message that matches the regular expression after `// expect: `.
function(atto_add_compile_fail_test name file)
  add_test(
    NAME ${name}
    COMMAND
      ${CMAKE_COMMAND} -D compiler=${CMAKE_CXX_COMPILER} -D
      source=${CMAKE_CURRENT_SOURCE_DIR}/${file} -D
      root=${PROJECT_SOURCE_DIR} -P
      ${PROJECT_SOURCE_DIR}/cmake/AttoCompileFail.cmake)
  atto_test_environment(${name})
endfunction()
