// What tests of float kernels need: the backends, inputs, double arithmetic.
#ifndef ATTO_TESTS_SUPPORT_FLOAT_BACKENDS_H_
#define ATTO_TESTS_SUPPORT_FLOAT_BACKENDS_H_

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include "ops/float_backend.h"

namespace atto::testing {

// The float backends of this build that this CPU can run, "f32_ref" first.
inline std::vector<std::reference_wrapper<const FloatBackend>>
RunnableFloatBackends() {
  std::vector<std::reference_wrapper<const FloatBackend>> runnable;
  for (const FloatBackend* const backend : FloatBackends()) {
    if (backend->supported()) runnable.emplace_back(*backend);
  }
  return runnable;
}

using Floats = std::vector<float>;

// Exactly `size` floats on the heap, so that a sanitizer sees the first one
// beyond; NaN, so that a kernel that reads what it should not shows it.
inline Floats Unset(std::size_t size) { return Floats(size, std::nanf("")); }

inline Floats RandomFloats(std::mt19937* random, std::size_t size,
                           float scale = 1) {
  std::normal_distribution<float> normal(0, scale);
  Floats values(size);
  for (float& value : values) value = normal(*random);
  return values;
}

// |found - wanted| <= tolerance for all elements, NaN nowhere.
inline void CheckClose(const Floats& found, const std::vector<double>& wanted,
                       double tolerance) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double error = std::abs(static_cast<double>(found[i]) - wanted[i]);
    if (!(error <= tolerance)) {
      CAPTURE(i);
      CAPTURE(wanted[i]);
      CHECK(static_cast<double>(found[i]) ==
            doctest::Approx(wanted[i]).epsilon(tolerance));
      CHECK(error <= tolerance);
      return;
    }
  }
}

inline MatrixView<const float> Rows(const Floats& values, std::size_t rows) {
  return {values.data(), rows, values.size() / rows};
}
inline MatrixView<float> Rows(Floats* values, std::size_t rows) {
  return {values->data(), rows, values->size() / rows};
}

}  // namespace atto::testing

#endif  // ATTO_TESTS_SUPPORT_FLOAT_BACKENDS_H_
