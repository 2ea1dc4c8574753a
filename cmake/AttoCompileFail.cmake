# cmake -D compiler= -D source= -D root= -P AttoCompileFail.cmake
# See atto_add_compile_fail_test.

file(STRINGS ${source} expectation REGEX "^// expect: " LIMIT_COUNT 1)
if(NOT expectation)
  message(FATAL_ERROR "${source} has no line '// expect: REGEX'")
endif()
string(REPLACE "// expect: " "" expectation "${expectation}")

set(command ${compiler} -std=c++17 -fsyntax-only -I${root} ${source})
execute_process(
  COMMAND ${command}
  RESULT_VARIABLE result
  ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "must compile without ATTO_COMPILE_FAIL:\n${output}")
endif()
execute_process(
  COMMAND ${command} -DATTO_COMPILE_FAIL
  RESULT_VARIABLE result
  ERROR_VARIABLE output)
if(result EQUAL 0)
  message(FATAL_ERROR "compiles, although it must not")
endif()
if(NOT output MATCHES "${expectation}")
  message(FATAL_ERROR "fails, but not with '${expectation}':\n${output}")
endif()
message(STATUS "fails as it must: ${expectation}")
