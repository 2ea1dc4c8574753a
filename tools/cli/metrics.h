// Figures of a classifier on labelled messages.
#ifndef ATTO_TOOLS_CLI_METRICS_H_
#define ATTO_TOOLS_CLI_METRICS_H_

#include <cstddef>
#include <vector>

namespace atto::cli {

// counts[truth][predicted], both in the model's class order.
using Confusion = std::vector<std::vector<std::size_t>>;

// One-against-the-rest figures of the positive class. A ratio with an empty
// denominator is 0; a figure that needs both classes is NaN without them.
struct Metrics {
  std::size_t n = 0;
  double accuracy = 0;  // share of messages with the right label, any class
  double precision = 0;
  double recall = 0;
  double f1 = 0;
  double mcc = 0;  // Matthews correlation coefficient
  double auc = 0;  // area under the ROC curve, ties count one half
  double recall_at_fpr_0_001 = 0;  // best recall at <= 0.1 % false positives
  double recall_at_fpr_0_005 = 0;  // best recall at <= 0.5 % false positives
};

// Legal: `confusion` is square, positive < its size.
Metrics ComputeMetrics(const Confusion& confusion, std::size_t positive,
                       const std::vector<bool>& is_positive,
                       const std::vector<double>& scores);

// Area under the ROC curve by the rank sum (Mann-Whitney U) of the positives.
double AreaUnderRoc(const std::vector<bool>& is_positive,
                    const std::vector<double>& scores);

// Best recall over all thresholds whose false positive rate is at most
// `limit`. A threshold cannot part equal scores: ties are taken together.
double RecallAtFalsePositiveRate(const std::vector<bool>& is_positive,
                                 const std::vector<double>& scores,
                                 double limit);

}  // namespace atto::cli

#endif  // ATTO_TOOLS_CLI_METRICS_H_
