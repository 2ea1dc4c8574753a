/* The same in C. */
#include <string.h>

#include "runtime/c_api.h"

int main(void) { return strcmp(atto_version(), EXPECTED_VERSION) == 0 ? 0 : 1; }
