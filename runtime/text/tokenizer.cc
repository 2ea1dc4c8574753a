#include "runtime/text/tokenizer.h"

#include "runtime/text/characters.h"
#include "runtime/text/feature_hash.h"

namespace atto {
namespace {

// Flags of a window cell above its code point.
constexpr std::uint32_t kCodeMask = 0x1FFFFF;
constexpr std::uint32_t kUpper = 1U << 21;
constexpr std::uint32_t kImitates = 1U << 22;
constexpr std::uint32_t kAfterHidden = 1U << 23;
constexpr std::uint32_t kSizeShift = 24;

constexpr std::uint32_t kReplacement = 0xFFFD;
constexpr std::uint32_t kEuro = 0x20AC;

// Feature kinds: the first byte that is hashed.
enum Kind : std::uint32_t {
  kKindClass = 1,
  kKindShape = 2,
  kKindWord = 3,
  kKindGram = 4,
  kKindPattern = 5,  // a number with its digits as '0'
  kKindMarks = 6,    // punctuation and symbols
  kKindPrefix = 7,   // first digits of a phone number
  kKindTrace = 8,
  kKindBigram = 9,
};

enum Trace : std::uint32_t {
  kTraceJoined = 1,
  kTraceLeet = 2,
  kTraceHidden = 3,
  kTraceImitation = 4,
};

enum CaseShape : std::uint32_t {
  kNoLetter = 0,
  kLower = 1,
  kCapitalised = 2,
  kAllCapitals = 3,
  kOneCapital = 4,
  kMixedCase = 5,
};
constexpr std::uint32_t kShapeDigit = 8;
constexpr std::uint32_t kShapeSign = 16;
constexpr std::uint32_t kShapeSeparator = 16;  // of numbers
constexpr std::uint32_t kShapeUnit = 32;
constexpr std::uint32_t kShapePath = 4;  // of URLs

// Limits of the patterns, in characters, digits or labels.
constexpr std::size_t kMaxPhoneDigits = 15;  // ITU-T E.164
constexpr std::size_t kMaxPhoneGap = 3;
constexpr std::uint32_t kPhonePrefix = 4;  // digits
constexpr std::size_t kLongDigits = 5;     // a run that is no part of a word
constexpr std::size_t kMaxLabels = 8;      // of a domain name
constexpr std::size_t kMaxUnit = 6;
constexpr std::size_t kMaxWordDigits = 2;   // "2nite", "18yrs"
constexpr std::size_t kMaxExactDigits = 4;  // numbers known by heart
constexpr std::size_t kMaxJoinGap = 3;
constexpr std::size_t kMaxMarks = 8;  // of a punctuation run are hashed

// Words of the lists are separated by one space.
constexpr char kTopDomains[] =
    "com net org info biz uk co tv mobi eu edu gov ac xyz io cn";
constexpr char kSecondDomains[] = "co com org net gov ac edu";
constexpr char kCurrencyCodes[] = "rs gbp usd eur inr";
constexpr char kUnits[] =
    "am pm st nd rd th k m x s hr hrs min mins yr yrs wk wks mb gb kg km";

std::uint32_t HashClass(TokenClass token_class) noexcept {
  return HashByte(HashStart(kKindClass),
                  static_cast<std::uint32_t>(token_class));
}

// What a digit or sign stands for in leetspeak; other characters as they are.
std::uint32_t Unleet(std::uint32_t c) noexcept {
  switch (c) {
    case '0': return 'o';
    case '1':
    case '!':
    case '|': return 'l';
    case '3':
    case kEuro: return 'e';
    case '4':
    case '@': return 'a';
    case '5':
    case '$': return 's';
    case '6':
    case '9': return 'g';
    case '7': return 't';
    case '8': return 'b';
    default: return c;
  }
}

// Makes the skeleton of a word: leetspeak undone if asked, and 'i' as 'l',
// which look alike as capital and small letter.
void MakeSkeleton(bool leet, std::uint32_t* codes, std::size_t size) noexcept {
  for (std::size_t i = 0; i < size; ++i) {
    if (leet) codes[i] = Unleet(codes[i]);
    if (codes[i] == 'i') codes[i] = 'l';
  }
}

// Shape of a run of marks.
std::uint32_t CountShape(std::size_t count) noexcept {
  return static_cast<std::uint32_t>(count < 4 ? count : 4);
}

std::uint32_t CaseOf(std::size_t letters, std::size_t capitals,
                     bool first_capital) noexcept {
  if (letters == 0) return kNoLetter;
  if (capitals == 0) return kLower;
  if (letters == 1) return kOneCapital;
  if (capitals == letters) return kAllCapitals;
  return capitals == 1 && first_capital ? kCapitalised : kMixedCase;
}

Status CheckRange(const char* key, std::uint32_t value, std::uint32_t low,
                  std::uint32_t high, ErrorInfo* error) noexcept {
  if (value < low) {
    return Fail(error, Status::kBadKey, key, "must be at least", value, low);
  }
  if (value > high) {
    return Fail(error, Status::kBadKey, key, "must be at most", value, high);
  }
  return Status::kOk;
}

}  // namespace

Status ValidateTextParams(const TextParams& params, ErrorInfo* error) noexcept {
  const struct {
    const char* key;
    std::uint32_t value;
    std::uint32_t low;
    std::uint32_t high;
  } rules[] = {
      {"atto.text.version", params.version, 1, 1},
      {"atto.text.buckets", params.buckets, 16, 65535},
      {"atto.text.features", params.features, 1, kAllTextFeatures},
      {"atto.text.ngram_max", params.ngram_max, 1, Tokenizer::kMaxGram},
      {"atto.text.ngram_min", params.ngram_min, 1, params.ngram_max},
      {"atto.text.max_word_chars", params.max_word_chars, 8,
       Tokenizer::kMaxWordChars},
      {"atto.text.max_features", params.max_features, 8,
       Tokenizer::kMaxFeatures},
      {"atto.text.phone_min_digits", params.phone_min_digits, 7,
       kMaxPhoneDigits},
  };
  for (const auto& rule : rules) {
    const Status status =
        CheckRange(rule.key, rule.value, rule.low, rule.high, error);
    if (status != Status::kOk) return status;
  }
  if ((params.features & (kFeatureClass | kFeatureShape)) == 0) {
    return Fail(error, Status::kBadKey, "atto.text.features",
                "must hold bit 0 (class) or bit 1 (shape)", params.features,
                kFeatureClass);
  }
  if (params.join_spaced_min != 0) {
    const Status status = CheckRange("atto.text.join_spaced_min",
                                     params.join_spaced_min, 3, 16, error);
    if (status != Status::kOk) return status;
  }
  if (params.join_dotted_min != 0) {
    return CheckRange("atto.text.join_dotted_min", params.join_dotted_min, 3,
                      16, error);
  }
  return Status::kOk;
}

Tokenizer::Tokenizer(const TextParams& params, const FoldTable& table,
                     Span<const char> text) noexcept
    : params_(params), normalizer_(table, text) {}

bool Tokenizer::Next(Token* token) noexcept {
  for (;;) {
    while (Code(0) == ' ') Consume(1);
    if (Code(0) == 0) return false;
    const std::size_t begin = offsets_[head_];
    if (!TakeToken()) continue;
    token->offset = begin;
    token->length = consumed_ - begin;
    token->token_class = token_class_;
    token->rows = Span<const std::uint16_t>(rows_, row_count_);
    return true;
  }
}

// The window.

std::uint32_t Tokenizer::Code(std::size_t i) noexcept {
  if (i >= kWindow) return 0;
  while (filled_ <= i) {
    NormalChar next;
    if (at_end_ || !normalizer_.Next(&next)) {
      at_end_ = true;
      return 0;
    }
    const std::size_t place = (head_ + filled_) % kWindow;
    cells_[place] = next.code | (next.upper ? kUpper : 0) |
                    (next.imitates ? kImitates : 0) |
                    (next.after_hidden ? kAfterHidden : 0) |
                    static_cast<std::uint32_t>(next.size) << kSizeShift;
    offsets_[place] = next.offset;
    ++filled_;
  }
  return cells_[(head_ + i) % kWindow] & kCodeMask;
}

// Legal: Code(i) was not 0.
bool Tokenizer::Has(std::size_t i, std::uint32_t flag) noexcept {
  return (cells_[(head_ + i) % kWindow] & flag) != 0;
}

// Legal: 1 <= count <= characters in the window.
void Tokenizer::Consume(std::size_t count) noexcept {
  const std::size_t last = (head_ + count - 1) % kWindow;
  consumed_ = offsets_[last] + (cells_[last] >> kSizeShift);
  head_ = (head_ + count) % kWindow;
  filled_ -= count;
}

// Patterns.

bool Tokenizer::Matches(std::size_t at, const char* text) noexcept {
  for (; *text != '\0'; ++text, ++at) {
    if (Code(at) != static_cast<std::uint8_t>(*text)) return false;
  }
  return true;
}

// Whether the `length` characters from `at` are a word of the list.
bool Tokenizer::IsListed(std::size_t at, std::size_t length,
                         const char* list) noexcept {
  while (*list != '\0') {
    std::size_t i = 0;
    while (i < length && list[i] != '\0' && list[i] != ' ' &&
           Code(at + i) == static_cast<std::uint8_t>(list[i])) {
      ++i;
    }
    if (i == length && (list[i] == '\0' || list[i] == ' ')) return true;
    while (*list != '\0' && *list != ' ') ++list;
    if (*list == ' ') ++list;
  }
  return false;
}

std::size_t Tokenizer::CountLetters(std::size_t at) noexcept {
  std::size_t count = 0;
  while (IsLetter(Code(at + count))) ++count;
  return count;
}

std::size_t Tokenizer::CountDigits(std::size_t at) noexcept {
  std::size_t count = 0;
  while (IsDigit(Code(at + count))) ++count;
  return count;
}

bool Tokenizer::StartsWord(std::size_t at) noexcept {
  const std::uint32_t c = Code(at);
  if (c == '$' || c == '@' || c == kEuro) return IsLetter(Code(at + 1));
  return IsWordChar(c);
}

// Whether the sign at `at` stands for a letter of the word before it.
bool Tokenizer::TakesSign(std::size_t at, const WordFacts& facts) noexcept {
  const std::uint32_t last = Code(at - 1);
  const std::uint32_t next = Code(at + 1);
  switch (Code(at)) {
    case '@': return IsLetter(next) || next == '$';
    case '$':
    case kEuro: return IsDigit(last) ? IsLetter(next) : !IsDigit(next);
    case '|': return IsLetter(last) && IsLetter(next);
    case '!':
      // "w!n", but not "you!To" or "no!way": few letters, the last of them a
      // consonant, and no new sentence.
      return facts.letters == at && at <= 2 && !IsOneOf(last, "aeiouy") &&
             IsLetter(next) && (!Has(at + 1, kUpper) || Has(at - 1, kUpper));
    default: return false;
  }
}

// The end of the domain name at `at`, or 0. It ends with the last label that is
// a known top domain; failing that with its last label, if it has `any_labels`
// of them (0: never).
std::size_t Tokenizer::MatchDomain(std::size_t at,
                                   std::size_t any_labels) noexcept {
  std::size_t known_end = 0;
  std::size_t last_end = 0;
  std::size_t labels = 0;
  std::size_t previous = at;
  std::size_t previous_length = 0;
  for (std::size_t begin = at;;) {
    std::size_t end = begin;
    while (IsWordChar(Code(end)) || Code(end) == '-') ++end;
    const std::size_t length = end - begin;
    if (length == 0) break;
    ++labels;
    last_end = end;
    if (labels >= 2) {
      const bool country = length == 2 && CountLetters(begin) == 2 &&
                           IsListed(previous, previous_length, kSecondDomains);
      const bool path = Code(end) == '/' && IsWordChar(Code(end + 1)) &&
                        length >= 2 && length <= 6 &&
                        CountLetters(begin) == length && previous_length >= 2;
      if (country || path || IsListed(begin, length, kTopDomains)) {
        known_end = end;
      }
    }
    if (Code(end) != '.' || labels == kMaxLabels) break;
    previous = begin;
    previous_length = length;
    begin = end + 1;
  }
  if (known_end != 0) return known_end;
  return any_labels != 0 && labels >= any_labels ? last_end : 0;
}

Tokenizer::UrlMatch Tokenizer::MatchUrl() noexcept {
  UrlMatch match;
  if (Matches(0, "http://")) {
    match.host = 7;
    match.shape = 2;
  } else if (Matches(0, "https://")) {
    match.host = 8;
    match.shape = 3;
  } else if (Matches(0, "www.")) {
    match.shape = 1;
  }
  if (Matches(match.host, "www.")) match.host += 4;
  match.host_end = MatchDomain(match.host, match.shape == 0 ? 0 : 1);
  if (match.host_end == 0) return match;
  match.end = match.host_end;
  const std::uint32_t c = Code(match.host_end);
  if (c == '/' || c == '?' || c == '#' ||
      (c == ':' && IsDigit(Code(match.host_end + 1)))) {
    std::size_t end = match.host_end;
    while (Code(end) != 0 && Code(end) != ' ') ++end;
    if (end < kWindow) {
      // Punctuation of the sentence around it.
      while (end > match.host_end && IsOneOf(Code(end - 1), ".,!?;:)'\""))
        --end;
    }
    if (end > match.host_end) match.shape |= kShapePath;
    match.end = end;
  }
  return match;
}

Tokenizer::UrlMatch Tokenizer::MatchEmail() noexcept {
  UrlMatch match;
  std::size_t at = 0;
  while (IsWordChar(Code(at)) || IsOneOf(Code(at), "._%+-")) ++at;
  if (at == 0 || Code(at) != '@') return match;
  match.host = at + 1;
  match.host_end = MatchDomain(match.host, 2);
  match.end = match.host_end;
  return match;
}

Tokenizer::JoinMatch Tokenizer::MatchJoined() noexcept {
  JoinMatch match;
  const std::uint32_t joiner = Code(1);
  if (!IsLetter(Code(0)) || !IsJoiner(joiner)) return match;
  std::size_t gap = 1;
  if (joiner == ' ') {
    while (gap < kMaxJoinGap && Code(1 + gap) == joiner) ++gap;
  }
  const std::size_t step = gap + 1;
  const std::size_t least =
      joiner == ' ' ? params_.join_spaced_min : params_.join_dotted_min;
  if (least == 0) return match;
  std::size_t letters = 0;
  for (std::size_t at = 0;; at += step) {
    if (letters == params_.max_word_chars) break;
    // A letter that stands alone: the next character is the joiner, or ends
    // the run, and does not go on as a word of its own.
    const std::uint32_t next = Code(at + 1);
    if (!IsLetter(Code(at)) || IsWordChar(next)) break;
    bool more = true;
    for (std::size_t i = 1; i <= gap; ++i) {
      if (Code(at + i) != joiner) more = false;
    }
    if (more && IsLetter(Code(at + step))) {
      ++letters;
      continue;
    }
    const bool other_run = next != joiner &&
                           (next == '\'' || (next != ' ' && IsJoiner(next))) &&
                           IsLetter(Code(at + 2));
    if (!other_run) ++letters;
    break;
  }
  if (letters < least) return match;
  match.letters = letters;
  match.step = step;
  return match;
}

// The end of the phone number ahead, or 0: groups of digits, at least
// phone_min_digits and at most 15 in all.
std::size_t Tokenizer::MatchPhone() noexcept {
  std::size_t at = 0;
  if (Code(at) == '(') ++at;
  if (Code(at) == '+') ++at;
  const std::size_t first = CountDigits(at);
  if (first == 0 || first > kMaxPhoneDigits) return 0;
  // A lone digit before a number is a word ("2 08..."), unless it is the
  // country code 1 or marked as part of the number.
  if (first == 1 && at == 0 && Code(at) != '1') return 0;
  std::size_t total = first;
  std::size_t group = first;
  at += first;
  std::size_t end = at;
  while (group < params_.phone_min_digits) {
    std::size_t gap = 0;
    while (gap < kMaxPhoneGap && IsPhoneGap(Code(at + gap))) ++gap;
    group = CountDigits(at + gap);
    // "+44 (0)20": a trunk prefix is one digit in parentheses.
    const bool trunk = group == 1 && gap != 0 && Code(at + gap - 1) == '(' &&
                       Code(at + gap + 1) == ')';
    if (gap == 0 || (group < 2 && !trunk) || total + group > kMaxPhoneDigits) {
      break;
    }
    total += group;
    at += gap + group;
    end = at;
  }
  return total >= params_.phone_min_digits ? end : 0;
}

// The length of the currency mark before a number ahead ("$", "rs. "), or 0.
std::size_t Tokenizer::MatchCurrency() noexcept {
  std::size_t at = 0;
  if (IsCurrency(Code(0))) {
    at = 1;
  } else {
    at = CountLetters(0);
    if (!IsListed(0, at, kCurrencyCodes)) return 0;
    if (Code(at) == '.') ++at;
  }
  if (Code(at) == ' ') ++at;
  return IsDigit(Code(at)) ? at : 0;
}

Tokenizer::NumberMatch Tokenizer::MatchNumber() noexcept {
  NumberMatch match;
  match.prefix = MatchCurrency();
  match.amount = match.prefix != 0;
  std::size_t at = match.prefix;
  if (!IsDigit(Code(at))) return match;
  while (at < params_.max_word_chars) {
    if (IsDigit(Code(at))) {
      ++match.digits;
    } else if (IsOneOf(Code(at), ".,:/") && IsDigit(Code(at + 1)) &&
               at + 1 < params_.max_word_chars) {
      match.plain = false;
    } else {
      break;
    }
    ++at;
  }
  match.digits_end = at;
  match.unit_end = at;
  match.end = at;
  if (IsDigit(Code(at))) return match;  // the rest is a number of its own
  if (Code(at) == '%') {
    match.end = at + 1;
    return match;
  }
  if (match.prefix == 0 && IsCurrency(Code(at)) && !IsDigit(Code(at + 1))) {
    match.amount = true;
    match.end = at + 1;
    match.unit_end = at + 1;
    return match;
  }
  const std::size_t letters = CountLetters(at);
  if (letters != 0) {
    const bool pence =
        letters <= kMaxUnit && Code(at) == 'p' &&
        (letters == 1 || Code(at + 1) == 'p' || Code(at + 1) == 'w');
    const bool money = pence || IsListed(at, letters, kCurrencyCodes);
    const bool unit = money || IsListed(at, letters, kUnits) ||
                      (match.prefix != 0 && letters <= kMaxUnit);
    if (unit && !IsDigit(Code(at + letters))) {
      match.amount = match.amount || money;
      match.unit_end = at + letters;
      match.end = match.unit_end;
    } else if (match.prefix == 0 && match.plain &&
               match.digits <= kMaxWordDigits) {
      match.end = 0;  // "2nite": a word
      return match;
    }
  }
  if (match.amount && Code(match.end) == '/') {
    const std::size_t per = CountLetters(match.end + 1);
    if (per != 0 && per <= kMaxUnit && !IsDigit(Code(match.end + 1 + per))) {
      match.end += 1 + per;
    }
  }
  return match;
}

// Tokens.

// False when the characters consumed make no token.
bool Tokenizer::TakeToken() noexcept {
  if (in_word_) {
    TakeWord();
    return true;
  }
  const std::uint32_t c = Code(0);
  if (IsWordChar(c)) {
    UrlMatch match = MatchUrl();
    if (match.end != 0) {
      TakeUrl(match, TokenClass::kUrl);
      return true;
    }
    match = MatchEmail();
    if (match.end != 0) {
      TakeUrl(match, TokenClass::kEmail);
      return true;
    }
    const JoinMatch joined = MatchJoined();
    if (joined.letters != 0) {
      TakeJoined(joined);
      return true;
    }
  }
  const std::size_t phone_end = MatchPhone();
  if (phone_end != 0) {
    TakePhone(phone_end);
    return true;
  }
  const NumberMatch number = MatchNumber();
  if (number.end != 0) {
    TakeNumber(number);
    return true;
  }
  if (StartsWord(0)) {
    TakeWord();
    return true;
  }
  if (c >= 0x80) {
    TakeSymbols();
    return true;
  }
  return TakePunctuation();
}

void Tokenizer::TakeUrl(const UrlMatch& match,
                        TokenClass token_class) noexcept {
  Begin(token_class, match.shape);
  const std::size_t begin = token_class == TokenClass::kUrl ? match.host : 0;
  // Twice: n-grams come last, so that they are what a full token drops.
  for (int pass = 0; pass < 2; ++pass) {
    const bool grams = pass == 1;
    for (std::size_t at = begin; at < match.end;) {
      std::size_t end = at;
      while (end < match.end && IsWordChar(Code(end))) ++end;
      if (end == at) {
        ++at;
        continue;
      }
      Buffer piece;
      const std::size_t dropped = Load(at, end, true, &piece);
      if (!grams) {
        cut_chars_ += dropped;
        AddWord(piece);
        MakeSkeleton(false, piece.codes, piece.size);
        AddSkeleton(piece, true, true);
      } else if (at >= match.host && at < match.host_end) {
        MakeSkeleton(false, piece.codes, piece.size);
        AddGrams(piece, true, true);
      }
      at = end;
    }
    if (!grams) AddBigram(HashClass(token_class));
  }
  Consume(match.end);
  if (match.end == kWindow) {
    while (Code(0) != 0 && Code(0) != ' ') {
      Consume(1);
      ++cut_chars_;
    }
  }
}

void Tokenizer::TakeJoined(const JoinMatch& match) noexcept {
  Buffer buffer;
  WordFacts facts;
  facts.joined = true;
  for (std::size_t i = 0; i < match.letters; ++i) {
    AddLetter(i * match.step, &buffer, &facts);
  }
  Consume((match.letters - 1) * match.step + 1);
  EmitWord(&buffer, facts);
}

void Tokenizer::TakePhone(std::size_t end) noexcept {
  std::uint32_t digits = 0;
  for (std::size_t i = 0; i < end; ++i) {
    if (IsDigit(Code(i))) ++digits;
  }
  Begin(TokenClass::kPhone, digits);
  std::uint32_t hash = HashStart(kKindPrefix);
  digits = 0;
  for (std::size_t i = 0; digits < kPhonePrefix; ++i) {
    if (!IsDigit(Code(i))) continue;
    hash = HashCode(hash, Code(i));
    ++digits;
    if (digits + 1 >= kPhonePrefix && Wants(kFeatureWord)) AddRow(hash);
  }
  AddBigram(HashClass(TokenClass::kPhone));
  Consume(end);
}

void Tokenizer::TakeNumber(const NumberMatch& match) noexcept {
  const bool bare = match.plain && match.end == match.digits_end;
  TokenClass token_class = TokenClass::kNumber;
  if (match.amount) {
    token_class = TokenClass::kAmount;
  } else if (bare && (match.digits == 5 || match.digits == 6)) {
    token_class = TokenClass::kShortCode;
  }
  const bool unit = match.unit_end > match.digits_end;
  Begin(token_class, (match.digits < 15 ? match.digits : 15) |
                         (match.plain ? 0 : kShapeSeparator) |
                         (unit ? kShapeUnit : 0));
  Buffer text;
  if (match.digits <= kMaxExactDigits) {
    Load(0, match.end, false, &text);
    AddWord(text);
  }
  if (unit && IsLetter(Code(match.digits_end))) {
    Load(match.digits_end, match.unit_end, false, &text);
    AddWord(text);
  }
  if (match.end > match.unit_end && Code(match.unit_end) == '/') {
    Load(match.unit_end + 1, match.end, false, &text);
    AddWord(text);
  }
  cut_chars_ += Load(0, match.end, true, &text);
  const std::uint32_t pattern = HashText(kKindPattern, text.codes, text.size);
  if (Wants(kFeatureWord)) AddRow(pattern);
  AddBigram(pattern);
  if (!bare || match.amount) {
    MakeSkeleton(false, text.codes, text.size);
    AddGrams(text, true, true);
  }
  Consume(match.end);
}

void Tokenizer::TakeWord() noexcept {
  Buffer buffer;
  WordFacts facts;
  facts.starts = !in_word_;
  std::size_t at = 0;
  while (Code(at) != 0 && buffer.size < params_.max_word_chars) {
    const std::uint32_t c = Code(at);
    if (IsDigit(c)) {
      if (at > 0 && !IsDigit(Code(at - 1)) && CountDigits(at) >= kLongDigits) {
        break;
      }
    } else if (at > 0 && !IsLetter(c)) {
      // An apostrophe or broken bytes between letters: "don't" is "dont".
      std::size_t next = at;
      if (c == '\'' && IsLetter(Code(at - 1))) ++next;
      while (Code(next) == kReplacement) ++next;
      if (next > at && IsLetter(Code(next))) {
        if (Code(next - 1) == kReplacement) facts.hidden = true;
        at = next;
        continue;
      }
      if (!TakesSign(at, facts)) break;
    }
    AddLetter(at, &buffer, &facts);
    ++at;
  }
  const bool full = buffer.size == params_.max_word_chars || at == kWindow;
  Consume(at);
  in_word_ = full && IsLetter(Code(0));
  facts.ends = !in_word_;
  EmitWord(&buffer, facts);
}

void Tokenizer::TakeSymbols() noexcept {
  const std::uint32_t code = Code(0);
  std::size_t count = 1;
  while (Code(count) == code) {
    if (IsCurrency(code) && IsDigit(Code(count + 1))) break;
    ++count;
  }
  Begin(TokenClass::kSymbol, CountShape(count));
  if (Wants(kFeatureWord)) AddRow(HashCode(HashStart(kKindMarks), code));
  Consume(count);
}

// False when the punctuation is plain and makes no token.
bool Tokenizer::TakePunctuation() noexcept {
  std::size_t at = 0;
  std::size_t count = 0;
  std::size_t kinds = 0;
  std::uint32_t last = 0;
  std::uint32_t hash = HashStart(kKindMarks);
  while (IsPunctuation(Code(at))) {
    // A sign that begins the next token.
    if (at > 0 && IsOneOf(Code(at), "$@+(") && IsWordChar(Code(at + 1))) break;
    std::uint32_t mark = Code(at);
    std::size_t size = 1;
    // Text that was once HTML.
    if (mark == '&') {
      if (Matches(at, "&lt;")) {
        mark = '<';
        size = 4;
      } else if (Matches(at, "&gt;")) {
        mark = '>';
        size = 4;
      } else if (Matches(at, "&amp;")) {
        size = 5;
      } else if (Matches(at, "&quot;")) {
        mark = '"';
        size = 6;
      }
    }
    // Repeats count once, so that "!!!!" and "!!!!!!!" are alike.
    if (mark != last && kinds < kMaxMarks) {
      hash = HashByte(hash, mark);
      ++kinds;
    }
    last = mark;
    ++count;
    at += size;
  }
  Consume(at);
  if (count == 1 && IsOneOf(last, ".,'\"-_:;()/") &&
      !Wants(kTokenPlainPunctuation)) {
    return false;
  }
  Begin(TokenClass::kPunctuation, CountShape(count));
  if (Wants(kFeatureWord)) AddRow(hash);
  return true;
}

// Features.

void Tokenizer::Begin(TokenClass token_class, std::uint32_t shape) noexcept {
  token_class_ = token_class;
  row_count_ = 0;
  if (Wants(kFeatureClass)) AddRow(HashClass(token_class));
  if (Wants(kFeatureShape)) {
    const std::uint32_t hash = HashByte(
        HashStart(kKindShape), static_cast<std::uint32_t>(token_class));
    AddRow(HashByte(hash, shape));
  }
}

void Tokenizer::AddRow(std::uint32_t hash) noexcept {
  if (row_count_ == params_.max_features) {
    ++cut_features_;
    return;
  }
  // Scales 16 well-mixed bits to 0..buckets-1: no division.
  const std::uint32_t row = ((Mix(hash) >> 16) * params_.buckets) >> 16;
  rows_[row_count_++] = static_cast<std::uint16_t>(row);
}

void Tokenizer::AddBigram(std::uint32_t hash) noexcept {
  if (Wants(kFeatureBigrams)) {
    AddRow(HashWord(HashWord(HashStart(kKindBigram), previous_), hash));
  }
  previous_ = hash;
}

void Tokenizer::AddWord(const Buffer& buffer) noexcept {
  if (!Wants(kFeatureWord)) return;
  AddRow(HashText(kKindWord, buffer.codes, buffer.size));
}

// The whole word between its boundary marks, in the n-grams' hash space.
std::uint32_t Tokenizer::AddSkeleton(const Buffer& buffer, bool starts,
                                     bool ends) noexcept {
  std::uint32_t hash = HashStart(kKindGram);
  if (starts) hash = HashByte(hash, '<');
  for (std::size_t i = 0; i < buffer.size; ++i) {
    hash = HashCode(hash, buffer.codes[i]);
  }
  if (ends) hash = HashByte(hash, '>');
  if (Wants(kFeatureSkeleton)) AddRow(hash);
  return hash;
}

void Tokenizer::AddGrams(const Buffer& buffer, bool starts,
                         bool ends) noexcept {
  if (!Wants(kFeatureGrams)) return;
  const std::size_t shift = starts ? 1 : 0;
  const std::size_t size = buffer.size + shift + (ends ? 1 : 0);
  for (std::size_t begin = 0; begin < size; ++begin) {
    std::uint32_t hash = HashStart(kKindGram);
    for (std::size_t n = 1; n <= params_.ngram_max && begin + n <= size; ++n) {
      const std::size_t at = begin + n - 1;
      std::uint32_t code = '>';
      if (at < shift) {
        code = '<';
      } else if (at - shift < buffer.size) {
        code = buffer.codes[at - shift];
      }
      hash = HashCode(hash, code);
      // The whole is the skeleton, not an n-gram.
      if (n >= params_.ngram_min && n < size) AddRow(hash);
    }
  }
}

// Turns `buffer` from the word into its skeleton.
void Tokenizer::EmitWord(Buffer* buffer, const WordFacts& facts) noexcept {
  const bool leet = facts.letters >= 2 && facts.digits + facts.signs > 0;
  Begin(TokenClass::kWord,
        CaseOf(facts.letters, facts.capitals, facts.first_capital) |
            (facts.digits > 0 ? kShapeDigit : 0) |
            (facts.signs > 0 ? kShapeSign : 0));
  AddWord(*buffer);
  MakeSkeleton(leet, buffer->codes, buffer->size);
  AddBigram(AddSkeleton(*buffer, facts.starts, facts.ends));
  if (Wants(kFeatureTraces)) {
    const std::uint32_t hash = HashStart(kKindTrace);
    if (facts.joined) AddRow(HashByte(hash, kTraceJoined));
    if (leet) AddRow(HashByte(hash, kTraceLeet));
    if (facts.hidden) AddRow(HashByte(hash, kTraceHidden));
    if (facts.imitations > 0 && facts.imitations < facts.letters) {
      AddRow(HashByte(hash, kTraceImitation));
    }
  }
  AddGrams(*buffer, facts.starts, facts.ends);
}

void Tokenizer::AddLetter(std::size_t at, Buffer* buffer,
                          WordFacts* facts) noexcept {
  const std::uint32_t c = Code(at);
  if (IsLetter(c)) {
    ++facts->letters;
    if (Has(at, kUpper)) {
      ++facts->capitals;
      if (facts->letters == 1) facts->first_capital = true;
    }
    if (Has(at, kImitates)) ++facts->imitations;
  } else if (IsDigit(c)) {
    ++facts->digits;
  } else {
    ++facts->signs;
  }
  if (at > 0 && Has(at, kAfterHidden)) facts->hidden = true;
  const std::size_t size = buffer->size;
  // "sooooo" is "soo".
  if (IsLetter(c) && size >= 2 && buffer->codes[size - 1] == c &&
      buffer->codes[size - 2] == c) {
    return;
  }
  buffer->codes[buffer->size++] = c;
}

// Fills `buffer` with characters begin..end-1 but for spaces, digits as '0' if
// asked; returns how many did not fit in max_word_chars.
std::size_t Tokenizer::Load(std::size_t begin, std::size_t end,
                            bool fold_digits, Buffer* buffer) noexcept {
  buffer->size = 0;
  std::size_t dropped = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint32_t c = Code(i);
    if (c == ' ') continue;
    if (buffer->size == params_.max_word_chars) {
      ++dropped;
    } else {
      buffer->codes[buffer->size++] = fold_digits && IsDigit(c) ? '0' : c;
    }
  }
  return dropped;
}

}  // namespace atto
