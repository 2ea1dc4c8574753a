// Counts the calls of the heap while a model is loaded and runs.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "runtime/audio/keyword_spotter.h"
#include "runtime/classifier.h"
#include "tests/support/aligned_bytes.h"
#include "tests/support/golden.h"

namespace {

std::size_t heap_calls = 0;

}  // namespace

#if defined(__SANITIZE_ADDRESS__)  // GCC
#define ATTO_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)  // Clang
#define ATTO_ADDRESS_SANITIZER
#endif
#endif

#if defined(ATTO_ADDRESS_SANITIZER)
// Of sanitizer/allocator_interface.h, which GCC does not ship.
extern "C" int __sanitizer_install_malloc_and_free_hooks(
    void (*malloc_hook)(const volatile void*, std::size_t),
    void (*free_hook)(const volatile void*));

namespace {

void CountAllocation(const volatile void*, std::size_t) { ++heap_calls; }
void CountRelease(const volatile void*) { ++heap_calls; }

// The sanitizer owns malloc, and tells.
const int kHooksInstalled =
    __sanitizer_install_malloc_and_free_hooks(&CountAllocation, &CountRelease);

}  // namespace
#else
// These stand before those of the C library, for operator new, too: visible
// to the shared libraries.
#pragma GCC visibility push(default)
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void __libc_free(void* memory);

void* malloc(std::size_t size) noexcept {
  ++heap_calls;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  ++heap_calls;
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
  ++heap_calls;
  return __libc_realloc(memory, size);
}
void free(void* memory) noexcept {
  ++heap_calls;
  __libc_free(memory);
}
}
#pragma GCC visibility pop
#endif

namespace atto {
namespace {

using testing::AlignedBytes;

TEST_CASE("the counter sees the heap") {
  const std::size_t before = heap_calls;
  { const auto bytes = std::make_unique<std::string>(1000, 'x'); }
  CHECK(heap_calls >= before + 4);  // two allocations, two releases
}

TEST_CASE("neither Init nor Classify touches the heap") {
  for (const char* const name : {"pre_mean_gelu", "post_class_relu"}) {
    CAPTURE(name);
    AlignedBytes file = AlignedBytes::Read(
        testing::SourceDir() + "/tests/golden/models/" + name + ".gguf");
    EncoderShape shape;
    REQUIRE(Model::ReadShape(file.span(), &shape) == Status::kOk);
    AlignedBytes arena(ArenaBytes(shape));
    TextClassifier classifier;
    Classification result;
    ErrorInfo error;

    const std::size_t before = heap_calls;
    const Status refused = classifier.Init({}, arena.span(), &error);
    const Status loaded = classifier.Init(file.span(), arena.span(), &error);
    const Status classified =
        classifier.Classify("fr33 c@sh at http://prize.example", &result);
    const Status empty = classifier.Classify("", &result);
    const std::size_t after = heap_calls;

    CHECK(refused != Status::kOk);
    CHECK(loaded == Status::kOk);
    CHECK(classified == Status::kOk);
    CHECK(empty == Status::kEmptyInput);
    CHECK(after == before);
  }
}

TEST_CASE("nothing that hears touches the heap") {
  AlignedBytes file = AlignedBytes::Read(testing::SourceDir() +
                                         "/tests/golden/spotters/mean.gguf");
  EncoderShape shape;
  REQUIRE(Model::ReadShape(file.span(), &shape) == Status::kOk);
  AlignedBytes arena(SpotterArenaBytes(shape));
  const std::vector<std::int16_t> pcm(5000, 1000);
  AudioClassifier classifier;
  KeywordSpotter spotter;
  Classification result;

  const std::size_t before = heap_calls;
  const Status loaded = classifier.Init(file.span(), arena.span());
  const Status classified =
      classifier.Classify({pcm.data(), pcm.size()}, &result);
  const Status listening = spotter.Init(file.span(), arena.span(), {});
  const Status pushed = spotter.Push({pcm.data(), pcm.size()});
  const std::size_t after = heap_calls;

  CHECK(loaded == Status::kOk);
  CHECK(classified == Status::kOk);
  CHECK(listening == Status::kOk);
  CHECK(pushed == Status::kOk);
  CHECK(after == before);
}

}  // namespace
}  // namespace atto
