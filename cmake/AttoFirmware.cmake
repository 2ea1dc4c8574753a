# Firmware: models as constants, programs for a board.

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH atto_source_dir)
# Cached: projects that embed this one call the functions below, too.
set(atto_source_dir
    ${atto_source_dir}
    CACHE INTERNAL "")
set(atto_boards_dir
    ${atto_source_dir}/firmware_examples/boards
    CACHE INTERNAL "")
find_program(ATTO_QEMU_SYSTEM_ARM qemu-system-arm)
mark_as_advanced(ATTO_QEMU_SYSTEM_ARM)
find_program(ATTO_HOST_PYTHON python3 HINTS /usr/bin)
mark_as_advanced(ATTO_HOST_PYTHON)

# A compiler for the computer that builds, whatever the program is built for.
find_program(ATTO_HOST_CXX NAMES c++ g++ clang++ NO_CMAKE_FIND_ROOT_PATH)
mark_as_advanced(ATTO_HOST_CXX)

# The reader of models as a program for the computer that builds: the sources
# that a device would have read the model with.
set(atto_reader_program
    ${CMAKE_BINARY_DIR}/embed_parts${CMAKE_HOST_EXECUTABLE_SUFFIX}
    CACHE INTERNAL "")
set(atto_reader_sources
    tools/embed_parts.cc
    runtime/error_info.cc
    runtime/model/crc32.cc
    runtime/model/gguf.cc
    runtime/model/model.cc
    runtime/model/model_reader.cc
    runtime/text/fold_table.cc
    runtime/text/normalizer.cc
    runtime/text/tokenizer.cc)
list(TRANSFORM atto_reader_sources PREPEND ${atto_source_dir}/)
set(atto_reader_sources
    ${atto_reader_sources}
    CACHE INTERNAL "")
function(atto_need_reader)
  if(TARGET atto_reader)
    return()
  endif()
  add_custom_command(
    OUTPUT ${atto_reader_program}
    COMMAND ${ATTO_HOST_CXX} -std=c++17 -O1 -I${atto_source_dir}
            ${atto_reader_sources} -o ${atto_reader_program}
    DEPENDS ${atto_reader_sources}
    COMMENT "Building the reader that checks embedded models"
    VERBATIM)
  add_custom_target(atto_reader DEPENDS ${atto_reader_program})
endfunction()

# atto_embed_model(target model.gguf [TOKENS n] [NAME name])
#
# A library with the model as aligned constants in flash, and "<target>.h":
#   namespace <target> {
#   struct Model { static constexpr atto::EncoderShape kShape; };  // for Arena
#   constexpr const atto::EmbeddedModel& kModel;        // for Init
#   constexpr atto::Span<const std::uint8_t> kBytes;     // the file
#   }
# and for C <target>_embedded, <target>_bytes, <target>_size, <target>_arena,
# <target>_arena_size. The build reads the model as Init would read the file, and
# fails where it would. Without a compiler for the computer that builds
# (ATTO_HOST_CXX) that cannot be: then there is kBytes alone.
# TOKENS: the embedded model takes fewer tokens than the file, and so less RAM.
# NAME: of header and constants, where it is not the target's.
function(atto_embed_model target model)
  cmake_parse_arguments(arg "" "TOKENS;NAME" "" ${ARGN})
  if(NOT arg_NAME)
    set(arg_NAME ${target})
  endif()
  if(NOT ATTO_HOST_PYTHON)
    message(FATAL_ERROR "atto_embed_model runs python3, which is not installed")
  endif()
  cmake_path(ABSOLUTE_PATH model)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target})
  set(script ${atto_source_dir}/tools/embed_model.py)
  set(options --name ${arg_NAME} --out ${folder})
  if(arg_TOKENS)
    list(APPEND options --tokens ${arg_TOKENS})
  endif()
  set(reader "")
  if(ATTO_HOST_CXX)
    atto_need_reader()
    list(APPEND options --reader ${atto_reader_program})
    set(reader atto_reader ${atto_reader_sources})
  else()
    message(STATUS "${target} has no kModel: no host compiler (ATTO_HOST_CXX)")
  endif()
  add_custom_command(
    OUTPUT ${folder}/${arg_NAME}.cc ${folder}/${arg_NAME}.h
    COMMAND ${ATTO_HOST_PYTHON} ${script} ${model} ${options}
    DEPENDS ${model} ${script} ${reader}
    COMMENT "Embedding ${target}"
    VERBATIM)
  add_library(${target} STATIC ${folder}/${arg_NAME}.cc)
  target_include_directories(${target} PUBLIC ${folder})
  target_link_libraries(${target} PUBLIC atto::atto)
endfunction()

# atto_embed_clip(target clip.wav [NAME name])
#
# A library with the samples of a WAV file, 16 bits and mono, as constants, and
# "<target>.h": <target>_samples, <target>_size, <target>_rate.
function(atto_embed_clip target clip)
  cmake_parse_arguments(arg "" "NAME" "" ${ARGN})
  if(NOT arg_NAME)
    set(arg_NAME ${target})
  endif()
  cmake_path(ABSOLUTE_PATH clip)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target})
  set(script ${atto_source_dir}/tools/embed_clip.py)
  add_custom_command(
    OUTPUT ${folder}/${arg_NAME}.c ${folder}/${arg_NAME}.h
    COMMAND ${ATTO_HOST_PYTHON} ${script} ${clip} --name ${arg_NAME} --out
            ${folder}
    DEPENDS ${clip} ${script}
    COMMENT "Embedding ${target}"
    VERBATIM)
  add_library(${target} STATIC ${folder}/${arg_NAME}.c)
  target_include_directories(${target} PUBLIC ${folder})
endfunction()

