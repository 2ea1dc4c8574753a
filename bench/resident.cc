// atto_resident MODEL: the memory of a process that loads a model and runs it
// once over all tokens that it takes. Prints a JSON object; Linux only.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/encoder.h"

namespace atto {
namespace {

// A line of /proc/self/status in KiB, such as the most that was ever resident
// ("VmHWM:"); 0 if the system does not tell.
long StatusKib(const char* key) {
  std::FILE* const file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) return 0;
  long kib = 0;
  char line[256];
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::strncmp(line, key, std::strlen(key)) == 0) {
      kib = std::strtol(line + std::strlen(key), nullptr, 10);
    }
  }
  std::fclose(file);
  return kib;
}

// Maps a file; empty if that fails.
Span<const std::uint8_t> MapFile(const char* path) {
  const int file = open(path, O_RDONLY);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0 || status.st_size == 0) return {};
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (data == MAP_FAILED) return {};
  return {static_cast<const std::uint8_t*>(data), size};
}

int Run(const char* path) {
  const long before = StatusKib("VmHWM:");
  const Span<const std::uint8_t> file = MapFile(path);
  if (file.empty()) {
    std::fprintf(stderr, "atto_resident: cannot read %s\n", path);
    return 1;
  }
  ErrorInfo error;
  EncoderShape shape;
  Status status = Model::ReadShape(file, &shape, &error);
  Encoder encoder;
  std::size_t arena_bytes = 0;
  if (status == Status::kOk) {
    arena_bytes = ArenaBytes(shape);
    auto* const arena = static_cast<std::uint8_t*>(std::malloc(arena_bytes));
    status = encoder.Init(file, Span<std::uint8_t>(arena, arena_bytes), &error);
  }
  Span<const std::int16_t> logits;
  if (status == Status::kOk) {
    encoder.Start();
    while (std::int8_t* const row = encoder.NextRow()) {
      std::memset(row, 1, shape.d_input);
    }
    status = encoder.Run(&logits);
  }
  if (status != Status::kOk) {
    std::fprintf(stderr, "atto_resident: %s: %s: %s\n", path,
                 StatusMessage(status), error.subject);
    return 1;
  }
  std::printf(
      "{\"backend\":\"%s\",\"resident_kib\":%ld,\"before_loading_kib\":%ld,"
      "\"model_bytes\":%zu,\"arena_bytes\":%zu}\n",
      encoder.backend().name, StatusKib("VmHWM:"), before, file.size(),
      arena_bytes);
  return 0;
}

}  // namespace
}  // namespace atto

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: atto_resident MODEL\n");
    return 2;
  }
  return atto::Run(argv[1]);
}
