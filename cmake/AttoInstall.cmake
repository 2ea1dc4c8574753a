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
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
