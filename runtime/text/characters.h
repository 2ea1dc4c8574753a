// Classes of normalised characters, as docs/text.md defines them.
#ifndef ATTO_RUNTIME_TEXT_CHARACTERS_H_
#define ATTO_RUNTIME_TEXT_CHARACTERS_H_

#include <cstdint>

namespace atto {

inline bool IsDigit(std::uint32_t c) noexcept { return c >= '0' && c <= '9'; }

inline bool IsCurrency(std::uint32_t c) noexcept {
  return c == '$' || (c >= 0xA2 && c <= 0xA5) || c == 0xE3F ||
         (c >= 0x20A0 && c <= 0x20CF);
}

// Signs beyond ASCII, by block; the other code points beyond ASCII are letters.
inline bool IsSymbol(std::uint32_t c) noexcept {
  if (c < 0xC0) return c >= 0x80;
  if (c == 0xD7 || c == 0xF7 || c == 0xE3F) return true;
  if (c < 0x2000) return false;
  return c < 0x2C00 || (c >= 0x2E00 && c < 0x2E80) ||
         (c >= 0x3000 && c < 0x3040 && c != 0x3005 && c != 0x3006) ||
         (c >= 0xE000 && c < 0xF900) || (c >= 0xFE10 && c < 0xFE70) ||
         (c >= 0xFF00 && c < 0xFF66) || (c >= 0xFFE0 && c < 0x10000) ||
         (c >= 0x1F000 && c < 0x1FC00) || c >= 0xF0000;
}

inline bool IsLetter(std::uint32_t c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 0x80 && !IsSymbol(c));
}

inline bool IsWordChar(std::uint32_t c) noexcept {
  return IsLetter(c) || IsDigit(c);
}

inline bool IsPunctuation(std::uint32_t c) noexcept {
  return c > ' ' && c < 0x80 && !IsWordChar(c);
}

// Between the groups of a phone number.
inline bool IsPhoneGap(std::uint32_t c) noexcept {
  return c == ' ' || c == '-' || c == '.' || c == '(' || c == ')';
}

// Between letters that are one word ("f r e e").
inline bool IsJoiner(std::uint32_t c) noexcept {
  return c == ' ' || c == '.' || c == '-' || c == '_' || c == '*';
}

inline bool IsOneOf(std::uint32_t c, const char* list) noexcept {
  for (; *list != '\0'; ++list) {
    if (c == static_cast<std::uint8_t>(*list)) return true;
  }
  return false;
}

}  // namespace atto

#endif  // ATTO_RUNTIME_TEXT_CHARACTERS_H_
