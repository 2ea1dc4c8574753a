#include "ops/float_backend.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

namespace atto {
namespace {

TEST_CASE("float backends: the portable one is first, names are unique") {
  const Span<const FloatBackend* const> backends = FloatBackends();
  REQUIRE(backends.size() >= 2);
  CHECK(std::string(backends[0]->name) == "f32_ref");
  CHECK(backends[0]->supported());
  for (std::size_t i = 0; i < backends.size(); ++i) {
    CHECK(FindFloatBackend(backends[i]->name) == backends[i]);
  }
  CHECK(FindFloatBackend("none") == nullptr);
}

TEST_CASE("float backends: the environment chooses, without a fallback") {
  const char* const variable = "ATTO_FORCE_FLOAT_BACKEND";
  for (const FloatBackend* const backend : FloatBackends()) {
    REQUIRE(setenv(variable, backend->name, 1) == 0);
    CHECK(DefaultFloatBackend() == (backend->supported() ? backend : nullptr));
  }
  REQUIRE(setenv(variable, "f32_none", 1) == 0);
  CHECK(DefaultFloatBackend() == nullptr);
  REQUIRE(unsetenv(variable) == 0);
  const FloatBackend* const best = DefaultFloatBackend();
  REQUIRE(best != nullptr);
  CHECK(best->supported());
}

}  // namespace
}  // namespace atto
