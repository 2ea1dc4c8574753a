// The smallest program of a user: it includes the public headers, links, runs.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "runtime/classifier.h"
#include "runtime/version.h"

alignas(16) static std::uint8_t arena[20 * 1024];
static atto::TextClassifier spam;

int main() {
  const std::uint8_t no_model[1] = {};
  atto::ErrorInfo error;
  const atto::Status status = spam.Init(no_model, arena, &error);
  std::printf("atto %s: %s\n", atto::version(), atto::StatusMessage(status));
  const bool version_is_right =
      std::strcmp(atto::version(), EXPECTED_VERSION) == 0;
  return version_is_right && status != atto::Status::kOk ? 0 : 1;
}
