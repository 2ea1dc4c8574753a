#include "runtime/text/fold_table.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tools/text/fold_table_data.h"

namespace {

using atto::ErrorInfo;
using atto::Fold;
using atto::FoldTable;
using atto::Span;
using atto::Status;
using Bytes = std::vector<std::uint8_t>;

Span<const std::uint8_t> View(const Bytes& bytes) {
  return {bytes.data(), bytes.size()};
}

Bytes ProjectTable() {
  return Bytes(std::begin(atto::kFoldTableData),
               std::end(atto::kFoldTableData));
}

// A table of hand-made entries, each {first, count, kind, flags, argument}.
struct EntryValues {
  std::uint32_t first, count, kind, flags, argument;
};

Bytes MakeTable(const std::vector<EntryValues>& entries, const Bytes& cells) {
  Bytes table = {'A', 'F', 'T', '1'};
  const auto put = [&table](std::size_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      table.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    }
  };
  put(entries.size(), 2);
  put(cells.size(), 2);
  for (const EntryValues& entry : entries) {
    put(entry.first, 3);
    put(entry.count - 1, 1);
    put(entry.kind | entry.flags << 4, 1);
    put(entry.argument, 2);
  }
  table.insert(table.end(), cells.begin(), cells.end());
  return table;
}

// The fold as text: capitals are shown as such, "-" is removed.
std::string Shown(const FoldTable& table, std::uint32_t code) {
  const Fold fold = table.Lookup(code);
  if (fold.length == 0) return "-";
  std::string text;
  for (std::size_t i = 0; i < fold.length; ++i) {
    std::uint32_t c = fold.code;
    bool upper = fold.upper;
    if (fold.text != nullptr) {
      c = fold.text[i] & 0x7FU;
      upper = (fold.text[i] & 0x80U) != 0;
    }
    if (c >= 0x80) return "U+" + std::to_string(c);
    text += static_cast<char>(upper ? c - 32 : c);
  }
  return text;
}

bool Accepts(const Bytes& bytes) {
  FoldTable table;
  ErrorInfo error;
  const Status status = table.Init(View(bytes), &error);
  if (status != Status::kOk) {
    CHECK(status == Status::kBadTensor);
    CHECK(error.status == status);
    CHECK(std::strcmp(error.subject, "text.fold_table") == 0);
    CHECK(error.expectation[0] != '\0');
  }
  return status == Status::kOk;
}

TEST_CASE("an empty table folds nothing") {
  const FoldTable before_init;
  CHECK(Shown(before_init, 0xE9) == "U+233");
  CHECK(Accepts(MakeTable({}, {})));
}

TEST_CASE("every kind of entry") {
  const Bytes bytes = MakeTable(
      {
          {0x80, 2, 1, 0, 0},           // removed
          {0x90, 4, 2, 1, 'a'},         // capital at even places
          {0x100, 4, 3, 1, 1},          // code + 1 at even places
          {0x200, 2, 3, 7, 0xFE30},     // to '0' and '1', no capitals
          {0x300, 60, 4, 0, 25},        // Z a b ... z A ...
          {0x400, 12, 5, 0, 9},         // 9 0 1 ...
          {0x10000, 3, 6, 2, 1},        // cells
          {0x10FFFF, 1, 2, 0, 0x20AC},  // one beyond ASCII
      },
      {'?', 'x' | 0x80, 0, 0, 0, 'f', 'i'});
  FoldTable table;
  REQUIRE(table.Init(View(bytes), nullptr) == Status::kOk);
  CHECK(Shown(table, 0x80) == "-");
  CHECK(Shown(table, 0x81) == "-");
  CHECK(Shown(table, 0x82) == "U+130");
  CHECK(Shown(table, 0x8F) == "U+143");
  CHECK(Shown(table, 0x90) == "A");
  CHECK(Shown(table, 0x91) == "a");
  CHECK(Shown(table, 0x93) == "a");
  CHECK(Shown(table, 0x94) == "U+148");
  CHECK(Shown(table, 0x102) == "U+259");
  CHECK(table.Lookup(0x102).upper);
  CHECK(Shown(table, 0x103) == "U+259");
  CHECK_FALSE(table.Lookup(0x103).upper);
  CHECK(Shown(table, 0x200) == "0");
  CHECK(Shown(table, 0x201) == "1");
  CHECK(Shown(table, 0x300) == "Z");
  CHECK(Shown(table, 0x301) == "a");
  CHECK(Shown(table, 0x300 + 27) == "A");
  CHECK(Shown(table, 0x400) == "9");
  CHECK(Shown(table, 0x401) == "0");
  CHECK(Shown(table, 0x10000) == "X");
  CHECK(Shown(table, 0x10001) == "U+65537");
  CHECK(Shown(table, 0x10002) == "fi");
  CHECK(Shown(table, 0x10FFFF) == "U+8364");
}

