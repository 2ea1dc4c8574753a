# The portable sources: what every build has, and all that a microcontroller needs
# beside one list of backends. A source is found by its name: a kernel is
# ops/<op>/<op>_<backend>.cc.
#
# Sets atto_sources, absolute paths. Also runs in CMake's script mode, where build
# systems that wrap CMake read their components.

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH atto_root)
set(atto_glob_options CONFIGURE_DEPENDS)
if(CMAKE_SCRIPT_MODE_FILE)
  set(atto_glob_options "")
endif()
file(
  GLOB
  atto_sources
  ${atto_glob_options}
  ${atto_root}/ops/backend.cc
  ${atto_root}/ops/base/*.cc
  ${atto_root}/ops/*/*_ref.cc
  ${atto_root}/runtime/*.cc
  ${atto_root}/runtime/*/*.cc)
list(FILTER atto_sources EXCLUDE REGEX "/float_[a-z_]+\\.cc$")
