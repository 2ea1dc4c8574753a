#include "tools/cli/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "tools/cli/format.h"

namespace atto::cli {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

File Open(const std::string& path, const char* mode) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw Failure(path + ": is a folder, not a file");
  }
  File file(std::fopen(path.c_str(), mode));
  if (file == nullptr) throw Failure(path + ": " + std::strerror(errno));
  return file;
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  if (file < 0) return;
  struct stat status;
  if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
      status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data != MAP_FAILED) {
      bytes_ = {static_cast<const std::uint8_t*>(data), size};
    }
  }
  ::close(file);
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  // munmap takes what mmap gave, which was not const.
  ::munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
}

bool IsFile(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status =
      std::filesystem::status(path, error);
  return std::filesystem::exists(status) &&
         !std::filesystem::is_directory(status);
}

std::string ReadText(const std::string& path, std::size_t limit) {
  const File file = Open(path, "rb");
  std::string text;
  char buffer[1 << 16];
  for (std::size_t count;
       (count = std::fread(buffer, 1, sizeof(buffer), file.get())) > 0;) {
    text.append(buffer, count);
    if (text.size() > limit) {
      throw Failure(path + ": is larger than " + Grouped(limit) + " bytes");
    }
  }
  if (std::ferror(file.get()) != 0) {
    throw Failure(path + ": " + std::strerror(errno));
  }
  return text;
}

AlignedBytes ReadBytes(const std::string& path, std::size_t limit) {
  const std::string text = ReadText(path, limit);
  if (text.empty()) throw Failure(path + ": is empty");
  AlignedBytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

bool ReadLine(std::istream* in, std::string* line, std::size_t limit) {
  using Traits = std::istream::traits_type;
  line->clear();
  std::streambuf* const buffer = in->rdbuf();
  Traits::int_type c = buffer->sbumpc();
  if (c == Traits::eof()) return false;
  for (; c != Traits::eof() && c != '\n'; c = buffer->sbumpc()) {
    if (line->size() == limit) {
      throw Failure("standard input: a line is longer than " + Grouped(limit) +
                    " bytes");
    }
    line->push_back(Traits::to_char_type(c));
  }
  return true;
}

void WriteText(const std::string& path, std::string_view text) {
  File file = Open(path, "wb");
  const bool written =
      std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  if (!written || std::fclose(file.release()) != 0) {
    throw Failure(path + ": " + std::strerror(errno));
  }
}

bool NextLine(std::string_view* rest, std::string_view* line) {
  if (rest->empty()) return false;
  const std::size_t end = rest->find('\n');
  *line = rest->substr(0, end);
  rest->remove_prefix(end == std::string_view::npos ? rest->size() : end + 1);
  if (!line->empty() && line->back() == '\r') line->remove_suffix(1);
  return true;
}

std::vector<LabelledText> ReadTsv(const std::string& path) {
  const std::string content = ReadText(path);
  std::vector<LabelledText> rows;
  std::string_view rest = content;
  std::string_view line;
  for (std::size_t number = 1; NextLine(&rest, &line); ++number) {
    if (line.empty()) continue;
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos || tab == 0) {
      throw Failure(path + ":" + std::to_string(number) +
                    ": expected 'label TAB text'");
    }
    rows.push_back({number, std::string(line.substr(0, tab)),
                    std::string(line.substr(tab + 1))});
  }
  if (rows.empty()) throw Failure(path + ": holds no message");
  return rows;
}

}  // namespace atto::cli
