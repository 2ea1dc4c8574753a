// The fold table: what each non-ASCII code point looks like as lower-case
// ASCII.
//
// The table is data of the model (tensor `text.fold_table`) and is read in
// place. docs/text.md defines its bytes; tools/text/make_fold_table.py makes it
// from Unicode data: compatibility and case folding, marks stripped,
// look-alikes of ASCII letters replaced, invisible characters removed.
#ifndef ATTO_RUNTIME_TEXT_FOLD_TABLE_H_
#define ATTO_RUNTIME_TEXT_FOLD_TABLE_H_

#include <cstddef>
#include <cstdint>

#include "ops/base/span.h"
#include "ops/base/status.h"
#include "runtime/error_info.h"

namespace atto {

// What one code point becomes: `length` characters, 0 when it is removed.
struct Fold {
  // ASCII characters, bit 7 set where the letter was a capital; null when the
  // single character is `code`.
  const std::uint8_t* text = nullptr;
  std::uint32_t code = 0;
  std::uint8_t length = 0;
  bool upper = false;  // of `code`
};

class FoldTable {
 public:
  // A code point becomes at most this many characters.
  static constexpr std::size_t kMaxOutput = 8;

  FoldTable() noexcept = default;

  // The table in `checked`, bytes that Init has accepted before and that must
  // outlive it.
  explicit FoldTable(const std::uint8_t* checked) noexcept;

  // Whether `bytes` is as long as its header says, whatever the entries are:
  // what can be said of a table without reading it. Legal: any bytes.
  static Status CheckSize(Span<const std::uint8_t> bytes,
                          ErrorInfo* error) noexcept;

  // Checks every entry of `bytes` once and keeps a view of them: they must
  // outlive the table. Status::kBadTensor names what is wrong; Lookup trusts a
  // table that passed. Before Init a table folds nothing.
  Status Init(Span<const std::uint8_t> bytes, ErrorInfo* error) noexcept;

  // Folds a code point in 0x80..0x10FFFF; one that the table does not name
  // stays as it is. Binary search: at most 16 steps.
  Fold Lookup(std::uint32_t code) const noexcept;

 private:
  const std::uint8_t* entries_ = nullptr;
  const std::uint8_t* cells_ = nullptr;
  std::size_t entry_count_ = 0;
};

}  // namespace atto

#endif  // ATTO_RUNTIME_TEXT_FOLD_TABLE_H_
