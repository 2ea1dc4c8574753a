# atto as a component of ESP-IDF: the root CMakeLists.txt includes this file. The
# scalar kernels.
include(${CMAKE_CURRENT_LIST_DIR}/../AttoSources.cmake)
idf_component_register(SRCS ${atto_sources} ${atto_root}/ops/backends_ref.cc
                       INCLUDE_DIRS ${atto_root})
