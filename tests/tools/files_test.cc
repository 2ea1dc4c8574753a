#include "tools/cli/files.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <sstream>
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

std::string LimitedFailureOf(const std::string& path, std::size_t limit) {
  try {
    ReadBytes(path, limit);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "no failure";
}

TEST_CASE("a file without an end is read up to the limit") {
  if (IsFile("/dev/zero")) {
    CHECK(LimitedFailureOf("/dev/zero", 1000) ==
          "/dev/zero: is larger than 1,000 bytes");
    CHECK(LimitedFailureOf("/dev/zero", 1 << 20) ==
          "/dev/zero: is larger than 1,048,576 bytes");
  }
  const TemporaryFile file(std::string(200000, 'x'));
  CHECK(ReadBytes(file.path(), 200000).size() == 200000);
  CHECK(ReadText(file.path(), 200000).size() == 200000);
  CHECK(LimitedFailureOf(file.path(), 199999) ==
        file.path() + ": is larger than 199,999 bytes");
}

TEST_CASE("a line without an end is read up to the limit") {
  std::istringstream in("four\n\nlast");
  std::string line;
  REQUIRE(ReadLine(&in, &line, 4));
  CHECK(line == "four");
  REQUIRE(ReadLine(&in, &line, 4));
  CHECK(line.empty());
  REQUIRE(ReadLine(&in, &line, 4));
  CHECK(line == "last");
  CHECK_FALSE(ReadLine(&in, &line, 4));
  std::istringstream longer("fives");
  CHECK_THROWS_WITH_AS(ReadLine(&longer, &line, 4),
                       "standard input: a line is longer than 4 bytes",
                       Failure);
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
