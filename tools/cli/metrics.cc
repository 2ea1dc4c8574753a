#include "tools/cli/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace atto::cli {
namespace {

double Ratio(double numerator, double denominator) {
  return denominator > 0 ? numerator / denominator : 0.0;
}

// Messages of equal score, best score first.
struct Tie {
  std::size_t positives = 0;
  std::size_t negatives = 0;
};

std::vector<Tie> RankTies(const std::vector<bool>& is_positive,
                          const std::vector<double>& scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return scores[a] > scores[b];
  });
  std::vector<Tie> ties;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || scores[order[i]] < scores[order[i - 1]]) ties.emplace_back();
    if (is_positive[order[i]]) {
      ++ties.back().positives;
    } else {
      ++ties.back().negatives;
    }
  }
  return ties;
}

std::size_t CountPositives(const std::vector<bool>& is_positive) {
  return static_cast<std::size_t>(
      std::count(is_positive.begin(), is_positive.end(), true));
}

}  // namespace

double AreaUnderRoc(const std::vector<bool>& is_positive,
                    const std::vector<double>& scores) {
  const auto positives = static_cast<double>(CountPositives(is_positive));
  const double negatives = static_cast<double>(is_positive.size()) - positives;
  if (positives == 0 || negatives == 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  double area = 0;
  double negatives_below = negatives;
  for (const Tie& tie : RankTies(is_positive, scores)) {
    const auto tied = static_cast<double>(tie.negatives);
    negatives_below -= tied;
    area += static_cast<double>(tie.positives) * (negatives_below + tied / 2);
  }
  return area / (positives * negatives);
}

double RecallAtFalsePositiveRate(const std::vector<bool>& is_positive,
                                 const std::vector<double>& scores,
                                 double limit) {
  const std::size_t positives = CountPositives(is_positive);
  const std::size_t negatives = is_positive.size() - positives;
  if (positives == 0 || negatives == 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double allowed = limit * static_cast<double>(negatives);
  std::size_t hits = 0;
  std::size_t false_alarms = 0;
  for (const Tie& tie : RankTies(is_positive, scores)) {
    false_alarms += tie.negatives;
    if (static_cast<double>(false_alarms) > allowed) break;
    hits += tie.positives;
  }
  return static_cast<double>(hits) / static_cast<double>(positives);
}

Metrics ComputeMetrics(const Confusion& confusion, std::size_t positive,
                       const std::vector<bool>& is_positive,
                       const std::vector<double>& scores) {
  double n = 0;
  double right = 0;
  double tp = 0;
  double fp = 0;
  double fn = 0;
  for (std::size_t truth = 0; truth < confusion.size(); ++truth) {
    for (std::size_t predicted = 0; predicted < confusion.size(); ++predicted) {
      const auto count = static_cast<double>(confusion[truth][predicted]);
      n += count;
      if (truth == predicted) right += count;
      if (truth == positive && predicted == positive) tp += count;
      if (truth != positive && predicted == positive) fp += count;
      if (truth == positive && predicted != positive) fn += count;
    }
  }
  const double tn = n - tp - fp - fn;

  Metrics metrics;
  metrics.n = static_cast<std::size_t>(n);
  metrics.accuracy = Ratio(right, n);
  metrics.precision = Ratio(tp, tp + fp);
  metrics.recall = Ratio(tp, tp + fn);
  metrics.f1 = Ratio(2 * tp, 2 * tp + fp + fn);
  metrics.mcc = Ratio(tp * tn - fp * fn,
                      std::sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)));
  metrics.auc = AreaUnderRoc(is_positive, scores);
  metrics.recall_at_fpr_0_001 =
      RecallAtFalsePositiveRate(is_positive, scores, 0.001);
  metrics.recall_at_fpr_0_005 =
      RecallAtFalsePositiveRate(is_positive, scores, 0.005);
  return metrics;
}

}  // namespace atto::cli
