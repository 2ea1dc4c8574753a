#include "tools/cli/format.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

namespace atto::cli {
namespace {

TEST_CASE("digits are grouped by three") {
  CHECK(Grouped(0) == "0");
  CHECK(Grouped(999) == "999");
  CHECK(Grouped(1000) == "1,000");
  CHECK(Grouped(1234567) == "1,234,567");
}

TEST_CASE("fixed decimals; not a number is a dash") {
  CHECK(Fixed(0.98765, 3) == "0.988");
  CHECK(Fixed(2.0, 0) == "2");
  CHECK(Fixed(std::nan(""), 3) == "-");
}

TEST_CASE("printable text has no control, no broken byte, no reversal") {
  CHECK(Printable("a\tb\x1b[31mc\x7f") == "a b [31mc ");
  CHECK(Printable("caf\xC3\xA9") == "café");
  CHECK(Printable("x\xFFy\xC3") == "x\uFFFDy\uFFFD");
  CHECK(Printable("\xC0\x80") == "\uFFFD\uFFFD");            // overlong NUL
  CHECK(Printable("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");  // surrogate
  for (const char* const mark :
       {"\u061C", "\u200E", "\u200F", "\u202A", "\u202B", "\u202C", "\u202D",
        "\u202E", "\u2066", "\u2067", "\u2068", "\u2069"}) {
    CAPTURE(mark);
    CHECK(Printable("a" + std::string(mark) + "b") == "ab");
  }
  CHECK(Printable("\u061B\u200D\u2065\u206A") == "\u061B\u200D\u2065\u206A");
  CHECK(Printable("").empty());
}

TEST_CASE("columns: wide characters take two, marks none") {
  CHECK(Columns("abc") == 3);
  CHECK(Columns("é") == 1);
  CHECK(Columns("e\u0301") == 1);
  CHECK(Columns("漢字") == 4);
  CHECK(Columns("\U0001F389") == 2);
  CHECK(Columns("a\u200Bb") == 2);
}

TEST_CASE("cutting and filling go by columns") {
  CHECK(CutToColumns("hello", 5) == "hello");
  CHECK(CutToColumns("hello!", 5) == "hell…");
  CHECK(CutToColumns("漢字漢字", 5) == "漢字…");
  CHECK(CutToColumns("漢字漢字", 4) == "漢…");
  CHECK(CutToColumns("abc", 0).empty());
  CHECK(PadLeft("字", 4) == "  字");
  CHECK(PadRight("é", 3) == "é  ");
  CHECK(PadRight("long", 2) == "long");
}

}  // namespace
}  // namespace atto::cli
