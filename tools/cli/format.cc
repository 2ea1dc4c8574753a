#include "tools/cli/format.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace atto::cli {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

// Takes one code point off `text`; one ill-formed byte gives U+FFFD.
char32_t TakeCodePoint(std::string_view* text) {
  const auto byte = [&](std::size_t i) {
    return i < text->size() ? static_cast<unsigned char>((*text)[i]) : 0U;
  };
  const unsigned lead = byte(0);
  std::size_t length = 1;
  char32_t code = lead;
  char32_t least = 0;
  if (lead >= 0x80) {
    if (lead >= 0xF0 && lead < 0xF8) {
      length = 4, code = lead & 0x07, least = 0x10000;
    } else if (lead >= 0xE0 && lead < 0xF0) {
      length = 3, code = lead & 0x0F, least = 0x800;
    } else if (lead >= 0xC0 && lead < 0xE0) {
      length = 2, code = lead & 0x1F, least = 0x80;
    } else {
      code = kReplacement;
    }
    for (std::size_t i = 1; i < length; ++i) {
      if ((byte(i) & 0xC0) != 0x80) {
        text->remove_prefix(1);
        return kReplacement;
      }
      code = (code << 6) | (byte(i) & 0x3F);
    }
    if (length > 1 && (code < least || code > 0x10FFFF ||
                       (code >= 0xD800 && code <= 0xDFFF))) {
      length = 1;
      code = kReplacement;
    }
  }
  text->remove_prefix(length);
  return code;
}

struct Range {
  char32_t first;
  char32_t last;
};

// Marks, zero-width and directional characters, variation selectors.
constexpr Range kNoColumn[] = {
    {0x0300, 0x036F},  {0x0483, 0x0489}, {0x00AD, 0x00AD}, {0x1AB0, 0x1AFF},
    {0x1DC0, 0x1DFF},  {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x2064},
    {0x20D0, 0x20FF},  {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF},
    {0xE0000, 0xE0FFF}};
// East Asian wide and fullwidth blocks, emoji.
constexpr Range kTwoColumns[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
    {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};

// Change the direction of what follows; no label may hold them either.
constexpr Range kDirection[] = {
    {0x061C, 0x061C}, {0x200E, 0x200F}, {0x202A, 0x202E}, {0x2066, 0x2069}};

template <std::size_t kCount>
bool Contains(const Range (&ranges)[kCount], char32_t code) {
  for (const Range& range : ranges) {
    if (code >= range.first && code <= range.last) return true;
  }
  return false;
}

std::size_t ColumnsOf(char32_t code) {
  if (Contains(kNoColumn, code)) return 0;
  return Contains(kTwoColumns, code) ? 2 : 1;
}

}  // namespace

std::string Grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string Fixed(double value, int decimals) {
  if (std::isnan(value)) return "-";
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%.*f", decimals, value);
  return buffer;
}

std::string Printable(std::string_view text) {
  std::string printable;
  while (!text.empty()) {
    const std::string_view before = text;
    const char32_t code = TakeCodePoint(&text);
    if (code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 ||
        code == 0x2029) {
      printable += ' ';
    } else if (code == kReplacement) {
      printable += "\uFFFD";
    } else if (!Contains(kDirection, code)) {
      printable += before.substr(0, before.size() - text.size());
    }
  }
  return printable;
}

std::size_t Columns(std::string_view printable) {
  std::size_t columns = 0;
  while (!printable.empty()) columns += ColumnsOf(TakeCodePoint(&printable));
  return columns;
}

std::string CutToColumns(std::string_view printable, std::size_t columns) {
  if (Columns(printable) <= columns) return std::string(printable);
  if (columns == 0) return {};
  std::string_view rest = printable;
  std::size_t used = 0;
  std::size_t kept = 0;
  while (!rest.empty()) {
    used += ColumnsOf(TakeCodePoint(&rest));
    if (used > columns - 1) break;
    kept = printable.size() - rest.size();
  }
  return std::string(printable.substr(0, kept)) + "…";
}

std::string PadLeft(std::string_view printable, std::size_t columns) {
  const std::size_t used = Columns(printable);
  return std::string(columns > used ? columns - used : 0, ' ') +
         std::string(printable);
}

std::string PadRight(std::string_view printable, std::size_t columns) {
  const std::size_t used = Columns(printable);
  return std::string(printable) +
         std::string(columns > used ? columns - used : 0, ' ');
}

std::size_t TerminalColumns() {
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  return 80;
}

}  // namespace atto::cli
