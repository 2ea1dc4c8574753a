#include "runtime/encoder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/support/aligned_bytes.h"
#include "tests/support/backends.h"
#include "tests/support/golden.h"

namespace atto {
namespace {

using testing::AlignedBytes;
using testing::GoldenCase;
using testing::ReadGolden;
using testing::SourceDir;

const char* const kModels[] = {"pre_mean_gelu", "post_mean_gelu",
                               "pre_class_relu", "post_class_relu"};

// An encoder with the memory that its caller owns.
struct LoadedModel {
  explicit LoadedModel(const std::string& name,
                       const Backend* backend = DefaultBackend())
      : file(AlignedBytes::Read(SourceDir() + "/tests/golden/models/" + name +
                                ".gguf")) {
    ErrorInfo error;
    EncoderShape shape;
    REQUIRE(Model::ReadShape(file.span(), &shape, &error) == Status::kOk);
    arena = AlignedBytes(ArenaBytes(shape));
    const Status status =
        encoder.Init(file.span(), arena.span(), &error, backend);
    CAPTURE(error.subject);
    CAPTURE(error.expectation);
    REQUIRE(status == Status::kOk);
  }

  std::vector<std::int16_t> Run(const std::vector<std::int8_t>& rows) {
    const std::size_t e = encoder.model().shape().d_input;
    encoder.Start();
    for (std::size_t i = 0; i < rows.size(); i += e) {
      std::int8_t* const row = encoder.NextRow();
      REQUIRE(row != nullptr);
      std::memcpy(row, rows.data() + i, e);
    }
    Span<const std::int16_t> logits;
    REQUIRE(encoder.Run(&logits) == Status::kOk);
    return {logits.begin(), logits.end()};
  }

