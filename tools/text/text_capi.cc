// C functions around the runtime's tokenizer, so that training sees exactly the
// features of the device. Used by tools/text/device_text.py through ctypes.
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "ops/base/span.h"
#include "ops/base/status.h"
#include "runtime/error_info.h"
#include "runtime/text/fold_table.h"
#include "runtime/text/normalizer.h"
#include "runtime/text/tokenizer.h"
#include "tools/text/fold_table_data.h"

#define ATTO_TEXT_API extern "C" __attribute__((visibility("default")))

namespace {

// Order of the values: device_text.TextParams.
atto::TextParams ReadParams(const std::uint32_t* values) noexcept {
  atto::TextParams params;
  params.version = values[0];
  params.buckets = values[1];
  params.features = values[2];
  params.ngram_min = values[3];
  params.ngram_max = values[4];
  params.max_word_chars = values[5];
  params.max_features = values[6];
  params.phone_min_digits = values[7];
  params.join_spaced_min = values[8];
  params.join_dotted_min = values[9];
  return params;
}

// 0, or -1 with a sentence in `message`.
int Report(atto::Status status, const atto::ErrorInfo& error, char* message,
           std::size_t message_size) noexcept {
  if (status == atto::Status::kOk) return 0;
  std::snprintf(message, message_size, "%s: %s %lld (found %lld)",
                error.subject, error.expectation,
                static_cast<long long>(error.expected),
                static_cast<long long>(error.found));
  return -1;
}

}  // namespace

// The fold table that training writes into models.
ATTO_TEXT_API const std::uint8_t* atto_text_fold_table(
    std::size_t* size) noexcept {
  *size = sizeof(atto::kFoldTableData);
  return atto::kFoldTableData;
}

// Checks parameters and table; 0, or -1 with a sentence in `message`.
ATTO_TEXT_API int atto_text_check(const std::uint32_t* params,
                                  const std::uint8_t* table,
                                  std::size_t table_size, char* message,
                                  std::size_t message_size) noexcept {
  atto::ErrorInfo error;
  atto::Status status = ValidateTextParams(ReadParams(params), &error);
  if (status == atto::Status::kOk) {
    atto::FoldTable fold_table;
    status = fold_table.Init(atto::Span<const std::uint8_t>(table, table_size),
                             &error);
  }
  return Report(status, error, message, message_size);
}

// Tokenizes `text` with parameters and table that atto_text_check passed.
//
// Fills the arrays, each of `token_capacity` entries, and `rows` with the
// tokens' rows one after the other. counts: tokens of the text, of which those
// beyond token_capacity are not filled in; ill-formed UTF-8; features cut;
// characters cut. Returns the rows written, or -1 if row_capacity is too small.
ATTO_TEXT_API std::ptrdiff_t atto_text_tokenize(
    const std::uint32_t* params, const std::uint8_t* table,
    std::size_t table_size, const char* text, std::size_t text_size,
    std::size_t token_capacity, std::size_t row_capacity,
    std::uint64_t* offsets, std::uint64_t* lengths, std::uint8_t* classes,
    std::uint16_t* row_counts, std::uint16_t* rows,
    std::uint64_t counts[4]) noexcept {
  atto::FoldTable fold_table;
  if (fold_table.Init(atto::Span<const std::uint8_t>(table, table_size),
                      nullptr) != atto::Status::kOk) {
    return -1;
  }
  atto::Tokenizer tokenizer(ReadParams(params), fold_table,
                            atto::Span<const char>(text, text_size));
  std::size_t token_count = 0;
  std::size_t row_count = 0;
  atto::Token token;
  while (tokenizer.Next(&token)) {
    if (token_count < token_capacity) {
      if (row_capacity - row_count < token.rows.size()) return -1;
      offsets[token_count] = token.offset;
      lengths[token_count] = token.length;
      classes[token_count] = static_cast<std::uint8_t>(token.token_class);
      row_counts[token_count] = static_cast<std::uint16_t>(token.rows.size());
      for (const std::uint16_t row : token.rows) rows[row_count++] = row;
    }
    ++token_count;
  }
  counts[0] = token_count;
  counts[1] = tokenizer.invalid_utf8();
  counts[2] = tokenizer.cut_features();
  counts[3] = tokenizer.cut_chars();
  return static_cast<std::ptrdiff_t>(row_count);
}

// Normalises `text`: code points into `codes`, source offsets into `offsets`.
// Flags: bit 0 capital, bit 1 imitation, bit 2 after a removed character.
// Returns the characters of the text; those beyond `capacity` are not filled
// in.
ATTO_TEXT_API std::size_t atto_text_normalize(
    const std::uint8_t* table, std::size_t table_size, const char* text,
    std::size_t text_size, std::size_t capacity, std::uint32_t* codes,
    std::uint64_t* offsets, std::uint8_t* sizes, std::uint8_t* flags,
    std::uint64_t* invalid_utf8) noexcept {
  atto::FoldTable fold_table;
  if (fold_table.Init(atto::Span<const std::uint8_t>(table, table_size),
                      nullptr) != atto::Status::kOk) {
    return 0;
  }
  atto::Normalizer normalizer(fold_table,
                              atto::Span<const char>(text, text_size));
  atto::NormalChar next;
  std::size_t count = 0;
  while (normalizer.Next(&next)) {
    if (count < capacity) {
      codes[count] = next.code;
      offsets[count] = next.offset;
      sizes[count] = next.size;
      flags[count] = static_cast<std::uint8_t>((next.upper ? 1 : 0) |
                                               (next.imitates ? 2 : 0) |
                                               (next.after_hidden ? 4 : 0));
    }
    ++count;
  }
  *invalid_utf8 = normalizer.invalid_utf8();
  return count;
}
