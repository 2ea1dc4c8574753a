#include "runtime/text/characters.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace atto {
namespace {

struct Range {
  std::uint32_t first, last;
};

// Whether the class holds every code point of the ranges, and no other one.
// The ranges are those of docs/text.md.
void CheckClass(bool (*holds)(std::uint32_t) noexcept,
                const std::vector<Range>& ranges) {
  for (std::uint32_t code = 0; code <= 0x10FFFF; ++code) {
    bool expected = false;
    for (const Range& range : ranges) {
      expected = expected || (code >= range.first && code <= range.last);
    }
    if (holds(code) != expected) FAIL("code point " << code);
  }
}

TEST_CASE("digits and currency signs") {
  CheckClass(&IsDigit, {{'0', '9'}});
  CheckClass(&IsCurrency,
             {{'$', '$'}, {0xA2, 0xA5}, {0xE3F, 0xE3F}, {0x20A0, 0x20CF}});
}

TEST_CASE("signs beyond ASCII; what is left there is a letter") {
  const std::vector<Range> symbols = {
      {0x80, 0xBF},       {0xD7, 0xD7},       {0xF7, 0xF7},
      {0xE3F, 0xE3F},     {0x2000, 0x2BFF},   {0x2E00, 0x2E7F},
      {0x3000, 0x3004},   {0x3007, 0x303F},   {0xE000, 0xF8FF},
      {0xFE10, 0xFE6F},   {0xFF00, 0xFF65},   {0xFFE0, 0xFFFF},
      {0x1F000, 0x1FBFF}, {0xF0000, 0x10FFFF}};
  CheckClass(&IsSymbol, symbols);
  std::vector<Range> letters = {{'a', 'z'}};
  std::uint32_t next = 0x80;
  for (const Range& range : symbols) {
    if (range.first > next) letters.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  CheckClass(&IsLetter, letters);
  letters.push_back({'0', '9'});
  CheckClass(&IsWordChar, letters);
}

TEST_CASE("ASCII signs, gaps and joiners") {
  CheckClass(&IsPunctuation, {{'!', '/'}, {':', '@'}, {'A', '`'}, {'{', 0x7F}});
  CheckClass(&IsPhoneGap, {{' ', ' '}, {'(', ')'}, {'-', '-'}, {'.', '.'}});
  CheckClass(&IsJoiner,
             {{' ', ' '}, {'*', '*'}, {'-', '-'}, {'.', '.'}, {'_', '_'}});
}

TEST_CASE("a character of a list") {
  CHECK(IsOneOf('a', "abc"));
  CHECK(IsOneOf('c', "abc"));
  CHECK_FALSE(IsOneOf('d', "abc"));
  CHECK_FALSE(IsOneOf('\0', "abc"));
  CHECK_FALSE(IsOneOf('a', ""));
  CHECK(IsOneOf(0xE9, "\xE9"));
}

}  // namespace
}  // namespace atto
