#include "runtime/text/normalizer.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tools/text/fold_table_data.h"

namespace {

using atto::FoldTable;
using atto::NormalChar;
using atto::Normalizer;
using atto::Span;
using atto::Status;

const FoldTable& Table() {
  static const FoldTable table = [] {
    FoldTable made;
    REQUIRE(made.Init(Span<const std::uint8_t>(atto::kFoldTableData),
                      nullptr) == Status::kOk);
    return made;
  }();
  return table;
}

struct Result {
  std::string text;  // '?' for what is beyond ASCII
  std::vector<NormalChar> chars;
  std::size_t invalid_utf8 = 0;
};

Result Normalize(const std::string& text) {
  Normalizer normalizer(Table(), Span<const char>(text.data(), text.size()));
  Result result;
  NormalChar next;
  while (normalizer.Next(&next)) {
    result.chars.push_back(next);
    result.text += next.code < 0x80 ? static_cast<char>(next.code) : '?';
  }
  CHECK_FALSE(normalizer.Next(&next));
  result.invalid_utf8 = normalizer.invalid_utf8();
  return result;
}

TEST_CASE("ASCII is folded by rule") {
  CHECK(Normalize("").text.empty());
  const Result result = Normalize("Ab\tC\r\n1\x7f!");
  CHECK(result.text == "ab c  1!");
  REQUIRE(result.chars.size() == 8);
  CHECK(result.chars[0].upper);
  CHECK_FALSE(result.chars[1].upper);
  CHECK(result.chars[7].after_hidden);
  CHECK_FALSE(result.chars[6].after_hidden);
  CHECK(result.chars[7].offset == 8);
}

TEST_CASE("NUL bytes are removed, not an end") {
  const Result result = Normalize(std::string("a\0b", 3));
  CHECK(result.text == "ab");
  CHECK(result.chars[1].offset == 2);
  CHECK(result.chars[1].after_hidden);
}

TEST_CASE("look-alikes, marks and hidden characters fold to plain letters") {
  // Cyrillic, fullwidth, mathematical, with marks, with zero-width characters.
  CHECK(Normalize("F\u0433\u0435e").text == "free");
  CHECK(Normalize("\uff26\uff32\uff25\uff25").text == "free");
  CHECK(Normalize("\U0001d4d5\U0001d4fb\U0001d4ee\U0001d4ee").text == "free");
  CHECK(Normalize("f\u0301r\u0336\u00e9\u0119").text == "free");
  CHECK(Normalize("f\u200br\u2060e\ufeffe\u00ad").text == "free");
  CHECK(Normalize("\u00bd \u2026 \ufb03").text == "1/2 ... ffi");
}

TEST_CASE("flags and source positions") {
  const Result result = Normalize("x\u200b\u0410\u00e9\ufb01");
  REQUIRE(result.text == "xaefi");
  CHECK_FALSE(result.chars[0].imitates);
  const NormalChar& cyrillic = result.chars[1];
  CHECK(cyrillic.imitates);
  CHECK(cyrillic.upper);
  CHECK(cyrillic.after_hidden);
  CHECK(cyrillic.offset == 4);
  CHECK(cyrillic.size == 2);
  CHECK_FALSE(result.chars[2].imitates);  // an accent is no disguise
  CHECK_FALSE(result.chars[2].after_hidden);
  CHECK(result.chars[3].offset == 8);
  CHECK(result.chars[4].offset == 8);
  CHECK(result.chars[4].size == 3);
}

TEST_CASE("each maximal ill-formed part is one replacement") {
  const struct {
    const char* bytes;
    std::size_t parts;
    const char* text;
  } cases[] = {
      {"\x80", 1, "?"},
      {"\xff\xfe", 2, "??"},
      {"\xc0\xaf", 2, "??"},       // overlong '/'
      {"\xe0\x80\xaf", 3, "???"},  // overlong '/'
      {"\xf0\x80\x80\xaf", 4, "????"},
      {"\xed\xa0\x80", 3, "???"},       // a surrogate
      {"\xf4\x90\x80\x80", 4, "????"},  // above U+10FFFF
      {"\xf5\x80", 2, "??"},
      {"\xe2\x82", 1, "?"},  // cut at the end
      {"\xf0\x9f\x98", 1, "?"},
      {"\xf0\x9f\x98z", 1, "?z"},         // cut inside
      {"\xe2\x82\xe2\x82\xac", 1, "??"},  // cut, then a euro sign
      {"\xc3(", 1, "?("},
      {"\xed\x9f\xbf\xee\x80\x80", 0, "??"},  // next to the surrogates
      {"\xf4\x8f\xbf\xbf", 0, "?"},           // U+10FFFF
  };
  for (const auto& item : cases) {
    const Result result = Normalize(item.bytes);
    CAPTURE(item.text);
    CHECK(result.invalid_utf8 == item.parts);
    CHECK(result.text == item.text);
  }
}

TEST_CASE("megabytes that show nothing give nothing") {
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
  constexpr int kMarks = 50000;  // a board has no megabytes
#else
  constexpr int kMarks = 1000000;
#endif
  std::string marks;
  for (int i = 0; i < kMarks; ++i) marks += "\u0301";
  const Result result = Normalize("a" + marks + "b");
  CHECK(result.text == "ab");
  CHECK(result.chars[1].offset == 1 + marks.size());
}

}  // namespace
