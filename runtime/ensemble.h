// Several models with the same classes vote: the sum of their scores, then a
// threshold. For text and audio alike; runs nothing itself.
//
//   std::uint32_t sums[2];
//   atto::Ensemble ensemble(sums);
//   for (atto::TextClassifier& member : members) {
//     s = member.Classify(text, &c);
//     s = ensemble.Add(c.scores);
//   }
//   const atto::Vote vote = ensemble.Decide(1, threshold);
#ifndef ATTO_RUNTIME_ENSEMBLE_H_
#define ATTO_RUNTIME_ENSEMBLE_H_

#include <cstddef>
#include <cstdint>

#include "ops/base/span.h"
#include "ops/base/status.h"
#include "runtime/model/model.h"

namespace atto {

struct Vote {
  std::uint16_t label = 0;
  std::uint16_t score = 0;  // mean of the members, 0..kScoreOne
  std::uint16_t members = 0;
  bool accepted = false;  // the score reaches the threshold
};

class Ensemble {
 public:
  static constexpr std::size_t kMaxMembers = 1024;

  // `sums` [c], one a class, is kept.
  explicit Ensemble(Span<std::uint32_t> sums) noexcept : sums_(sums) {
    Start();
  }

  // Whether two models have the same labels in the same order.
  static bool SameLabels(const Model& a, const Model& b) noexcept;

  // Begins the next input.
  void Start() noexcept;

  // Adds a member's scores of the same input, [c], each 0..kScoreOne.
  // kInvalidArgument: another number of classes, or one member too many.
  Status Add(Span<const std::uint16_t> scores) noexcept;

  std::size_t members() const noexcept { return members_; }

  // The class with the largest sum, the first of equals, and whether its mean
  // score is at least `threshold`. Without members nothing is accepted.
  Vote Decide(std::uint16_t threshold) const noexcept;

  // The same question about one class. Legal: label < c.
  Vote Decide(std::size_t label, std::uint16_t threshold) const noexcept;

 private:
  Span<std::uint32_t> sums_;
  std::uint16_t members_ = 0;
};

}  // namespace atto

#endif  // ATTO_RUNTIME_ENSEMBLE_H_
