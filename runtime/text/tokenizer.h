// Tokenizer: text in, one word-like token at a time out, each with the rows of
// the embedding table whose sum is its embedding (hashed features, in the
// manner of fastText: Bojanowski et al. 2017, and of hash embeddings: Svenstrup
// et al. 2017).
//
// Streaming: O(1) memory, linear time, every look-ahead is bounded by a window
// of `Tokenizer::kWindow` characters. docs/text.md defines tokens and features.
#ifndef ATTO_RUNTIME_TEXT_TOKENIZER_H_
#define ATTO_RUNTIME_TEXT_TOKENIZER_H_

#include <cstddef>
#include <cstdint>

#include "ops/base/span.h"
#include "ops/base/status.h"
#include "runtime/error_info.h"
#include "runtime/text/fold_table.h"
#include "runtime/text/normalizer.h"

namespace atto {

// Bits of TextParams::features.
enum TextFeature : std::uint32_t {
  kFeatureClass = 1,             // token class
  kFeatureShape = 2,             // case, digits, lengths
  kFeatureWord = 4,              // the word as it is
  kFeatureSkeleton = 8,          // the word with leetspeak undone
  kFeatureGrams = 16,            // character n-grams of the skeleton
  kFeatureTraces = 32,           // which tricks were undone
  kFeatureBigrams = 64,          // the token with the one before
  kTokenPlainPunctuation = 128,  // single . , ' etc. are tokens
  kAllTextFeatures = 255,
};

// Metadata `atto.text.*` of a model, as wide as it stands there, so that
// ValidateTextParams sees every value.
struct TextParams {
  std::uint32_t version = 1;           // 1
  std::uint32_t buckets = 1024;        // rows of the table: 16..65,535
  std::uint32_t features = 31;         // TextFeature bits: class or shape set
  std::uint32_t ngram_min = 3;         // 1..ngram_max
  std::uint32_t ngram_max = 4;         // ..6
  std::uint32_t max_word_chars = 24;   // 8..32; longer words go on as tokens
  std::uint32_t max_features = 48;     // of a token: 8..64
  std::uint32_t phone_min_digits = 9;  // 7..15
  std::uint32_t join_spaced_min = 4;   // 3..16, or 0: never join "f r e e"
  std::uint32_t join_dotted_min = 3;   // 3..16, or 0: never join "f.r.e.e"
};

// Status::kBadKey with the key's name, the value found and the bound.
Status ValidateTextParams(const TextParams& params, ErrorInfo* error) noexcept;

enum class TokenClass : std::uint8_t {
  kWord = 1,
  kNumber = 2,
  kAmount = 3,  // money: a currency sign or code, or pence
  kPhone = 4,
  kShortCode = 5,  // a number of five or six digits
  kUrl = 6,
  kEmail = 7,
  kPunctuation = 8,
  kSymbol = 9,  // emoji and other signs
};

struct Token {
  // Source bytes. Two tokens can share a code point that became several
  // characters.
  std::size_t offset = 0;
  std::size_t length = 0;
  TokenClass token_class = TokenClass::kWord;
  // Rows of the embedding table, each < buckets; 1..max_features of them, in
  // the tokenizer's memory until its next call.
  Span<const std::uint16_t> rows;
};

class Tokenizer {
 public:
  static constexpr std::size_t kWindow = 64;  // characters looked ahead
  static constexpr std::size_t kMaxWordChars = 32;
  static constexpr std::size_t kMaxFeatures = 64;
  static constexpr std::size_t kMaxGram = 6;

  // `params` must have passed ValidateTextParams; table and text must outlive
  // the tokenizer. Any bytes are legal text.
  Tokenizer(const TextParams& params, const FoldTable& table,
            Span<const char> text) noexcept;

  // Gives the next token; false at the end of the text.
  bool Next(Token* token) noexcept;

  // Ill-formed UTF-8 sequences met so far.
  std::size_t invalid_utf8() const noexcept {
    return normalizer_.invalid_utf8();
  }
  // Features dropped because their token was full.
  std::size_t cut_features() const noexcept { return cut_features_; }
  // Characters of URLs and numbers beyond what their features look at.
  std::size_t cut_chars() const noexcept { return cut_chars_; }

