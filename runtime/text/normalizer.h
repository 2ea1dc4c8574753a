// Text normaliser: UTF-8 in, one folded character at a time out.
//
// Streaming: O(1) memory, every byte is read once. docs/text.md defines it.
#ifndef ATTO_RUNTIME_TEXT_NORMALIZER_H_
#define ATTO_RUNTIME_TEXT_NORMALIZER_H_

#include <cstddef>
#include <cstdint>

#include "ops/base/span.h"
#include "runtime/text/fold_table.h"

namespace atto {

// One character of the normalised text and where it came from.
struct NormalChar {
  std::uint32_t code = 0;     // lower case; never 0, never a control
  std::size_t offset = 0;     // source byte offset of its code point
  std::uint8_t size = 0;      // source bytes of its code point: 1..4
  bool upper = false;         // was a capital letter
  bool imitates = false;      // ASCII now, but neither ASCII nor Latin before
  bool after_hidden = false;  // a removed character stood before it
};

class Normalizer {
 public:
  // Both the table and the text must outlive the normaliser.
  Normalizer(const FoldTable& table, Span<const char> text) noexcept
      : table_(&table), text_(text) {}

  // Gives the next character; false at the end of the text.
  bool Next(NormalChar* next) noexcept;

  // Ill-formed UTF-8 sequences replaced by U+FFFD so far: one for each maximal
  // ill-formed part (Unicode 14, section 3.9, "best practice").
  std::size_t invalid_utf8() const noexcept { return invalid_utf8_; }

 private:
  std::uint32_t Decode() noexcept;

  const FoldTable* table_;
  Span<const char> text_;
  std::size_t position_ = 0;
  std::size_t invalid_utf8_ = 0;
  // What is left of a code point that became several characters.
  const std::uint8_t* pending_ = nullptr;
  std::uint8_t pending_length_ = 0;
  NormalChar source_;
};

}  // namespace atto

#endif  // ATTO_RUNTIME_TEXT_NORMALIZER_H_
