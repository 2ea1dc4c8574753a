// Any bytes as text, under any legal parameters, with the project's fold table
// or with any that is accepted.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/text/fold_table.h"
#include "runtime/text/normalizer.h"
#include "runtime/text/tokenizer.h"
#include "tests/fuzz/fuzz_input.h"
#include "tools/text/fold_table_data.h"

namespace atto::fuzz {
namespace {

TextParams DrawParams(FuzzInput* input) {
  const auto draw = [input](std::int64_t low, std::int64_t high) {
    return static_cast<std::uint32_t>(input->In(low, high));
  };
  TextParams params;
  if (!input->Coin()) return params;
  params.buckets = draw(16, 65535);
  // Every token has a feature.
  params.features = draw(0, kAllTextFeatures) |
                    draw(kFeatureClass, kFeatureClass | kFeatureShape);
  params.ngram_max = draw(1, 6);
  params.ngram_min = draw(1, params.ngram_max);
  params.max_word_chars = draw(8, 32);
  params.max_features = draw(8, 64);
  params.phone_min_digits = draw(7, 15);
  params.join_spaced_min = input->Coin() ? draw(3, 16) : 0;
  params.join_dotted_min = input->Coin() ? draw(3, 16) : 0;
  return params;
}

// Accepted or not, a lookup gives legal characters.
void LookUpEverything(const FoldTable& table) {
  for (std::uint32_t code = 0x80; code <= 0x10FFFF; code += 7) {
    const Fold fold = table.Lookup(code);
    Require(fold.length <= FoldTable::kMaxOutput, "a fold is short");
    for (std::size_t i = 0; fold.text != nullptr && i < fold.length; ++i) {
      Require((fold.text[i] & 0x7F) >= 0x20, "folds hold no controls");
    }
  }
}

// Characters of the text, each checked.
std::size_t Normalize(const FoldTable& table, Span<const char> text,
                      std::size_t* invalid) {
  Normalizer characters(table, text);
  NormalChar character;
  std::size_t count = 0;
  std::size_t offset = 0;
  while (characters.Next(&character)) {
    ++count;
    Require(character.code >= ' ' && character.code <= 0x10FFFF,
            "characters are no controls");
    Require(character.size >= 1 && character.size <= 4,
            "a code point has 1..4 bytes");
    Require(character.offset >= offset, "characters keep their order");
    Require(character.offset + character.size <= text.size(),
            "characters lie in the text");
    offset = character.offset;
  }
  *invalid = characters.invalid_utf8();
  Require(count <= FoldTable::kMaxOutput * text.size(),
          "a byte gives at most eight characters");
  return count;
}

void Tokenize(const TextParams& params, const FoldTable& table,
              Span<const char> text) {
  std::size_t invalid = 0;
  const std::size_t characters = Normalize(table, text, &invalid);
  Tokenizer tokenizer(params, table, text);
  Token token;
  std::size_t tokens = 0;
  std::size_t offset = 0;
  while (tokenizer.Next(&token)) {
    ++tokens;
    Require(token.offset >= offset, "tokens keep their order");
    Require(token.length >= 1 && token.offset + token.length <= text.size(),
            "tokens lie in the text");
    Require(!token.rows.empty() && token.rows.size() <= params.max_features,
            "a token has 1..max_features rows");
    for (const std::uint16_t row : token.rows) {
      Require(row < params.buckets, "rows lie in the table");
    }
    const int token_class = static_cast<int>(token.token_class);
    Require(token_class >= 1 && token_class <= 9, "tokens have a class");
    offset = token.offset;
  }
  Require(tokens <= characters, "a token takes at least a character");
  Require(tokenizer.invalid_utf8() == invalid, "ill-formed parts are counted");
  Require(!tokenizer.Next(&token), "the end is the end");
}

}  // namespace
}  // namespace atto::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace atto;
  fuzz::FuzzInput input(data, size);
  const TextParams params = fuzz::DrawParams(&input);
  ErrorInfo error;
  fuzz::Require(ValidateTextParams(params, &error) == Status::kOk,
                "parameters in range are legal");
  FoldTable table;
  std::vector<std::uint8_t> bytes(kFoldTableData,
                                  kFoldTableData + sizeof(kFoldTableData));
  const bool own_table = input.Coin();
  if (own_table) bytes = input.Bytes(input.Size(0, 255));
  const Status status = table.Init({bytes.data(), bytes.size()}, &error);
  fuzz::Require(own_table || status == Status::kOk,
                "the project's table is legal");
  if (own_table) fuzz::LookUpEverything(table);
  const std::vector<std::uint8_t> text = input.Rest();
  fuzz::Tokenize(params, table,
                 {reinterpret_cast<const char*>(text.data()), text.size()});
  return 0;
}
