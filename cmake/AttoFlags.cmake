# Compiler flags: of everything that atto builds, and of the library alone.

set(atto_warnings
    -Wall
    -Wextra
    -Wpedantic
    -Wshadow
    -Wconversion
    -Wsign-conversion
    -Wcast-align
    $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast>)

# Warnings and sanitizers of any target of this project.
function(atto_common_flags target)
  target_compile_options(${target} PRIVATE ${atto_warnings})
  if(ATTO_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  set_target_properties(
    ${target}
    PROPERTIES CXX_STANDARD 17
               CXX_STANDARD_REQUIRED ON
               CXX_EXTENSIONS OFF
               C_STANDARD 99
               C_STANDARD_REQUIRED ON
               C_EXTENSIONS OFF
               CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON)
  if(ATTO_FUZZ) # counters of the branches taken; libFuzzer reads them
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(${target} PUBLIC -fsanitize=fuzzer-no-link)
  endif()
  if(ATTO_SANITIZE)
    set(sanitize
        -fsanitize=${ATTO_SANITIZE}
        -fno-sanitize-recover=all
        -fno-omit-frame-pointer)
    # The vptr check needs RTTI, which the library does without.
    target_compile_options(${target} PRIVATE ${sanitize} -fno-sanitize=vptr)
    # An executable that links the static library needs the run-time, too.
    target_link_options(${target} PUBLIC ${sanitize})
  endif()
endfunction()

# Sources that read a command line and print: a third of the time to compile
# goes into optimising their templates, which nobody waits for at run time.
function(atto_compile_quickly)
  set_source_files_properties(
    ${ARGN} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O1>)
endfunction()

# The library itself: no exceptions, no RTTI, no guards around statics.
function(atto_library_flags target)
  atto_common_flags(${target})
  target_compile_options(
    ${target}
    PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions
            -fno-rtti
            -fno-threadsafe-statics>)
  if(ATTO_SANITIZE) # where the time goes; the rest builds faster without
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()
