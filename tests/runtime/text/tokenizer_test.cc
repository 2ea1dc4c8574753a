#include "runtime/text/tokenizer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tools/text/fold_table_data.h"

namespace {

using atto::ErrorInfo;
using atto::FoldTable;
using atto::Span;
using atto::Status;
using atto::TextParams;
using atto::Token;
using atto::TokenClass;
using atto::Tokenizer;
using Rows = std::vector<std::uint16_t>;

// A microcontroller with 16 KB keeps one of these beside the encoder's arena.
static_assert(sizeof(Tokenizer) <= 128 + 64 * (4 + sizeof(std::size_t)) +
                                       64 * 2 + 16 * sizeof(std::size_t));

const FoldTable& Table() {
  static const FoldTable table = [] {
    FoldTable made;
    REQUIRE(made.Init(Span<const std::uint8_t>(atto::kFoldTableData),
                      nullptr) == Status::kOk);
    return made;
  }();
  return table;
}

struct Piece {
  std::string text;
  TokenClass token_class;
  Rows rows;
};

TextParams WideParams() {
  TextParams params;
  params.buckets = 65535;
  return params;
}

std::vector<Piece> Tokenize(const std::string& text,
                            const TextParams& params = WideParams()) {
  REQUIRE(ValidateTextParams(params, nullptr) == Status::kOk);
  Tokenizer tokenizer(params, Table(),
                      Span<const char>(text.data(), text.size()));
  std::vector<Piece> pieces;
  std::size_t begin = 0;
  std::size_t end = 0;
  Token token;
  while (tokenizer.Next(&token)) {
    // Tokens lie in the text and in order.
    REQUIRE(token.offset >= begin);
    REQUIRE(token.offset + token.length >= end);
    REQUIRE(token.length > 0);
    begin = token.offset;
    end = token.offset + token.length;
    REQUIRE(end <= text.size());
    REQUIRE(token.rows.size() > 0);
    REQUIRE(token.rows.size() <= params.max_features);
    for (const std::uint16_t row : token.rows) REQUIRE(row < params.buckets);
    pieces.push_back({text.substr(token.offset, token.length),
                      token.token_class,
                      Rows(token.rows.begin(), token.rows.end())});
  }
  CHECK_FALSE(tokenizer.Next(&token));
  return pieces;
}

// "text/class text/class": a way to write expectations.
std::string Shown(const std::string& text,
                  const TextParams& params = WideParams()) {
  constexpr char kLetters[] = " wnapsuemy";
  std::string shown;
  for (const Piece& piece : Tokenize(text, params)) {
    if (!shown.empty()) shown += ' ';
    shown += piece.text + '/' + kLetters[static_cast<int>(piece.token_class)];
  }
  return shown;
}

// How many of the rows of `a` are also rows of `b`.
std::size_t Shared(const Rows& a, const Rows& b) {
  return static_cast<std::size_t>(
      std::count_if(a.begin(), a.end(), [&b](std::uint16_t row) {
        return std::find(b.begin(), b.end(), row) != b.end();
      }));
}

Rows RowsOf(const std::string& text, const TextParams& params = WideParams()) {
  const std::vector<Piece> pieces = Tokenize(text, params);
  REQUIRE(pieces.size() == 1);
  return pieces[0].rows;
}

TEST_CASE("parameters out of range name their key") {
  CHECK(ValidateTextParams(TextParams(), nullptr) == Status::kOk);
  const struct {
    const char* key;
    std::uint32_t TextParams::*field;
    std::uint32_t low;   // legal
    std::uint32_t high;  // legal
    bool zero;           // 0 is legal, too
  } rules[] = {
      {"atto.text.version", &TextParams::version, 1, 1, false},
      {"atto.text.buckets", &TextParams::buckets, 16, 65535, false},
      {"atto.text.features", &TextParams::features, 1, 255, false},
      {"atto.text.ngram_min", &TextParams::ngram_min, 1, 4, false},
      {"atto.text.ngram_max", &TextParams::ngram_max, 3, 6, false},
      {"atto.text.max_word_chars", &TextParams::max_word_chars, 8, 32, false},
      {"atto.text.max_features", &TextParams::max_features, 8, 64, false},
      {"atto.text.phone_min_digits", &TextParams::phone_min_digits, 7, 15,
       false},
      {"atto.text.join_spaced_min", &TextParams::join_spaced_min, 3, 16, true},
      {"atto.text.join_dotted_min", &TextParams::join_dotted_min, 3, 16, true},
  };
  for (const auto& rule : rules) {
    CAPTURE(rule.key);
    TextParams params;
    for (const std::uint32_t value : {rule.low, rule.high}) {
      params.*rule.field = value;
      CHECK(ValidateTextParams(params, nullptr) == Status::kOk);
    }
    constexpr std::uint32_t kMost = ~std::uint32_t{0};
    for (const std::uint32_t value : {rule.low - 1, rule.high + 1, kMost}) {
      if (value == 0 && rule.zero) continue;
      params.*rule.field = value;
      ErrorInfo error;
      CHECK(ValidateTextParams(params, &error) == Status::kBadKey);
      // A longest n-gram below the shortest is reported at the shortest.
      if (std::strcmp(rule.key, "atto.text.ngram_max") != 0 || value != 2) {
        CHECK(std::string(error.subject) == rule.key);
        CHECK(error.found == value);
      }
    }
    if (rule.zero) {
      params.*rule.field = 0;
      CHECK(ValidateTextParams(params, nullptr) == Status::kOk);
    }
  }
  TextParams params;
  params.features = atto::kFeatureWord | atto::kFeatureGrams;
  CHECK(ValidateTextParams(params, nullptr) == Status::kBadKey);
}

TEST_CASE("no token") {
  CHECK(Shown("").empty());
  CHECK(Shown(" \t\n ").empty());
  CHECK(Shown("\u200b\u200c\ufeff\u0301").empty());
  CHECK(Shown(". , - '").empty());
}

TEST_CASE("words") {
  CHECK(Shown("Hello, big world") == "Hello/w big/w world/w");
  CHECK(Shown("don't you\u2019re 'quoted'") ==
        "don't/w you\u2019re/w quoted/w");
  CHECK(Shown("well-known a_b") == "well/w known/w a/w b/w");
  CHECK(Shown("caf\u00e9 na\u00efve \u4e2d\u6587") ==
        "caf\u00e9/w na\u00efve/w \u4e2d\u6587/w");
  CHECK(Shown("fr\xff"
              "ee") ==
        "fr\xff"
        "ee/w");
}

TEST_CASE("text speak stays as it is") {
  CHECK(Shown("u r 2 nite") == "u/w r/w 2/n nite/w");
  CHECK(Shown("c u l8r m8 gr8 b4 x2 2nite 4get") ==
        "c/w u/w l8r/w m8/w gr8/w b4/w x2/w 2nite/w 4get/w");
  CHECK(Shown("b1234 b12345 b4b12345") ==
        "b1234/w b/w 12345/s b4b/w 12345/s");  // long numbers stand alone
  CHECK(Shown("i m a") == "i/w m/w a/w");
  CHECK(Shown("1 2 3 4 5") == "1/n 2/n 3/n 4/n 5/n");
}

TEST_CASE("single letters in a row are joined") {
  CHECK(Shown("f r e e now") == "f r e e/w now/w");
  CHECK(Shown("f  r  e  e  now") == "f  r  e  e/w now/w");
  CHECK(Shown("f   r   e   e now") == "f   r   e   e/w now/w");
  CHECK(Shown("f    r    e    e now") == "f/w r/w e/w e/w now/w");  // too far
  CHECK(Shown("w.i.n it") == "w.i.n/w it/w");
  CHECK(Shown("w-i-n, f*r*e*e") == "w-i-n/w f*r*e*e/w");
  CHECK(Shown("e.g. this") == "e/w g/w this/w");
  CHECK(Shown("c a l l n.o.w") == "c a l l/w n.o.w/w");
  CHECK(Shown("w.i.n.dow") == "w.i.n/w dow/w");
  CHECK(RowsOf("f r e e") == RowsOf("free"));
  CHECK(RowsOf("f.r.e.e") == RowsOf("free"));
  TextParams params = WideParams();
  params.join_spaced_min = 0;
  params.join_dotted_min = 5;
  CHECK(Shown("f r e e w.i.n", params) == "f/w r/w e/w e/w w/w i/w n/w");
}

TEST_CASE("numbers, amounts, phone numbers, short codes") {
  CHECK(Shown("4pm 2nd 100% 10:30 24/7 1,000 1000s") ==
        "4pm/n 2nd/n 100%/n 10:30/n 24/7/n 1,000/n 1000s/n");
  CHECK(Shown("\u00a31.50/min 150p 150ppm $5 50\u20ac Rs.500 GBP4.50/week") ==
        "\u00a31.50/min/a 150p/a 150ppm/a $5/a 50\u20ac/a Rs.500/a "
        "GBP4.50/week/a");
  CHECK(Shown("$ 5, US$20 \u20b9 99") == "$ 5/a US/w $20/a \u20b9 99/a");
  CHECK(Shown("text 87121 or 862233 now") ==
        "text/w 87121/s or/w 862233/s now/w");
  CHECK(Shown("call 09061234567") == "call/w 09061234567/p");
  CHECK(Shown("0906 123 4567, +44 (0)7700 900123; 1-800-555-0199") ==
        "0906 123 4567/p +44 (0)7700 900123/p 1-800-555-0199/p");
  CHECK(Shown("(0800) 123-4567.") == "(0800) 123-4567/p");
  CHECK(Shown("2 09061234567") == "2/n 09061234567/p");
  CHECK(Shown("call09061234567now") == "call/w 09061234567/p now/w");
  CHECK(Shown("1000call") == "1000/n call/w");
  CHECK(Shown("12345678901234567") == "12345678901234567/n");
}

TEST_CASE("addresses") {
  CHECK(Shown("http://x.example/a?b=c, www.win-now.co.uk. ok") ==
        "http://x.example/a?b=c/u www.win-now.co.uk/u ok/w");
  CHECK(Shown("see bit.ly/AbC or shop.com!") ==
        "see/w bit.ly/AbC/u or/w shop.com/u !/m");
  CHECK(Shown("fine.then i go") == "fine/w then/w i/w go/w");
  CHECK(Shown("me@mail.example.org, @home") == "me@mail.example.org/e @home/w");
  CHECK(Shown("www. http:// x@y") == "www/w http/w :///m x@y/w");
}

TEST_CASE("punctuation and symbols") {
  CHECK(Shown("wow!!! :-) ok.") == "wow/w !!!/m :-)/m ok/w");
  CHECK(Shown("&lt;#&gt; a &amp; b") == "&lt;#&gt;/m a/w &amp;/m b/w");
  CHECK(RowsOf("&lt;#&gt;") == RowsOf("<#>"));
  CHECK(Shown("\U0001f600\U0001f600\U0001f389") ==
        "\U0001f600\U0001f600/y \U0001f389/y");
  CHECK(Shown("!!$5 ?!@me") == "!!/m $5/a ?!/m @me/w");
  CHECK(RowsOf("!!!!!") == RowsOf("!!!!!!!!!"));
  CHECK(RowsOf("!") != RowsOf("!!"));
  TextParams params = WideParams();
  params.features |= atto::kTokenPlainPunctuation;
  CHECK(Shown("a, b.", params) == "a/w ,/m b/w ./m");
}

TEST_CASE("disguised words keep the rows of the plain word") {
  const Rows plain = RowsOf("free");
  REQUIRE(plain.size() >= 8);
  // Nothing but the shape or the word itself may differ.
  CHECK(RowsOf("fr\u0435\u0435") == plain);            // Cyrillic
  CHECK(RowsOf("\uff46\uff52\uff45\uff45") == plain);  // fullwidth
  CHECK(RowsOf("f\u200bree") == plain);
  CHECK(RowsOf("f\u0301r\u0302e\u0303e\u0336") == plain);
  CHECK(Shared(plain, RowsOf("fReE")) == plain.size() - 1);
  CHECK(Shared(plain, RowsOf("fr33")) == plain.size() - 2);
  CHECK(Shared(plain, RowsOf("fr\u20ac\u20ac")) == plain.size() - 2);
  CHECK(Shared(plain, RowsOf("freeeeee")) == plain.size());
  const Rows cash = RowsOf("cash");
  CHECK(Shared(cash, RowsOf("c4$h")) == cash.size() - 2);
  CHECK(Shared(cash, RowsOf("c@sh")) == cash.size() - 2);
  const Rows win = RowsOf("win");
  CHECK(Shared(win, RowsOf("w1n")) == win.size() - 2);
  CHECK(Shared(win, RowsOf("w!n")) == win.size() - 2);
  CHECK(Shared(RowsOf("call"), RowsOf("caIl")) == RowsOf("call").size() - 2);
}

TEST_CASE("case gives few shapes") {
  TextParams params = WideParams();
  params.features = atto::kFeatureShape;
  const Rows mixed = RowsOf("fReE", params);
  CHECK(RowsOf("FrEe", params) == mixed);
  CHECK(RowsOf("freE", params) == mixed);
  CHECK(RowsOf("free", params) != mixed);
  CHECK(RowsOf("Free", params) != mixed);
  CHECK(RowsOf("FREE", params) != mixed);
  CHECK(RowsOf("FREE", params) != RowsOf("Free", params));
  CHECK(RowsOf("I", params) != RowsOf("IT", params));
}

TEST_CASE("rows of a small word, computed by hand from docs/text.md") {
  // FNV-1a and mix as in the page, in their simplest form.
  const auto hash = [](const std::vector<std::uint8_t>& bytes) {
    std::uint32_t h = 2166136261U;
    for (const std::uint8_t byte : bytes) h = (h ^ byte) * 16777619U;
    return h;
  };
  const auto row = [&hash](const std::vector<std::uint8_t>& bytes) {
    std::uint32_t h = hash(bytes);
    h = (h ^ h >> 16) * 0x85EBCA6BU;
    h = (h ^ h >> 13) * 0xC2B2AE35U;
    h ^= h >> 16;
    return static_cast<std::uint16_t>((h >> 16) * 1000 >> 16);
  };
  CHECK(hash({'a'}) == 0xE40C292CU);  // published test vectors of FNV-1a
  CHECK(hash({'f', 'o', 'o', 'b', 'a', 'r'}) == 0xBF9CF968U);
  std::vector<std::uint8_t> pair = {9, 0, 0, 0, 0};
  for (int shift = 0; shift < 32; shift += 8) {
    pair.push_back(
        static_cast<std::uint8_t>(hash({4, '<', 'h', 'l', '>'}) >> shift));
  }
  TextParams params;
  params.buckets = 1000;
  params.features = atto::kAllTextFeatures;
  params.ngram_min = 2;
  params.ngram_max = 3;
  const Rows expected = {
      row({1, 1}),                   // class: word
      row({2, 1, 3}),                // shape: capitals
      row({3, 'h', 'i'}),            // word
      row({4, '<', 'h', 'l', '>'}),  // skeleton
      row(pair),                     // pair
      row({4, '<', 'h'}),
      row({4, '<', 'h', 'l'}),
      row({4, 'h', 'l'}),
      row({4, 'h', 'l', '>'}),
      row({4, 'l', '>'}),
  };
  CHECK(RowsOf("HI", params) == expected);
}

TEST_CASE("numbers are alike by form") {
  const Rows a = RowsOf("\u00a31.50/min");
  const Rows b = RowsOf("\u00a32.75/min");
  CHECK(Shared(a, b) == a.size() - 1);  // all but the amount itself
  CHECK(RowsOf("87121") == RowsOf("86688"));
  CHECK(RowsOf("09061234567") == RowsOf("09067654321"));
  CHECK(RowsOf("09061234567") != RowsOf("07061234567"));
}

TEST_CASE("the pair feature looks back over punctuation") {
  TextParams params = WideParams();
  params.features = atto::kFeatureClass | atto::kFeatureBigrams;
  const std::vector<Piece> near = Tokenize("call now", params);
  const std::vector<Piece> far = Tokenize("Call!! ... now", params);
  REQUIRE(near.size() == 2);
  REQUIRE(far.size() == 4);
  CHECK(near[1].rows == far[3].rows);
  CHECK(near[1].rows != Tokenize("now", params)[0].rows);
}

TEST_CASE("long words go on as further tokens") {
  TextParams params = WideParams();
  params.max_word_chars = 8;
  CHECK(Shown("abcdefghijklmnopqr stu", params) ==
        "abcdefgh/w ijklmnop/w qr/w stu/w");
  // The middle has no boundary marks, so it is not the word of its letters.
  const std::vector<Piece> pieces = Tokenize("abcdefghijklmnopqr", params);
  CHECK(pieces[2].rows != RowsOf("qr", params));
  CHECK(Shared(pieces[2].rows, RowsOf("qr", params)) > 0);
}

TEST_CASE("what is cut is counted") {
  TextParams params = WideParams();
  params.max_features = 8;
  const std::string word = "communication";
  Tokenizer tokenizer(params, Table(),
                      Span<const char>(word.data(), word.size()));
  Token token;
  REQUIRE(tokenizer.Next(&token));
  CHECK(token.rows.size() == 8);
  // class, shape, word, skeleton; 13 trigrams and 12 4-grams of 15 characters.
  CHECK(tokenizer.cut_features() == 4 + 13 + 12 - 8);
  CHECK(tokenizer.cut_chars() == 0);

  const std::string url = "http://a.com/" + std::string(100, 'b') + " c";
  Tokenizer other(params, Table(), Span<const char>(url.data(), url.size()));
  REQUIRE(other.Next(&token));
  CHECK(token.token_class == TokenClass::kUrl);
  CHECK(token.length == url.size() - 2);
  // 51 letters in the window, of which a piece holds 24; 49 beyond it.
  CHECK(other.cut_chars() == 51 - 24 + 49);
  REQUIRE(other.Next(&token));
  CHECK_FALSE(other.Next(&token));

  const std::string broken = "a\xff b\xc0\xaf";
  Tokenizer third(params, Table(),
                  Span<const char>(broken.data(), broken.size()));
  while (third.Next(&token)) {
  }
  CHECK(third.invalid_utf8() == 3);
}

TEST_CASE("hostile megabytes") {
  const auto repeat = [](const std::string& piece, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += piece;
    return text;
  };
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
  constexpr std::size_t count = 5000;  // a board has no megabytes
#else
  constexpr std::size_t count = 300000;
#endif
  CHECK(Tokenize(repeat("\u0301", count)).empty());
  CHECK(Tokenize(repeat(" ", count)).empty());
  CHECK(Tokenize("www.x" + repeat("/", count)).size() == 1);
  for (const char* piece :
       {"a", "ab", "9", "0 ", "a.", "a ", "a@", "!", "&lt;", "$", "\xff", "(1",
        "www.", "\U0001f600", "a\u0301", "a\u200b", "don't", "x!"}) {
    CAPTURE(piece);
    CHECK(Tokenize(repeat(piece, count)).size() > 0);
  }
}

TEST_CASE("any bytes are legal text") {
  // A linear congruential generator (Numerical Recipes): fixed on all hosts.
  std::uint32_t state = 1;
  const auto next = [&state] {
    state = state * 1664525U + 1013904223U;
    return state >> 16;
  };
  TextParams params = WideParams();
  params.features = atto::kAllTextFeatures;
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    const std::uint32_t size = next() % 300;
    const std::uint32_t mask = round % 2 == 0 ? 0xFF : 0x7F;
    for (std::uint32_t i = 0; i < size; ++i) {
      text += static_cast<char>(next() & mask);
    }
    const std::vector<Piece> once = Tokenize(text, params);
    const std::vector<Piece> again = Tokenize(text, params);
    REQUIRE(once.size() == again.size());
    for (std::size_t i = 0; i < once.size(); ++i) {
      REQUIRE(once[i].rows == again[i].rows);
    }
  }
}

}  // namespace