# The support code of a board as a library, atto_board_<board>. `board` is the
# name of a file in firmware_examples/boards, or the path of one of your own; so
# is `board_device` in it, a path relative to the file.
#
# Properties: ATTO_MACHINE, QEMU's name; ATTO_SCRIPT; ATTO_BOARD_FILE and
# ATTO_DEVICE, absolute paths; ATTO_TEST_RAM, the board's line of memory for
# programs that need more.
function(atto_add_board board result)
  cmake_path(GET board STEM LAST_ONLY name)
  set(target atto_board_${name})
  set(${result}
      ${target}
      PARENT_SCOPE)
  if(TARGET ${target})
    return()
  endif()
  set(file ${board})
  cmake_path(ABSOLUTE_PATH file)
  if(EXISTS ${atto_boards_dir}/${board}.cmake)
    set(file ${atto_boards_dir}/${board}.cmake)
  elseif(NOT EXISTS "${file}" OR IS_DIRECTORY "${file}")
    file(GLOB known RELATIVE ${atto_boards_dir} ${atto_boards_dir}/*.cmake)
    list(TRANSFORM known REPLACE "\\.cmake$" "")
    list(JOIN known ", " known)
    message(FATAL_ERROR "no board '${board}': there are ${known}, or the path "
                        "of a file like theirs")
  endif()
  foreach(variable machine device definitions test_ram)
    set(board_${variable} "")
  endforeach()
  include(${file})
  cmake_path(GET file PARENT_PATH folder)
  set(device ${board_device})
  cmake_path(ABSOLUTE_PATH device BASE_DIRECTORY ${folder})
  if(EXISTS ${atto_boards_dir}/${board_device}.c)
    set(device ${atto_boards_dir}/${board_device}.c)
  elseif(NOT EXISTS "${device}" OR IS_DIRECTORY "${device}")
    message(FATAL_ERROR "${file}: no board_device '${board_device}': it is cmsdk, "
                        "nrf51, or the path of a source beside the board's file")
  endif()
  set(script ${CMAKE_BINARY_DIR}/boards/${name}.ld)
  list(TRANSFORM board_memory PREPEND "  ")
  list(JOIN board_memory "\n" board_memory_lines)
  configure_file(${atto_boards_dir}/cortex_m.ld.in ${script} @ONLY)
  add_library(
    ${target} OBJECT
    ${atto_boards_dir}/startup.c ${atto_boards_dir}/board.c ${device})
  atto_common_flags(${target})
  set_target_properties(${target} PROPERTIES C_EXTENSIONS ON) # inline assembly
  target_compile_definitions(${target} PRIVATE ${board_definitions})
  target_include_directories(${target} PUBLIC ${atto_boards_dir})
  target_link_options(${target} INTERFACE -nostartfiles -T${script}
                      -Wl,--gc-sections -Wl,-z,noexecstack)
  set_target_properties(
    ${target}
    PROPERTIES ATTO_MACHINE "${board_machine}"
               ATTO_SCRIPT ${script}
               ATTO_BOARD_FILE ${file}
               ATTO_DEVICE ${device}
               ATTO_TEST_RAM "${board_test_ram}")
endfunction()

# atto_add_firmware(name BOARD board SOURCES file... [LIBRARIES target...]
#                   [INPUT file] [EXPECT file] [NO_TEST])
#
# Builds name.elf, name.bin, name.map and prints its size. Where QEMU emulates
# the board and testing is enabled, a test runs it: exit status 0, INPUT typed on the UART, and every
# line of EXPECT, a regular expression, found in the output in that order.
function(atto_add_firmware name)
  cmake_parse_arguments(arg "NO_TEST" "BOARD;INPUT;EXPECT" "SOURCES;LIBRARIES" ${ARGN})
  atto_add_board(${arg_BOARD} board)
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${board} ${arg_LIBRARIES})
  atto_common_flags(${name})
  target_compile_options(
    ${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti
                    -fno-threadsafe-statics>)
  target_link_options(${name} PRIVATE --specs=nano.specs --specs=nosys.specs
                      -Wl,-Map=${CMAKE_CURRENT_BINARY_DIR}/${name}.map)
  get_target_property(script ${board} ATTO_SCRIPT)
  set_target_properties(${name} PROPERTIES SUFFIX .elf LINK_DEPENDS ${script})
  add_custom_command(
    TARGET ${name}
    POST_BUILD
    COMMAND ${CMAKE_OBJCOPY} -O binary $<TARGET_FILE:${name}>
            ${CMAKE_CURRENT_BINARY_DIR}/${name}.bin
    COMMAND ${CMAKE_SIZE} $<TARGET_FILE:${name}>
    BYPRODUCTS ${CMAKE_CURRENT_BINARY_DIR}/${name}.bin ${CMAKE_CURRENT_BINARY_DIR}/${name}.map
    VERBATIM)
  if(TARGET firmware_examples AND NOT arg_NO_TEST)
    add_dependencies(firmware_examples ${name})
  endif()
  get_target_property(machine ${board} ATTO_MACHINE)
  if(NOT machine OR arg_NO_TEST)
    return()
  endif()
  set(options "")
  foreach(option INPUT EXPECT)
    if(arg_${option})
      cmake_path(ABSOLUTE_PATH arg_${option})
      string(TOLOWER ${option} flag)
      list(APPEND options --${flag} ${arg_${option}})
    endif()
  endforeach()
  add_test(NAME firmware.${name}
           COMMAND ${ATTO_HOST_PYTHON}
                   ${atto_source_dir}/tools/run_firmware.py --machine
                   ${machine} ${options} $<TARGET_FILE:${name}>)
  set_tests_properties(firmware.${name} PROPERTIES SKIP_RETURN_CODE 77
                                                   TIMEOUT 120)
endfunction()
