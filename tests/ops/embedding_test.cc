#include "ops/embedding/embedding.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "ops/backend.h"
#include "tests/support/backends.h"
#include "tests/support/golden.h"

namespace atto {
namespace {

TEST_CASE("embedding: golden vectors") {
  for (const testing::GoldenCase& golden : testing::ReadGolden("embedding")) {
    CAPTURE(golden.name);
    const auto table = golden.Values<std::int8_t>("table");
    const auto rows = golden.Values<std::uint16_t>("rows");
    Embedding embedding;
    embedding.table = table.data();
    embedding.rows = static_cast<std::uint16_t>(golden.Dim("table", 0));
    embedding.width = static_cast<std::uint16_t>(golden.Dim("table", 1));
    embedding.multiplier =
        static_cast<std::int16_t>(golden.Scalar("multiplier"));
    for (const Backend& backend : testing::RunnableBackends()) {
      CAPTURE(backend.name);
      std::vector<std::int8_t> y(embedding.width, 99);
      backend.embedding_sum_s8(embedding, {rows.data(), rows.size()}, y.data());
      CHECK(y == golden.Values<std::int8_t>("y"));
    }
  }
}

TEST_CASE("embedding: a token without rows is zero") {
  const std::int8_t table[] = {1, 2, 3};
  Embedding embedding;
  embedding.table = table;
  embedding.rows = 1;
  embedding.width = 3;
  for (const Backend& backend : testing::RunnableBackends()) {
    std::vector<std::int8_t> y(3, 99);
    backend.embedding_sum_s8(embedding, {}, y.data());
    CHECK(y == std::vector<std::int8_t>{0, 0, 0});
  }
}

}  // namespace
}  // namespace atto
