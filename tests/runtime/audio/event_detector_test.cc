#include "runtime/audio/event_detector.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace atto {
namespace {

// A detector of three classes at 1,000 samples a second; the last class is
// never reported. Looks see 100 samples and are 10 apart.
struct Looks {
  explicit Looks(const SpotterParams& params)
      : memory(EventDetector::MemoryBytes(3) / sizeof(std::uint16_t) + 1,
               kGuard),
        detector(params, 3, 1000, memory.data()) {
    detector.set_threshold(0, 20000);
    detector.set_threshold(1, 30000);
    detector.set_threshold(2, SpotterParams::kNever);
  }
  ~Looks() { CHECK(memory.back() == kGuard); }

  bool Look(std::uint16_t first, std::uint16_t second, std::uint16_t third) {
    const std::uint16_t scores[] = {first, second, third};
    const bool heard = detector.Look(scores, at, at + 100, &event);
    at += 10;
    return heard;
  }

  static constexpr std::uint16_t kGuard = 0xA5A5;  // after its memory

  std::vector<std::uint16_t> memory;
  EventDetector detector;
  std::uint64_t at = 0;
  KeywordEvent event;
};

SpotterParams Params(std::uint16_t smoothing, std::uint16_t looks,
                     std::uint16_t votes, std::uint16_t refractory) {
  SpotterParams params;
  params.smoothing = smoothing;
  params.looks = looks;
  params.votes = votes;
  params.refractory = refractory;
  return params;
}

TEST_CASE("events: a threshold is reached by the score itself") {
  Looks looks(Params(1, 1, 1, 0));
  CHECK_FALSE(looks.Look(19999, 0, 0));
  CHECK(looks.Look(20000, 0, 0));
  CHECK(looks.event.word == 0);
  CHECK(looks.event.score == 20000);
  CHECK(looks.event.start == 10);
  CHECK(looks.event.end == 110);
  CHECK(looks.event.detected == 110);
  CHECK_FALSE(looks.Look(20000, 29999, 0));  // the better one is not enough
  CHECK(looks.Look(0, 30000, 0));
  CHECK(looks.event.word == 1);
  CHECK_FALSE(looks.Look(0, 0, 32768));  // never
  CHECK(looks.Look(30000, 30000, 0));    // the first of equals
  CHECK(looks.event.word == 0);
}

TEST_CASE("events: votes count within the last looks") {
  Looks looks(Params(1, 3, 2, 0));
  CHECK_FALSE(looks.Look(25000, 0, 0));
  CHECK_FALSE(looks.Look(0, 0, 0));
  CHECK(looks.Look(25000, 0, 0));
  // What both looks have seen.
  CHECK(looks.event.start == 20);
  CHECK(looks.event.end == 100);
  CHECK(looks.event.detected == 120);
  // The votes are used up.
  CHECK_FALSE(looks.Look(25000, 0, 0));
  CHECK_FALSE(looks.Look(0, 31000, 0));  // votes for different words
  CHECK(looks.Look(25000, 0, 0));
  CHECK_FALSE(looks.Look(25000, 0, 0));
  CHECK_FALSE(looks.Look(0, 0, 0));
  CHECK_FALSE(looks.Look(0, 0, 0));
  CHECK_FALSE(looks.Look(25000, 0, 0));  // the other vote is too long ago
}

TEST_CASE("events: scores are averaged over the looks that there are") {
  Looks looks(Params(3, 1, 1, 0));
  CHECK(looks.Look(20000, 0, 0));
  CHECK_FALSE(looks.Look(19999, 0, 0));
  CHECK(looks.detector.smoothed()[0] == 19999);  // rounded down
  CHECK(looks.Look(20001, 0, 0));
  CHECK(looks.event.score == 20000);
  CHECK_FALSE(looks.Look(0, 12, 0));
  CHECK(looks.detector.smoothed()[0] == 13333);
  CHECK(looks.detector.smoothed()[1] == 4);
}

TEST_CASE("events: as many looks as can be averaged fit the memory") {
  Looks looks(Params(SpotterParams::kMaxSmoothing, 1, 1, 0));
  for (int i = 0; i < SpotterParams::kMaxSmoothing; ++i) looks.Look(8, 8, 8);
  looks.Look(16, 16, 16);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(looks.detector.smoothed()[i] == 9);
  }
}

TEST_CASE("events: no look votes during the refractory time") {
  Looks looks(Params(1, 2, 2, 30));
  CHECK_FALSE(looks.Look(25000, 0, 0));
  CHECK(looks.Look(25000, 0, 0));        // ends at 110
  CHECK_FALSE(looks.Look(25000, 0, 0));  // 120
  CHECK_FALSE(looks.Look(0, 31000, 0));  // 130: other words neither
  CHECK_FALSE(looks.Look(25000, 0, 0));  // 140: votes again, alone
  CHECK(looks.Look(25000, 0, 0));
}

TEST_CASE("events: the refractory time is exact, whatever the sample rate") {
  std::vector<std::uint16_t> memory(EventDetector::MemoryBytes(2) /
                                    sizeof(std::uint16_t));
  EventDetector detector(Params(1, 1, 1, 750), 2, 16000, memory.data());
  detector.set_threshold(0, 20000);
  detector.set_threshold(1, 20000);
  const std::uint16_t scores[] = {25000, 0};
  KeywordEvent event;
  REQUIRE(detector.Look(scores, 0, 16000, &event));
  CHECK_FALSE(detector.Look(scores, 0, 16000 + 11999, &event));
  CHECK(detector.Look(scores, 0, 16000 + 12000, &event));
}

TEST_CASE("events: looks that have seen nothing together") {
  Looks looks(Params(1, 2, 2, 0));
  CHECK_FALSE(looks.Look(25000, 0, 0));
  looks.at = 500;
  CHECK(looks.Look(25000, 0, 0));
  CHECK(looks.event.start == 500);
  CHECK(looks.event.end == 600);
}

TEST_CASE("events: a reset forgets looks and refractory time") {
  Looks looks(Params(2, 2, 2, 1000));
  CHECK_FALSE(looks.Look(25000, 0, 0));
  CHECK(looks.Look(25000, 0, 0));
  looks.detector.Reset();
  looks.at = 0;
  CHECK_FALSE(looks.Look(20000, 0, 0));
  CHECK(looks.detector.smoothed()[0] == 20000);
  CHECK(looks.Look(20000, 0, 0));
}

}  // namespace
}  // namespace atto
