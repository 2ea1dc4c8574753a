// What tests need to run any backend.
#ifndef ATTO_TESTS_SUPPORT_BACKENDS_H_
#define ATTO_TESTS_SUPPORT_BACKENDS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "ops/backend.h"
#include "tests/support/aligned_bytes.h"

namespace atto::testing {

// The backends of this build that this CPU can run, "ref" first.
inline std::vector<std::reference_wrapper<const Backend>> RunnableBackends() {
  std::vector<std::reference_wrapper<const Backend>> runnable;
  for (const Backend* const backend : Backends()) {
    if (backend->supported()) runnable.emplace_back(*backend);
  }
  return runnable;
}

// A linear layer as one backend wants it.
class PackedLinear {
 public:
  PackedLinear(const Linear& linear, const Backend& backend)
      : linear_(linear),
        memory_(PackedLinearBytes(backend.memory, linear.in, linear.out)) {
    if (backend.pack_linear == nullptr) return;
    const std::size_t bytes = backend.pack_linear(linear, memory_.data());
    REQUIRE(bytes <= memory_.size());
    REQUIRE(bytes % kPackAlignment == 0);
    linear_.packed = memory_.data();
  }
  const Linear& linear() const { return linear_; }

 private:
  Linear linear_;
  AlignedBytes memory_;
};

}  // namespace atto::testing

#endif  // ATTO_TESTS_SUPPORT_BACKENDS_H_
