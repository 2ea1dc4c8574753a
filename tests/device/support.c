/* What a test of the host finds on a board: standard output, files and the
 * environment, through semihosting. */
#include <stdio.h>
#include <stdlib.h>

/* Of newlib's librdimon; C++ objects with destructors name the second. */
void initialise_monitor_handles(void);
extern void* __dso_handle;
void* __dso_handle;

__attribute__((constructor)) static void StartSystem(void) {
  initialise_monitor_handles();
  /* Nothing is left in a buffer when the board stops. */
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  setenv("ATTO_SOURCE_DIR", ATTO_SOURCE_DIR, 1);
}
