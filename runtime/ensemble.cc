#include "runtime/ensemble.h"

namespace atto {

bool Ensemble::SameLabels(const Model& a, const Model& b) noexcept {
  const std::size_t classes = a.shape().classes;
  if (classes != b.shape().classes) return false;
  for (std::size_t i = 0; i < classes; ++i) {
    if (!Equal(a.label(i), b.label(i))) return false;
  }
  return true;
}

void Ensemble::Start() noexcept {
  members_ = 0;
  for (std::uint32_t& sum : sums_) sum = 0;
}

Status Ensemble::Add(Span<const std::uint16_t> scores) noexcept {
  if (scores.size() != sums_.size() || members_ == kMaxMembers) {
    return Status::kInvalidArgument;
  }
  for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += scores[i];
  ++members_;
  return Status::kOk;
}

Vote Ensemble::Decide(std::uint16_t threshold) const noexcept {
  std::size_t best = 0;
  for (std::size_t i = 1; i < sums_.size(); ++i) {
    if (sums_[i] > sums_[best]) best = i;
  }
  return Decide(best, threshold);
}

Vote Ensemble::Decide(std::size_t label,
                      std::uint16_t threshold) const noexcept {
  Vote vote;
  vote.label = static_cast<std::uint16_t>(label);
  vote.members = members_;
  if (members_ == 0) return vote;
  vote.score = static_cast<std::uint16_t>(sums_[label] / members_);
  // The sum itself, so that nothing is lost to rounding.
  vote.accepted = sums_[label] >= std::uint32_t{threshold} * members_;
  return vote;
}

}  // namespace atto
