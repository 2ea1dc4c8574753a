// A spoken clip in flash: which word its first second is, and what a stream of
// it makes the spotter report.
#include <cstdint>

#include "board.h"
#include "keywords_model.h"
#include "left_clip.h"
#include "runtime/audio/keyword_spotter.h"
#include "runtime/classifier.h"

namespace {

constexpr atto::Span<const std::int16_t> kClip(left_clip_samples,
                                               left_clip_size);
constexpr std::size_t kBlock = 160;  // samples that a microphone gives at once

// One after the other in the same memory: the spotter needs the larger arena.
atto::SpotterArena<keywords_model::Model> arena;
atto::AudioClassifier classifier;
atto::KeywordSpotter spotter;

void PrintLabel(const atto::Model& model, std::size_t label,
                std::uint16_t score) {
  const atto::StringView text = model.label(label);
  board_write(text.data(), text.size());
  board_print(" ");
  board_print_number((score * 100 + atto::kScoreOne / 2) / atto::kScoreOne);
  board_print(" %");
}

void Heard(void*, const atto::KeywordEvent& event) {
  board_print("event: ");
  PrintLabel(spotter.model(), event.word, event.score);
  board_print(", ms ");
  board_print_number(
      static_cast<std::int64_t>(event.start * 1000 / left_clip_rate));
  board_print(" to ");
  board_print_number(
      static_cast<std::int64_t>(event.end * 1000 / left_clip_rate));
  board_print("\r\n");
}

bool Classify() {
  atto::Classification result;
  if (classifier.Init(keywords_model::kModel, arena.bytes()) !=
          atto::Status::kOk ||
      classifier.Classify(kClip, &result) != atto::Status::kOk) {
    return false;
  }
  board_print("clip: ");
  PrintLabel(classifier.model(), result.label, result.score);
  board_print("\r\n");
  return true;
}

bool Listen() {
  atto::SpotterOptions options;
  options.on_event = &Heard;
  if (spotter.Init(keywords_model::kModel, arena.bytes(), options) !=
      atto::Status::kOk) {
    return false;
  }
  const std::uint64_t start = board_clock();
  for (std::size_t i = 0; i < kClip.size(); i += kBlock) {
    const std::size_t left = kClip.size() - i;
    if (spotter.Push(kClip.subspan(i, left < kBlock ? left : kBlock)) !=
        atto::Status::kOk) {
      return false;
    }
  }
  const auto instructions = static_cast<std::int64_t>(board_clock() - start);
  board_print("instructions a second of audio: ");
  board_print_number(instructions * left_clip_rate / left_clip_size);
  board_print("\r\n");
  return true;
}

}  // namespace

int main() {
  if (!Classify() || !Listen()) return 1;
  board_print_memory();
  return 0;
}