TEST_CASE("illegal tables are rejected with a reason") {
  const Bytes cells = {'a', 0, 'b', 1, 'A', 0x80, '1' | 0x80};
  CHECK_FALSE(Accepts({}));
  CHECK_FALSE(Accepts({'A', 'F', 'T', '1', 0, 0, 0}));
  CHECK_FALSE(Accepts({'A', 'F', 'T', '2', 0, 0, 0, 0}));
  CHECK_FALSE(Accepts({'A', 'F', 'T', '1', 1, 0, 0, 0}));
  CHECK_FALSE(Accepts({'A', 'F', 'T', '1', 0, 0, 1, 0}));
  CHECK_FALSE(Accepts({'A', 'F', 'T', '1', 0, 0, 0, 0, 0}));
  const auto one = [&cells](EntryValues entry) {
    return Accepts(MakeTable({entry}, cells));
  };
  CHECK(one({0x80, 1, 1, 0, 0}));
  CHECK_FALSE(one({0x7F, 1, 1, 0, 0}));      // ASCII
  CHECK_FALSE(one({0x10FFFF, 2, 1, 0, 0}));  // beyond Unicode
  CHECK_FALSE(one({0x110000, 1, 1, 0, 0}));
  CHECK_FALSE(one({0x80, 1, 0, 0, 0}));  // unknown kinds
  CHECK_FALSE(one({0x80, 1, 7, 0, 0}));
  CHECK_FALSE(one({0x80, 1, 1, 1, 0}));  // stray flag, stray argument
  CHECK_FALSE(one({0x80, 1, 1, 0, 1}));
  CHECK_FALSE(one({0x80, 1, 2, 4, 'a'}));
  CHECK_FALSE(one({0x80, 1, 2, 0, 'A'}));  // capital
  CHECK_FALSE(one({0x80, 1, 2, 0, 0}));    // controls
  CHECK_FALSE(one({0x80, 1, 2, 0, 0x7F}));
  CHECK(one({0x80, 1, 2, 0, 0xD7FF}));
  CHECK_FALSE(one({0x80, 1, 2, 0, 0xD800}));  // surrogates
  CHECK_FALSE(one({0x80, 1, 2, 0, 0xDFFF}));
  CHECK(one({0x80, 1, 2, 0, 0xE000}));
  CHECK(one({0x100, 1, 3, 1, 1}));
  CHECK(one({0x100, 1, 3, 7, 1}));
  CHECK_FALSE(one({0x100, 1, 3, 0, 1}));  // no place takes part
  CHECK_FALSE(one({0x100, 1, 3, 4, 1}));
  CHECK_FALSE(one({0x100, 1, 3, 9, 1}));
  CHECK_FALSE(one({0x80, 1, 3, 1, 0xFF80}));  // to NUL
  CHECK_FALSE(one({0xFFFF, 2, 3, 3, 0}));     // across U+10000
  CHECK(one({0x80, 1, 4, 0, 51}));
  CHECK_FALSE(one({0x80, 1, 4, 0, 52}));
  CHECK(one({0x80, 1, 5, 0, 9}));
  CHECK_FALSE(one({0x80, 1, 5, 0, 10}));
  CHECK(one({0x80, 3, 6, 1, 0}));
  CHECK(one({0x80, 1, 6, 2, 0}));
  CHECK_FALSE(one({0x80, 1, 6, 0, 0}));  // stride 0
  CHECK_FALSE(one({0x80, 1, 6, 9, 0}));  // stride over 8
  CHECK_FALSE(one({0x80, 2, 6, 2, 1}));  // character after a zero
  CHECK(one({0x80, 1, 6, 1, 3}));
  CHECK_FALSE(one({0x80, 1, 6, 1, 4}));  // capital
  CHECK_FALSE(one({0x80, 1, 6, 1, 5}));  // flagged zero
  CHECK_FALSE(one({0x80, 1, 6, 1, 6}));  // flagged digit
  CHECK_FALSE(one({0x80, 1, 6, 1, 7}));  // beyond the cells
  CHECK_FALSE(one({0x80, 255, 6, 8, 0}));
  // Order.
  CHECK(Accepts(MakeTable({{0x80, 2, 1, 0, 0}, {0x82, 1, 1, 0, 0}}, {})));
  CHECK_FALSE(Accepts(MakeTable({{0x80, 2, 1, 0, 0}, {0x81, 1, 1, 0, 0}}, {})));
  CHECK_FALSE(Accepts(MakeTable({{0x90, 1, 1, 0, 0}, {0x80, 1, 1, 0, 0}}, {})));
}

