/* What a test of the host finds on a board: standard output, files and the
 * environment, through semihosting. */
#include <stdio.h>
#include <stdlib.h>

/* What newlib wants of the files that -nostartfiles leaves out. */
void* __dso_handle;
void _init(void);
void _fini(void);
void _init(void) {}
void _fini(void) {}

void initialise_monitor_handles(void); /* of newlib */

__attribute__((constructor)) static void StartSystem(void) {
  initialise_monitor_handles();
  /* Nothing is left in a buffer when the board stops. */
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  setenv("ATTO_SOURCE_DIR", ATTO_SOURCE_DIR, 1);
}
