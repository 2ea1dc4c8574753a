// Threads with an arena each share one model file. Under ThreadSanitizer
// (preset host-tsan) this shows that nothing is shared that is written.
#include <doctest/doctest.h>

#ifdef __linux__

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/classifier.h"
#include "tests/support/aligned_bytes.h"
#include "tests/support/backends.h"
#include "tests/support/golden.h"

namespace atto {
namespace {

using testing::AlignedBytes;

constexpr int kThreads = 4;
constexpr int kMessages = 20;

// The logits of all messages, one after the other; empty on failure. Checks of
// doctest are for the main thread.
std::vector<std::int16_t> ClassifyAll(Span<const std::uint8_t> model,
                                      const Backend& backend) {
  EncoderShape shape;
  if (Model::ReadShape(model, &shape) != Status::kOk) return {};
  AlignedBytes arena(ArenaBytes(shape, backend.memory));
  TextClassifier classifier;
  if (classifier.Init(model, arena.span(), nullptr, &backend) != Status::kOk) {
    return {};
  }
  std::vector<std::int16_t> logits;
  std::string text;
  for (int i = 0; i < kMessages; ++i) {
    text += "word" + std::to_string(i) + " fr33 ";
    Classification result;
    if (classifier.Classify(text.c_str(), &result) != Status::kOk) return {};
    logits.insert(logits.end(), result.logits.begin(), result.logits.end());
  }
  return logits;
}

TEST_CASE("threads with an arena each: the results of one alone") {
  for (const char* const name : {"pre_mean_gelu", "post_class_relu"}) {
    CAPTURE(name);
    AlignedBytes file = AlignedBytes::Read(
        testing::SourceDir() + "/tests/golden/models/" + name + ".gguf");
    for (const Backend& backend : testing::RunnableBackends()) {
      CAPTURE(backend.name);
      std::vector<std::int16_t> results[kThreads];
      std::vector<std::thread> threads;
      for (std::vector<std::int16_t>& result : results) {
        threads.emplace_back([&file, &backend, &result] {
          result = ClassifyAll(file.span(), backend);
        });
      }
      for (std::thread& thread : threads) thread.join();
      const std::vector<std::int16_t> alone = ClassifyAll(file.span(), backend);
      CHECK_FALSE(alone.empty());
      for (const std::vector<std::int16_t>& result : results) {
        CHECK(result == alone);
      }
    }
  }
}

}  // namespace
}  // namespace atto

#endif  // __linux__