TEST_CASE("a table that was rejected folds nothing") {
  Bytes bytes = ProjectTable();
  FoldTable table;
  REQUIRE(table.Init(View(bytes), nullptr) == Status::kOk);
  CHECK(Shown(table, 0xE9) == "e");
  bytes.pop_back();
  CHECK(table.Init(View(bytes), nullptr) == Status::kBadTensor);
  CHECK(Shown(table, 0xE9) == "U+233");
}

TEST_CASE("the project's table") {
  const Bytes bytes = ProjectTable();
  CHECK(bytes.size() <= 4096);
  FoldTable table;
  ErrorInfo error;
  REQUIRE(table.Init(View(bytes), &error) == Status::kOk);
  const struct {
    std::uint32_t code;
    const char* text;
  } cases[] = {
      {0xC9, "E"},         {0xE9, "e"},
      {0xDF, "ss"},        {0x130, "I"},
      {0x131, "i"},        {0x152, "OE"},
      {0x17F, "s"},        {0x391, "A"},
      {0x3B1, "a"},        {0x3BD, "v"},
      {0x39D, "N"},        {0x3B8, "U+952"},
      {0x398, "U+952"},    {0x430, "a"},
      {0x410, "A"},        {0x456, "i"},
      {0x434, "U+1076"},   {0x414, "U+1076"},
      {0x51D, "w"},        {0x578, "n"},
      {0x660, "0"},        {0x969, "3"},
      {0x13A1, "R"},       {0x1D00, "a"},
      {0x1E9E, "SS"},      {0x2013, "-"},
      {0x2019, "'"},       {0x201C, "\""},
      {0x2026, "..."},     {0x2122, "tm"},
      {0x2167, "VIII"},    {0x2160, "I"},
      {0x24B6, "A"},       {0x24D0, "a"},
      {0x2460, "1"},       {0x3000, " "},
      {0xA0, " "},         {0xBD, "1/2"},
      {0xFB01, "fi"},      {0xFF21, "A"},
      {0xFF29, "I"},       {0xFF5A, "z"},
      {0xFF10, "0"},       {0xFFE1, "U+163"},
      {0x1D400, "A"},      {0x1D7FF, "9"},
      {0x1D41A, "a"},      {0x1F170, "A"},
      {0x1F1E6, "A"},      {0x92, "'"},
      {0x80, "U+8364"},    {0x93, "\""},
      {0x300, "-"},        {0x36F, "-"},
      {0xAD, "-"},         {0x200B, "-"},
      {0x202E, "-"},       {0x2060, "-"},
      {0xFEFF, "-"},       {0xFE0F, "-"},
      {0xE0041, "-"},      {0xE01EF, "-"},
      {0xA3, "U+163"},     {0x20AC, "U+8364"},
      {0x4E2D, "U+20013"}, {0x1F600, "U+128512"},
      {0xFFFD, "U+65533"}, {0x10FFFF, "U+1114111"},
  };
  for (const auto& item : cases) {
    CAPTURE(item.code);
    CHECK(Shown(table, item.code) == item.text);
  }
}

// Every single flipped byte gives an error or a table that is safe to use.
TEST_CASE("damaged tables are rejected or harmless") {
  const Bytes good = ProjectTable();
  std::size_t rejected = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    Bytes bytes = good;
    bytes[i] = static_cast<std::uint8_t>(bytes[i] ^ (1U << (i % 8)));
    FoldTable table;
    if (table.Init(View(bytes), nullptr) != Status::kOk) {
      ++rejected;
      continue;
    }
    for (std::uint32_t code = 0x80; code < 0x2200; ++code) {
      const Fold fold = table.Lookup(code);
      if (fold.length > FoldTable::kMaxOutput) FAIL("output too long");
    }
  }
  CHECK(rejected > good.size() / 8);
}

}  // namespace
