#include "runtime/text/normalizer.h"

namespace atto {
namespace {

constexpr std::uint32_t kReplacement = 0xFFFD;

// Accented Latin letters are not imitations: Latin-1 to Latin Extended-B, and
// Latin Extended Additional.
bool IsLatin(std::uint32_t code) noexcept {
  return code < 0x250 || (code >= 0x1E00 && code < 0x1F00);
}

}  // namespace

std::uint32_t Normalizer::Decode() noexcept {
  const auto byte = [this](std::size_t i) noexcept {
    return static_cast<std::uint32_t>(static_cast<std::uint8_t>(text_[i]));
  };
  const std::uint32_t lead = byte(position_++);
  if (lead < 0x80) return lead;
  // Trailing bytes still to come, and the legal range of the first of them
  // (Unicode, table 3-7): it excludes overlong forms, surrogates and code
  // points above U+10FFFF.
  std::uint32_t trailing = 0;
  std::uint32_t low = 0x80;
  std::uint32_t high = 0xBF;
  std::uint32_t code = 0;
  if (lead >= 0xC2 && lead <= 0xDF) {
    trailing = 1;
    code = lead & 0x1F;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    trailing = 2;
    code = lead & 0x0F;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    trailing = 3;
    code = lead & 0x07;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    ++invalid_utf8_;
    return kReplacement;
  }
  for (; trailing > 0; --trailing) {
    if (position_ >= text_.size() || byte(position_) < low ||
        byte(position_) > high) {
      ++invalid_utf8_;
      return kReplacement;
    }
    code = code << 6 | (byte(position_++) & 0x3F);
    low = 0x80;
    high = 0xBF;
  }
  return code;
}

bool Normalizer::Next(NormalChar* next) noexcept {
  while (pending_length_ == 0) {
    if (position_ >= text_.size()) return false;
    source_.offset = position_;
    const std::uint32_t code = Decode();
    source_.size = static_cast<std::uint8_t>(position_ - source_.offset);
    if (code < 0x80) {
      const bool space = code == ' ' || (code >= '\t' && code <= '\r');
      if (!space && (code < ' ' || code == 0x7F)) {
        source_.after_hidden = true;
        continue;
      }
      *next = source_;
      next->upper = code >= 'A' && code <= 'Z';
      next->code = space ? ' ' : next->upper ? code + ('a' - 'A') : code;
      source_.after_hidden = false;
      return true;
    }
    const Fold fold = table_->Lookup(code);
    if (fold.length == 0) {
      source_.after_hidden = true;
      continue;
    }
    source_.imitates = !IsLatin(code);
    if (fold.text == nullptr) {
      *next = source_;
      next->code = fold.code;
      next->upper = fold.upper;
      next->imitates = source_.imitates && fold.code < 0x80;
      source_.after_hidden = false;
      source_.imitates = false;
      return true;
    }
    pending_ = fold.text;
    pending_length_ = fold.length;
  }
  *next = source_;
  next->code = *pending_ & 0x7FU;
  next->upper = (*pending_ & 0x80U) != 0;
  ++pending_;
  --pending_length_;
  source_.after_hidden = false;
  if (pending_length_ == 0) source_.imitates = false;
  return true;
}

}  // namespace atto
