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

# Highway that lies beside the build, where no user of the package would find it,
# comes along, in a folder of atto's own.
set(atto_highway_dir "")
if(atto_highway AND hwy_FOUND)
  cmake_path(IS_PREFIX atto_unpacked ${hwy_DIR} NORMALIZE unpacked)
  if(unpacked)
    set(atto_highway_dir ${CMAKE_INSTALL_LIBDIR}/atto)
    get_target_property(library hwy::hwy LOCATION)
    cmake_path(GET library PARENT_PATH folder)
    file(GLOB libraries ${folder}/libhwy.so*)
    install(FILES ${libraries} DESTINATION ${atto_highway_dir})
  endif()
endif()

if(TARGET atto_cli)
  if(atto_highway_dir)
    file(RELATIVE_PATH folder ${CMAKE_INSTALL_FULL_BINDIR}
         ${CMAKE_INSTALL_FULL_LIBDIR}/atto)
    set_target_properties(atto_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${folder}")
  endif()
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
set(atto_libs_private "")
set(atto_pc_definitions "")
if(atto_highway_dir)
  set(folder "\${prefix}/${atto_highway_dir}")
  set(atto_libs_private "-L${folder} -lhwy -Wl,-rpath,${folder}")
elseif(atto_highway)
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