  AlignedBytes file;
  AlignedBytes arena;
  Encoder encoder;
};

TEST_CASE("encoder: golden models, on every backend") {
  for (const char* const name : kModels) {
    CAPTURE(name);
    for (const Backend& backend : testing::RunnableBackends()) {
      CAPTURE(backend.name);
      LoadedModel model(name, &backend);
      for (const GoldenCase& golden :
           ReadGolden(std::string("models/") + name)) {
        CAPTURE(golden.name);
        CHECK(model.Run(golden.Values<std::int8_t>("input")) ==
              golden.Values<std::int16_t>("logits"));
      }
    }
  }
}

struct TapRecord {
  std::size_t rows = 0;
  std::size_t last_block = 0;
};

void CountRow(void* context, const AttentionRow& row) {
  auto* const record = static_cast<TapRecord*>(context);
  ++record->rows;
  record->last_block = row.block;
  std::int32_t sum = 0;
  std::int8_t largest = 0;
  for (const std::int8_t weight : row.weights) {
    CHECK(weight >= 0);
    sum += weight;
    largest = weight > largest ? weight : largest;
  }
  CHECK(sum == row.sum);
  CHECK(largest == 127);
}

TEST_CASE("encoder: the tap hands out every row and changes nothing") {
  for (const char* const name : kModels) {
    CAPTURE(name);
    LoadedModel model(name);
    const EncoderShape& shape = model.encoder.model().shape();
    const GoldenCase golden = ReadGolden(std::string("models/") + name).back();
    const auto rows = golden.Values<std::int8_t>("input");
    std::vector<std::int8_t> buffer(AttentionTapBytes(shape));
    TapRecord record;
    AttentionTap tap;
    tap.on_row = &CountRow;
    tap.context = &record;
    tap.buffer = {buffer.data(), buffer.size() - 1};
    CHECK(model.encoder.set_tap(tap) == Status::kBufferTooSmall);
    tap.buffer = {nullptr, buffer.size()};
    CHECK(model.encoder.set_tap(tap) == Status::kNullPointer);
    tap.buffer = {buffer.data(), buffer.size()};
    REQUIRE(model.encoder.set_tap(tap) == Status::kOk);
    CHECK(model.Run(rows) == golden.Values<std::int16_t>("logits"));
    const bool has_class = shape.pooling == Pooling::kClass;
    const std::size_t n = golden.Dim("input", 0) + (has_class ? 1 : 0);
    const std::size_t last_rows = has_class ? 1 : n;
    CHECK(record.rows == shape.heads * ((shape.blocks - 1U) * n + last_rows));
    CHECK(record.last_block + 1 == shape.blocks);
    REQUIRE(model.encoder.set_tap(AttentionTap()) == Status::kOk);
    CHECK(model.Run(rows) == golden.Values<std::int16_t>("logits"));
  }
}

TEST_CASE("encoder: token rows of the table become the input rows") {
  for (const char* const name : {"pre_mean_gelu", "post_class_relu"}) {
    CAPTURE(name);
    LoadedModel model(name);
    const Embedding& embedding = model.encoder.model().embedding();
    for (const GoldenCase& golden : ReadGolden(std::string("models/") + name)) {
      CAPTURE(golden.name);
      const auto rows = golden.Values<std::uint16_t>("rows");
      std::vector<std::int8_t> input;
      std::size_t first = 0;
      for (const std::int64_t count : golden.Array("row_counts").values) {
        std::vector<std::int8_t> y(embedding.width);
        const auto size = static_cast<std::size_t>(count);
        model.encoder.backend().embedding_sum_s8(
            embedding, {rows.data() + first, size}, y.data());
        input.insert(input.end(), y.begin(), y.end());
        first += size;
      }
      CHECK(first == rows.size());
      CHECK(input == golden.Values<std::int8_t>("input"));
    }
  }
}

TEST_CASE("encoder: a full sequence takes no more rows") {
  LoadedModel model("pre_mean_gelu");
  const std::size_t limit = model.encoder.model().shape().tokens;
  const std::size_t e = model.encoder.model().shape().d_input;
  model.encoder.Start();
  for (std::size_t i = 0; i < limit; ++i) {
    std::int8_t* const row = model.encoder.NextRow();
    REQUIRE(row != nullptr);
    std::memset(row, static_cast<int>(i), e);
  }
  CHECK(model.encoder.NextRow() == nullptr);
  CHECK(model.encoder.rows() == limit);
  Span<const std::int16_t> logits;
  CHECK(model.encoder.Run(&logits) == Status::kOk);
}

TEST_CASE("encoder: running without input is an error") {
  for (const char* const name : kModels) {
    LoadedModel model(name);
    Span<const std::int16_t> logits;
    model.encoder.Start();
    CHECK(model.encoder.Run(&logits) == Status::kEmptyInput);
  }
  Encoder never_initialised;
  Span<const std::int16_t> logits;
  CHECK(never_initialised.Run(&logits) == Status::kNotInitialized);
  CHECK(never_initialised.set_tap(AttentionTap()) == Status::kNotInitialized);
}

TEST_CASE("encoder: outside of a sequence there are no rows") {
  for (const char* const name : kModels) {
    CAPTURE(name);
    LoadedModel model(name);
    const GoldenCase golden = ReadGolden(std::string("models/") + name).back();
    model.Run(golden.Values<std::int8_t>("input"));
    CHECK(model.encoder.NextRow() == nullptr);
    Span<const std::int16_t> logits;
    CHECK(model.encoder.Run(&logits) == Status::kEmptyInput);
    model.encoder.Start();
    REQUIRE(model.encoder.NextRow() != nullptr);
    CHECK(model.encoder.Run(nullptr) == Status::kNullPointer);
    // And the next sequence is whole.
    CHECK(model.Run(golden.Values<std::int8_t>("input")) ==
          golden.Values<std::int16_t>("logits"));
  }
}

TEST_CASE("encoder: a failed second Init leaves nothing that runs") {
  for (const char* const name : kModels) {
    CAPTURE(name);
    LoadedModel model(name);
    CHECK(model.encoder.Init({}, model.arena.span()) == Status::kNullPointer);
    // Nor anything that points into the first file: it may be gone.
    CHECK_FALSE(model.encoder.model().initialized());
    CHECK(model.encoder.model().shape().classes == 0);
    CHECK(model.encoder.arena_bytes() == 0);
    model.encoder.Start();
    CHECK(model.encoder.NextRow() == nullptr);
    Span<const std::int16_t> logits;
    CHECK(model.encoder.Run(&logits) == Status::kNotInitialized);
    CHECK(model.encoder.Init(model.file.span(), model.arena.span()) ==
          Status::kOk);
    CHECK(model.encoder.NextRow() != nullptr);
    // A file that fails at its last byte.
    AlignedBytes damaged(model.file.size());
    std::copy(model.file.span().begin(), model.file.span().end(),
              damaged.span().begin());
    damaged.span()[damaged.size() - 1] ^= 1;
    CHECK(model.encoder.Init(damaged.span(), model.arena.span()) ==
          Status::kBadChecksum);
    CHECK_FALSE(model.encoder.model().initialized());
    CHECK(model.encoder.arena_bytes() == 0);
  }
}

TEST_CASE("encoder: Init names the argument that is wrong") {
  LoadedModel model("pre_mean_gelu");
  const Span<const std::uint8_t> file = model.file.span();
  const Span<std::uint8_t> arena = model.arena.span();
  Encoder encoder;
  ErrorInfo error;
  CHECK(encoder.Init({}, arena, &error) == Status::kNullPointer);
  CHECK(std::string(error.subject) == "model");
  CHECK(encoder.Init(file, {}, &error) == Status::kNullPointer);
  CHECK(std::string(error.subject) == "arena");
  const std::size_t needed =
      ArenaBytes(model.encoder.model().shape(), DefaultBackend()->memory);
  CHECK(encoder.Init(file, arena.subspan(0, needed - 1), &error) ==
        Status::kBufferTooSmall);
  CHECK(error.found == static_cast<std::int64_t>(needed - 1));
  CHECK(error.expected == static_cast<std::int64_t>(needed));
  CHECK(encoder.Init(file, arena, &error, nullptr) == Status::kUnsupported);
  CHECK(std::string(error.subject) == "backend");
  Backend of_another_cpu = *DefaultBackend();
  of_another_cpu.supported = []() noexcept { return false; };
  CHECK(encoder.Init(file, arena, &error, &of_another_cpu) ==
        Status::kUnsupported);
  CHECK(encoder.Init(file, arena.subspan(1, arena.size() - 1), &error) ==
        Status::kMisaligned);
  CHECK(error.found == 1);
  CHECK(error.expected == 0);
  CHECK(encoder.arena_bytes() == 0);
  CHECK(encoder.Init(file, arena) == Status::kOk);
  CHECK(encoder.arena_bytes() == needed);
}

}  // namespace
}  // namespace atto
