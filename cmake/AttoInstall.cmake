# `cmake --install` lays down the library, its headers under include/atto with
# their paths, and the package that `find_package(atto)` reads.

include(CMakePackageConfigHelpers)

install(
  TARGETS atto
  EXPORT atto-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/ops ${PROJECT_SOURCE_DIR}/runtime
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/atto
  FILES_MATCHING
  PATTERN "*.h")
if(TARGET atto_cli)
  install(TARGETS atto_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/atto)
install(
  EXPORT atto-targets
  NAMESPACE atto::
  DESTINATION ${package_dir})
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/atto-config.cmake.in
  ${PROJECT_BINARY_DIR}/atto-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/atto-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/atto-config.cmake
              ${PROJECT_BINARY_DIR}/atto-config-version.cmake
        DESTINATION ${package_dir})

# pkg-config: relocatable, from the file's own place.
file(RELATIVE_PATH atto_prefix_from_pc
     ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(atto_requires "")
set(atto_pc_definitions "")
if(atto_highway)
  set(atto_requires "libhwy >= 1.2")
endif()
get_target_property(definitions atto INTERFACE_COMPILE_DEFINITIONS)
foreach(definition IN LISTS definitions)
  if(definition)
    string(APPEND atto_pc_definitions " -D${definition}")
  endif()
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/packaging/atto.pc.in
               ${PROJECT_BINARY_DIR}/atto.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/atto.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
