// Files of the command line: reading whole files and `label TAB text` lines.
#ifndef ATTO_TOOLS_CLI_FILES_H_
#define ATTO_TOOLS_CLI_FILES_H_

#include <cstddef>
#include <cstdint>
#include <istream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ops/base/span.h"
#include "runtime/model/gguf.h"

namespace atto::cli {

// A failure that one sentence tells the user; it names the file and the
// culprit.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The same for options that do not fit the model.
class UsageError : public Failure {
 public:
  using Failure::Failure;
};

// Bytes whose first one is aligned to 16, as models and arenas must be.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(std::size_t size)
      : size_(size), chunks_((size + sizeof(Chunk) - 1) / sizeof(Chunk)) {}

  std::size_t size() const { return size_; }
  std::uint8_t* data() {
    return chunks_.empty() ? nullptr : chunks_.front().bytes;
  }
  Span<std::uint8_t> bytes() { return {data(), size_}; }

 private:
  struct alignas(16) Chunk {
    std::uint8_t bytes[16];
  };

  std::size_t size_ = 0;
  std::vector<Chunk> chunks_;
};

// A regular file in the address space, so that only what is looked at is read.
// Others, such as pipes and what is not there, give no bytes. Whoever writes to
// the file meanwhile changes the bytes, and whoever shortens it ends the
// process that looks: for a short look, not to keep.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  Span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  Span<const std::uint8_t> bytes_;
};

// Whether `path` names something to read that is not a folder.
bool IsFile(const std::string& path);

// The most that is read of a file: no model is larger, and some, such as
// /dev/zero, have no end.
constexpr std::size_t kMaxFileBytes = GgufReader::kMaxFileBytes;

// Both throw Failure if the file cannot be read or is larger than `limit`.
AlignedBytes ReadBytes(const std::string& path,
                       std::size_t limit = kMaxFileBytes);
std::string ReadText(const std::string& path,
                     std::size_t limit = kMaxFileBytes);

// Reads a line of standard input, `in`, without its LF; false at the end.
// Throws Failure for a line longer than `limit`.
bool ReadLine(std::istream* in, std::string* line,
              std::size_t limit = kMaxFileBytes);

void WriteText(const std::string& path, std::string_view text);

// Takes the next line off `rest`: without its LF, and without a CR before that.
// False when nothing is left. Only LF ends a line.
bool NextLine(std::string_view* rest, std::string_view* line);

struct LabelledText {
  std::size_t line = 0;  // in the file, from 1
  std::string label;
  std::string text;
};

// Reads `label TAB text` lines; empty lines are skipped. Throws Failure for an
// unreadable or empty file, a line without a TAB, an empty label.
std::vector<LabelledText> ReadTsv(const std::string& path);

}  // namespace atto::cli

#endif  // ATTO_TOOLS_CLI_FILES_H_
