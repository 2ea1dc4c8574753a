// The smallest program of a user: it includes the public headers, links, runs.
#include <cstdio>
#include <cstring>

#include "runtime/version.h"

int main() {
  std::printf("atto %s\n", atto::version());
  return std::strcmp(atto::version(), EXPECTED_VERSION) == 0 ? 0 : 1;
}
