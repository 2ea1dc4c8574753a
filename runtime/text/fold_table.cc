#include "runtime/text/fold_table.h"

namespace atto {
namespace {

constexpr std::size_t kHeaderBytes = 8;
constexpr std::size_t kEntryBytes = 7;
constexpr char kSubject[] = "text.fold_table";
constexpr std::uint32_t kMaxCode = 0x10FFFF;
constexpr std::uint32_t kLettersPeriod = 52;
constexpr std::uint32_t kCapitals = 26;

enum Kind : std::uint8_t {
  kRemove = 1,    // shows nothing
  kConstant = 2,  // all become one character
  kOffset = 3,    // code + argument, modulo 65,536
  kLetters = 4,   // A..Z a..z over and over
  kDigits = 5,    // 0..9 over and over
  kCells = 6,     // a cell of ASCII characters each
};

// Flags of kConstant and kOffset.
constexpr std::uint32_t kNotCapital = 4;

struct Entry {
  std::uint32_t first;
  std::uint32_t count;
  std::uint32_t kind;
  std::uint32_t flags;
  std::uint32_t argument;
};

std::uint32_t Load16(const std::uint8_t* p) noexcept {
  return static_cast<std::uint32_t>(p[0]) | static_cast<std::uint32_t>(p[1])
                                                << 8;
}

std::uint32_t FirstCode(const std::uint8_t* p) noexcept {
  return Load16(p) | static_cast<std::uint32_t>(p[2]) << 16;
}

Entry LoadEntry(const std::uint8_t* p) noexcept {
  return {FirstCode(p), static_cast<std::uint32_t>(p[3]) + 1,
          static_cast<std::uint32_t>(p[4] & 15),
          static_cast<std::uint32_t>(p[4] >> 4), Load16(p + 5)};
}

// Output that the tokenizer relies on: never a control, never an ASCII capital,
// always a code point that UTF-8 can hold.
bool IsLegalOutput(std::uint32_t code) noexcept {
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return false;
  if (code >= 'A' && code <= 'Z') return false;
  return code < 0xD800 || code > 0xDFFF;
}

bool IsLegalCell(const std::uint8_t* cell, std::uint32_t stride) noexcept {
  std::uint32_t length = 0;
  while (length < stride && cell[length] != 0) ++length;
  for (std::uint32_t i = length; i < stride; ++i) {
    if (cell[i] != 0) return false;
  }
  if (length == 1 && cell[0] == 1) return true;  // removed
  for (std::uint32_t i = 0; i < length; ++i) {
    const std::uint32_t c = cell[i] & 0x7FU;
    const bool letter = c >= 'a' && c <= 'z';
    if (!IsLegalOutput(c) || ((cell[i] & 0x80U) != 0 && !letter)) return false;
  }
  return true;
}

// True when entry and cells can be looked up without a further check.
bool IsLegalEntry(const Entry& entry, const std::uint8_t* cells,
                  std::size_t cell_bytes) noexcept {
  switch (entry.kind) {
    case kRemove: return entry.flags == 0 && entry.argument == 0;
    case kConstant: return entry.flags <= 3 && IsLegalOutput(entry.argument);
    case kOffset:
      if (entry.first + entry.count > 0x10000) return false;
      if (entry.flags > 7 || (entry.flags & 3) == 0) return false;
      for (std::uint32_t i = 0; i < entry.count; ++i) {
        if (!IsLegalOutput((entry.first + i + entry.argument) & 0xFFFF)) {
          return false;
        }
      }
      return true;
    case kLetters: return entry.flags == 0 && entry.argument < kLettersPeriod;
    case kDigits: return entry.flags == 0 && entry.argument < 10;
    case kCells: {
      const std::uint32_t stride = entry.flags;
      if (stride == 0 || stride > FoldTable::kMaxOutput) return false;
      if (entry.argument + entry.count * stride > cell_bytes) return false;
      for (std::uint32_t i = 0; i < entry.count; ++i) {
        if (!IsLegalCell(cells + entry.argument + i * stride, stride)) {
          return false;
        }
      }
      return true;
    }
    default: return false;
  }
}

Status Bad(ErrorInfo* error, Sentence expectation, std::size_t found,
           std::size_t expected) noexcept {
  return Fail(error, Status::kBadTensor, kSubject, expectation,
              static_cast<std::int64_t>(found),
              static_cast<std::int64_t>(expected));
}

}  // namespace

FoldTable::FoldTable(const std::uint8_t* checked) noexcept
    : entries_(checked + kHeaderBytes),
      cells_(entries_ + Load16(checked + 4) * kEntryBytes),
      entry_count_(Load16(checked + 4)) {}

Status FoldTable::CheckSize(Span<const std::uint8_t> bytes,
                            ErrorInfo* error) noexcept {
  if (bytes.size() < kHeaderBytes) {
    return Bad(error, "bytes: must be at least", bytes.size(), kHeaderBytes);
  }
  const std::uint8_t* data = bytes.data();
  if (data[0] != 'A' || data[1] != 'F' || data[2] != 'T' || data[3] != '1') {
    return Bad(error, "must begin with 'AFT1'; first byte", data[0], 'A');
  }
  const std::size_t size =
      kHeaderBytes + Load16(data + 4) * kEntryBytes + Load16(data + 6);
  if (bytes.size() != size) {
    return Bad(error, "bytes: must be as its header says", bytes.size(), size);
  }
  return Status::kOk;
}

Status FoldTable::Init(Span<const std::uint8_t> bytes,
                       ErrorInfo* error) noexcept {
  entry_count_ = 0;
  const Status status = CheckSize(bytes, error);
  if (status != Status::kOk) return status;
  const std::size_t entry_count = Load16(bytes.data() + 4);
  const std::size_t cell_bytes = Load16(bytes.data() + 6);
  const std::uint8_t* entries = bytes.data() + kHeaderBytes;
  const std::uint8_t* cells = entries + entry_count * kEntryBytes;
  std::uint32_t least = 0x80;  // ASCII is folded by rule
  for (std::size_t i = 0; i < entry_count; ++i) {
    const Entry entry = LoadEntry(entries + i * kEntryBytes);
    if (entry.first < least) {
      return Bad(error, "entries must ascend from 0x80 on; code point",
                 entry.first, least);
    }
    if (entry.first + entry.count - 1 > kMaxCode) {
      return Bad(error, "entries must end at U+10FFFF; code point",
                 entry.first + entry.count - 1, kMaxCode);
    }
    if (!IsLegalEntry(entry, cells, cell_bytes)) {
      return Bad(error, "illegal kind, flags, argument or cell; entry", i,
                 entry_count);
    }
    least = entry.first + entry.count;
  }
  *this = FoldTable(bytes.data());
  return Status::kOk;
}

Fold FoldTable::Lookup(std::uint32_t code) const noexcept {
  // The last entry that begins at or before `code`.
  std::size_t low = 0;
  std::size_t high = entry_count_;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (FirstCode(entries_ + middle * kEntryBytes) <= code) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  Fold fold;  // the code point as it is
  fold.code = code;
  fold.length = 1;
  if (low == 0) return fold;
  const Entry entry = LoadEntry(entries_ + (low - 1) * kEntryBytes);
  const std::uint32_t index = code - entry.first;
  if (index >= entry.count) return fold;
  const bool flagged = (entry.flags & 1U << (index & 1U)) != 0;
  const std::uint32_t place = index + entry.argument;
  switch (entry.kind) {
    case kRemove: fold.length = 0; return fold;
    case kConstant:
      fold.code = entry.argument;
      fold.upper = flagged;
      return fold;
    case kOffset:
      if (!flagged) return fold;
      fold.code = (code + entry.argument) & 0xFFFF;
      fold.upper = (entry.flags & kNotCapital) == 0;
      return fold;
    case kLetters:
      fold.code = 'a' + place % kCapitals;
      fold.upper = place % kLettersPeriod < kCapitals;
      return fold;
    case kDigits: fold.code = '0' + place % 10; return fold;
    default: break;
  }
  const std::uint32_t stride = entry.flags;
  const std::uint8_t* cell = cells_ + entry.argument + index * stride;
  if (cell[0] == 0) return fold;
  fold.length = 0;
  if (cell[0] == 1) return fold;
  fold.text = cell;
  while (fold.length < stride && cell[fold.length] != 0) ++fold.length;
  return fold;
}

}  // namespace atto
