# Arm's vector extensions under qemu-aarch64: every CPU below must run the backend
# that it is there for, which equals the scalar one over random shapes and the
# golden table. Included by tests/CMakeLists.txt.

function(add_cpu_tests backend cpu)
  set(label ${backend}${ARGN})
  set(test device.${label}.ops.backends)
  add_test(NAME ${test} COMMAND test.ops.backends --no-version)
  atto_test_environment(${test} QEMU_CPU=${cpu})
  set_tests_properties(${test} PROPERTIES TIMEOUT 900)
  atto_add_golden_test(golden.${label} REQUIRE ${backend} ENVIRONMENT
                       QEMU_CPU=${cpu})
endfunction()

if(CMAKE_CXX_FLAGS MATCHES "cortex-a76")
  add_cpu_tests(neon_dot cortex-a76)
else()
  add_cpu_tests(neon cortex-a72)
  add_cpu_tests(sve2_128 max,sve-max-vq=1)
  foreach(quads 2 4 8 16)
    math(EXPR bits "128 * ${quads}")
    add_cpu_tests(sve2 max,sve-max-vq=${quads} _${bits}_bits)
  endforeach()
endif()
