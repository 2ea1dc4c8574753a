# Writes the header that names the revision of the sources: at build time,
# because a commit does not configure anew.
execute_process(
  COMMAND git -C ${source} describe --always --dirty --abbrev=12
  OUTPUT_VARIABLE revision
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT revision)
  set(revision unknown)
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/revision.h.in ${header} @ONLY)
