#include "tools/cli/files.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace atto::cli {
namespace {

// A file of its own for a test case, gone at its end.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view text)
      : path_(
            (std::filesystem::temp_directory_path() / "atto_XXXXXX").string()) {
    REQUIRE(mkstemp(path_.data()) != -1);
    WriteText(path_, text);
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string FailureOf(const std::string& path) {
  try {
    ReadTsv(path);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "no failure";
}

TEST_CASE("lines end with LF alone; CR before it is dropped") {
  std::string_view rest = "one\r\n\ntwo\x0bthree\nlast";
  std::string_view line;
  REQUIRE(NextLine(&rest, &line));
  CHECK(line == "one");
  REQUIRE(NextLine(&rest, &line));
  CHECK(line.empty());
  REQUIRE(NextLine(&rest, &line));
  CHECK(line == "two\x0bthree");
  REQUIRE(NextLine(&rest, &line));
  CHECK(line == "last");
  CHECK_FALSE(NextLine(&rest, &line));
}

TEST_CASE("TSV: label up to the first TAB, text after it") {
  const TemporaryFile file("ham\tsee you\tat six\r\n\nspam\t\n");
  const std::vector<LabelledText> rows = ReadTsv(file.path());
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].label == "ham");
  CHECK(rows[0].text == "see you\tat six");
  CHECK(rows[1].label == "spam");
  CHECK(rows[1].text.empty());
}

TEST_CASE("TSV: a broken line is named") {
  const TemporaryFile no_tab("ham\tfine\nno tab here\n");
  CHECK(FailureOf(no_tab.path()) ==
        no_tab.path() + ":2: expected 'label TAB text'");
  const TemporaryFile no_label("\ttext\n");
  CHECK(FailureOf(no_label.path()) ==
        no_label.path() + ":1: expected 'label TAB text'");
  const TemporaryFile empty("");
  CHECK(FailureOf(empty.path()) == empty.path() + ": holds no message");
}

TEST_CASE("an unreadable file is named") {
  CHECK(FailureOf("/no/such/file") ==
        "/no/such/file: No such file or directory");
  CHECK(FailureOf("/") == "/: is a folder, not a file");
}

TEST_CASE("bytes are aligned to 16 and complete") {
  const std::string text(1000003, 'x');
  const TemporaryFile file(text);
  AlignedBytes bytes = ReadBytes(file.path());
  CHECK(reinterpret_cast<std::uintptr_t>(bytes.data()) % 16 == 0);
  REQUIRE(bytes.size() == text.size());
  CHECK(bytes.bytes()[text.size() - 1] == 'x');
  AlignedBytes none;
  CHECK(none.bytes().empty());
}

TEST_CASE("a regular file is mapped, others are not") {
  const TemporaryFile file("text");
  const MappedFile mapped(file.path());
  REQUIRE(mapped.bytes().size() == 4);
  CHECK(mapped.bytes()[3] == 't');
  CHECK(reinterpret_cast<std::uintptr_t>(mapped.bytes().data()) % 16 == 0);
  const TemporaryFile empty("");
  for (const std::string& path :
       {std::string("/no/such/file"), std::string("/"),
        std::string("/dev/null"), empty.path()}) {
    CAPTURE(path);
    CHECK(MappedFile(path).bytes().empty());
  }
}

}  // namespace
}  // namespace atto::cli
