#include "runtime/float_encoder.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/aligned_bytes.h"
#include "tests/support/float_backends.h"
#include "tests/support/golden.h"

namespace atto {
namespace {

using testing::AlignedBytes;
using testing::GoldenCase;
using testing::ReadGolden;
using testing::RunnableFloatBackends;
using testing::SourceDir;

const char* const kModels[] = {"pre_mean_gelu", "post_mean_gelu",
                               "pre_class_relu", "post_class_relu"};

// A float encoder with the memory that its caller owns.
struct LoadedModel {
  explicit LoadedModel(const std::string& name,
                       const FloatBackend& backend = *DefaultFloatBackend())
      : file(AlignedBytes::Read(SourceDir() + "/tests/golden/float_models/" +
                                name + ".gguf")) {
    ErrorInfo error;
    EncoderShape shape;
    REQUIRE(FloatModel::ReadShape(file.span(), &shape, &error) == Status::kOk);
    arena = AlignedBytes(FloatArenaBytes(shape, backend.memory));
    const Status status =
        encoder.Init(file.span(), arena.span(), &error, &backend);
    CAPTURE(error.subject);
    CAPTURE(error.expectation);
    REQUIRE(status == Status::kOk);
  }

  Span<const float> Run(const GoldenCase& golden) {
    encoder.Start();
    if (golden.Has("rows")) {
      const auto rows = golden.Values<std::uint16_t>("rows");
      std::size_t first = 0;
      for (const std::int64_t count : golden.Array("row_counts").values) {
        const auto size = static_cast<std::size_t>(count);
        REQUIRE(encoder.AddToken({rows.data() + first, size}));
        first += size;
      }
    } else {
      const std::size_t e = encoder.model().shape().d_input;
      const auto input = golden.Values<std::int8_t>("input");
      for (std::size_t i = 0; i < input.size(); i += e) {
        float* const row = encoder.NextRow();
        REQUIRE(row != nullptr);
        for (std::size_t j = 0; j < e; ++j) row[j] = input[i + j];
      }
    }
    Span<const float> logits;
    REQUIRE(encoder.Run(&logits) == Status::kOk);
    return logits;
  }

  AlignedBytes file;
  AlignedBytes arena;
  FloatEncoder encoder;
};

TEST_CASE("float encoder: golden models, on every backend") {
  for (const char* const name : kModels) {
    CAPTURE(name);
    for (const FloatBackend& backend : RunnableFloatBackends()) {
      CAPTURE(backend.name);
      LoadedModel model(name, backend);
      for (const GoldenCase& golden :
           ReadGolden(std::string("float_models/") + name)) {
        CAPTURE(golden.name);
        const Span<const float> logits = model.Run(golden);
        const std::vector<std::int64_t>& wanted = golden.Array("logits").values;
        REQUIRE(logits.size() == wanted.size());
        double largest = 0;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
          const double error = std::abs(
              double{logits[i]} - static_cast<double>(wanted[i]) / (1 << 20));
          largest = error > largest || std::isnan(error) ? error : largest;
        }
        CHECK(largest <= 2e-5);
      }
    }
  }
}

TEST_CASE("float encoder: an arena of the default size suits every backend") {
  for (const char* const name : kModels) {
    CAPTURE(name);
    LoadedModel model(name);
    const EncoderShape& shape = model.encoder.model().shape();
    for (const FloatBackend& backend : RunnableFloatBackends()) {
      CHECK(FloatArenaBytes(shape, backend.memory) <= FloatArenaBytes(shape));
    }
  }
}

TEST_CASE("float encoder: a full sequence takes no more rows") {
  LoadedModel model("pre_mean_gelu");
  const std::uint16_t rows[] = {1, 2};
  model.encoder.Start();
  for (std::size_t i = 0; i < model.encoder.model().shape().tokens; ++i) {
    REQUIRE(model.encoder.AddToken(rows));
  }
  CHECK_FALSE(model.encoder.AddToken(rows));
  CHECK(model.encoder.NextRow() == nullptr);
  CHECK(model.encoder.rows() == model.encoder.model().shape().tokens);
  Span<const float> logits;
  CHECK(model.encoder.Run(&logits) == Status::kOk);
}

TEST_CASE("float encoder: running without input is an error") {
  for (const char* const name : kModels) {
    LoadedModel model(name);
    Span<const float> logits;
    model.encoder.Start();
    CHECK(model.encoder.Run(&logits) == Status::kEmptyInput);
  }
  FloatEncoder never_initialised;
  Span<const float> logits;
  CHECK(never_initialised.Run(&logits) == Status::kNotInitialized);
}

TEST_CASE("float encoder: Init names the argument that is wrong") {
  LoadedModel model("pre_mean_gelu");
  const Span<const std::uint8_t> file = model.file.span();
  const Span<std::uint8_t> arena = model.arena.span();
  FloatEncoder encoder;
  ErrorInfo error;
  CHECK(encoder.Init({}, arena, &error) == Status::kNullPointer);
  CHECK(std::string(error.subject) == "model");
  CHECK(encoder.Init(file, {}, &error) == Status::kNullPointer);
  CHECK(std::string(error.subject) == "arena");
  const std::size_t needed = FloatArenaBytes(model.encoder.model().shape(),
                                             DefaultFloatBackend()->memory);
  CHECK(encoder.Init(file, arena.subspan(0, needed - 1), &error) ==
        Status::kBufferTooSmall);
  CHECK(error.found == static_cast<std::int64_t>(needed - 1));
  CHECK(error.expected == static_cast<std::int64_t>(needed));
  CHECK(encoder.Init(file, arena, &error, nullptr) == Status::kUnsupported);
  CHECK(std::string(error.subject) == "backend");
  CHECK(encoder.Init(file, arena.subspan(1, arena.size() - 1), &error) ==
        Status::kMisaligned);
  CHECK(encoder.Init(file, arena) == Status::kOk);
  // A failed second Init leaves nothing that points into the first file.
  CHECK(encoder.Init({}, arena) == Status::kNullPointer);
  CHECK(encoder.model().shape().classes == 0);
}

}  // namespace
}  // namespace atto