 private:
  // Characters as features see them: up to kMaxWordChars of a token.
  struct Buffer {
    std::uint32_t codes[kMaxWordChars];
    std::size_t size = 0;
  };
  // What a word is made of.
  struct WordFacts {
    std::size_t letters = 0;
    std::size_t capitals = 0;
    std::size_t digits = 0;
    std::size_t signs = 0;       // $ @ and others that stand for letters
    std::size_t imitations = 0;  // letters that imitate ASCII ones
    bool first_capital = false;
    bool hidden = false;  // a removed character inside
    bool joined = false;
    bool starts = true;  // the piece begins the word
    bool ends = true;    // the piece ends the word
  };
  // Where the parts of a URL or e-mail address lie, in characters ahead.
  struct UrlMatch {
    std::size_t host = 0;
    std::size_t host_end = 0;
    std::size_t end = 0;  // 0: no match
    std::uint32_t shape = 0;
  };
  struct NumberMatch {
    std::size_t prefix = 0;  // currency before the digits
    std::size_t digits_end = 0;
    std::size_t unit_end = 0;
    std::size_t end = 0;  // 0: no match; past unit_end: "/min"
    std::uint32_t digits = 0;
    bool plain = true;  // digits only, no separator
    bool amount = false;
  };
  struct JoinMatch {
    std::size_t letters = 0;  // 0: no match
    std::size_t step = 0;     // characters from one letter to the next
  };

  // Window: the character `i` places ahead; 0 at the end or beyond the window.
  std::uint32_t Code(std::size_t i) noexcept;
  bool Has(std::size_t i, std::uint32_t flag) noexcept;
  void Consume(std::size_t count) noexcept;

  // Patterns: they look ahead and change nothing.
  bool Matches(std::size_t at, const char* text) noexcept;
  bool IsListed(std::size_t at, std::size_t length, const char* list) noexcept;
  std::size_t CountLetters(std::size_t at) noexcept;
  std::size_t CountDigits(std::size_t at) noexcept;
  bool StartsWord(std::size_t at) noexcept;
  bool TakesSign(std::size_t at, const WordFacts& facts) noexcept;
  std::size_t MatchDomain(std::size_t at, std::size_t any_labels) noexcept;
  UrlMatch MatchUrl() noexcept;
  UrlMatch MatchEmail() noexcept;
  JoinMatch MatchJoined() noexcept;
  std::size_t MatchPhone() noexcept;
  std::size_t MatchCurrency() noexcept;
  NumberMatch MatchNumber() noexcept;

  // Tokens: each emits features, consumes its characters and sets the class.
  bool TakeToken() noexcept;
  void TakeUrl(const UrlMatch& match, TokenClass token_class) noexcept;
  void TakeJoined(const JoinMatch& match) noexcept;
  void TakePhone(std::size_t end) noexcept;
  void TakeNumber(const NumberMatch& match) noexcept;
  void TakeWord() noexcept;
  void TakeSymbols() noexcept;
  bool TakePunctuation() noexcept;

  // Features.
  bool Wants(std::uint32_t feature) const noexcept {
    return (params_.features & feature) != 0;
  }
  void Begin(TokenClass token_class, std::uint32_t shape) noexcept;
  void AddRow(std::uint32_t hash) noexcept;
  void AddBigram(std::uint32_t hash) noexcept;
  void AddWord(const Buffer& buffer) noexcept;
  std::uint32_t AddSkeleton(const Buffer& buffer, bool starts,
                            bool ends) noexcept;
  void AddGrams(const Buffer& buffer, bool starts, bool ends) noexcept;
  void EmitWord(Buffer* buffer, const WordFacts& facts) noexcept;
  void AddLetter(std::size_t at, Buffer* buffer, WordFacts* facts) noexcept;
  std::size_t Load(std::size_t begin, std::size_t end, bool fold_digits,
                   Buffer* buffer) noexcept;

  TextParams params_;
  Normalizer normalizer_;
  // Ring of the characters read ahead: code in bits 0..20, flags above.
  std::uint32_t cells_[kWindow];
  std::size_t offsets_[kWindow];  // source bytes
  std::size_t head_ = 0;
  std::size_t filled_ = 0;
  bool at_end_ = false;
  bool in_word_ = false;  // the last token was the head of a longer word
  TokenClass token_class_ = TokenClass::kWord;
  std::size_t consumed_ = 0;    // source bytes up to the end of the last one
  std::uint32_t previous_ = 0;  // hash of the last token that is no mark
  std::size_t cut_features_ = 0;
  std::size_t cut_chars_ = 0;
  std::size_t row_count_ = 0;
  std::uint16_t rows_[kMaxFeatures];
};

}  // namespace atto

#endif  // ATTO_RUNTIME_TEXT_TOKENIZER_H_
