// Runs a fuzz target over files, for builds without libFuzzer:
//   fuzz.TARGET FILE|FOLDER...
// Every input runs as it is, cut to half, and empty. Prints how many have run.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size);

namespace {

namespace fs = std::filesystem;

std::size_t executions = 0;

// In memory of exactly its size, so that a sanitizer sees the first byte
// beyond.
void Execute(const std::vector<std::uint8_t>& input, std::size_t size) {
  const std::unique_ptr<std::uint8_t[]> exact(new std::uint8_t[size]);
  for (std::size_t i = 0; i < size; ++i) exact[i] = input[i];
  LLVMFuzzerTestOneInput(exact.get(), size);
  ++executions;
}

void Replay(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<std::uint8_t> input{std::istreambuf_iterator<char>(in),
                                        std::istreambuf_iterator<char>()};
  Execute(input, input.size());
  Execute(input, input.size() / 2);
}

}  // namespace

int main(int argc, char** argv) {
  Execute({}, 0);
  std::size_t files = 0;
  for (int i = 1; i < argc; ++i) {
    if (!fs::is_directory(argv[i])) {
      Replay(argv[i]);
      ++files;
      continue;
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(argv[i])) {
      Replay(entry.path());
      ++files;
    }
  }
  std::printf("%zu files, %zu executions\n", files, executions);
  // A corpus that is not there would make the test say nothing.
  return files == 0 ? 1 : 0;
}
