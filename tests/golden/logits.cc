// Prints the CRC-32 of the logits of the shipped models for a few inputs, on
// every backend that this machine runs: "MODEL INPUT BACKEND CRC" lines. The
// same program on hosts and boards; tools/golden.py reads it.
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "ops/backend.h"
#include "runtime/classifier.h"
#include "runtime/model/crc32.h"
#include "spam_model.h"
#include "tests/golden/print.h"

#if ATTO_GOLDEN_KEYWORDS
#include "keywords_model.h"
#include "left_clip.h"
#endif

namespace {

// Numbered from 0. All bytes are legal.
constexpr const char* kMessages[] = {
    "ok",
    "Running late, see you at the station at noon",
    "WINNER!! claim ur free prize now, call 0909 555 0143",
    // Cyrillic and full-width letters that look like Latin ones.
    "Y\xd0\xbeu h\xd0\xb0v\xd0\xb5 w\xd0\xben \xef\xbd\x86\xef\xbd\x92\xef\xbd"
    "\x85\xef\xbd\x85 t1ckets: http://prize.example/a?b=1",
    // Ill-formed UTF-8, and an emoji.
    "x\xff\xfe\xc3 \xf0\x9f\x98\x80 y",
    "F R E E   c.a.s.h +44 7700 900 123",
    "one two three four five six seven eight nine ten eleven twelve thirteen "
    "fourteen fifteen sixteen seventeen eighteen nineteen twenty twenty-one "
    "and so on until the memory of the smallest board is full of words, "
    "which happens after some sixty of them, of which these are the last few",
};

atto::Arena<spam_model::Model> arena;
atto::TextClassifier spam;

std::uint32_t LogitsCrc32(atto::Span<const std::int16_t> logits) {
  return atto::Crc32(atto::Span<const std::uint8_t>(
      reinterpret_cast<const std::uint8_t*>(logits.data()),
      logits.size() * sizeof(std::int16_t)));
}

void PrintRow(const char* model, std::size_t input, const char* backend,
              std::uint32_t crc) {
  const char digits[] = {static_cast<char>('0' + input / 10),
                         static_cast<char>('0' + input % 10), '\0'};
  char hex[9] = {};
  for (int i = 0; i < 8; ++i)
    hex[i] = "0123456789abcdef"[crc >> (28 - 4 * i) & 15U];
  for (const char* const word : {model, " ", digits, " ", backend, " "}) {
    atto::testing::Print(word);
  }
  atto::testing::Print(hex);
  atto::testing::Print("\n");
}

bool RunSpam(const atto::Backend& backend) {
  if (spam.Init(spam_model::kBytes, arena.bytes(), nullptr, &backend) !=
      atto::Status::kOk) {
    return false;
  }
  std::size_t input = 0;
  for (const char* const message : kMessages) {
    atto::Classification result;
    if (spam.Classify(message, &result) != atto::Status::kOk) return false;
    // A board may embed the model for fewer tokens: it has no such row.
    if (result.cut_tokens == 0) {
      PrintRow("spam", input, backend.name, LogitsCrc32(result.logits));
    }
    ++input;
  }
  return true;
}

#if ATTO_GOLDEN_KEYWORDS
atto::Arena<keywords_model::Model> keywords_arena;
atto::AudioClassifier keywords;
std::int16_t pcm[16000];

// A spoken clip, silence, noise, a full-scale square wave of 500 Hz.
atto::Span<const std::int16_t> Sound(std::size_t input) {
  if (input == 0) return {left_clip_samples, left_clip_size};
  std::uint32_t noise = 1;
  std::size_t i = 0;
  for (std::int16_t& sample : pcm) {
    noise = noise * 1664525U + 1013904223U;
    const std::int32_t random = static_cast<std::int32_t>(noise >> 20) - 2048;
    const std::int32_t square = i++ % 32 < 16 ? 32767 : -32768;
    sample = static_cast<std::int16_t>(input == 1   ? 0
                                       : input == 2 ? random
                                                    : square);
  }
  return pcm;
}

bool RunKeywords(const atto::Backend& backend) {
  if (keywords.Init(keywords_model::kBytes, keywords_arena.bytes(), nullptr,
                    &backend) != atto::Status::kOk) {
    return false;
  }
  for (std::size_t input = 0; input < 4; ++input) {
    atto::Classification result;
    if (keywords.Classify(Sound(input), &result) != atto::Status::kOk) {
      return false;
    }
    PrintRow("keywords", input, backend.name, LogitsCrc32(result.logits));
  }
  return true;
}
#else
bool RunKeywords(const atto::Backend&) { return true; }
#endif

}  // namespace

int main() {
  for (const atto::Backend* const backend : atto::Backends()) {
    if (!backend->supported()) continue;
    if (!RunSpam(*backend) || !RunKeywords(*backend)) return 1;
  }
  return 0;
}
