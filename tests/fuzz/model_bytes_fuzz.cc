// Any bytes as a model file.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/run_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const atto::testing::FileBytes file(atto::testing::Bytes(data, data + size));
  if (size == 0) return 0;
  atto::fuzz::LoadAndRun(file.span(), {'f', 'r', '3', '3', ' ', 'c', '@'});
  return 0;
}
