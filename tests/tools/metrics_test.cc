#include "tools/cli/metrics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace atto::cli {
namespace {

const std::vector<bool> kTruth = {true, true, false, true, false, false};

TEST_CASE("area under the ROC curve is the share of well-ordered pairs") {
  CHECK(AreaUnderRoc(kTruth, {6, 5, 3, 4, 2, 1}) == doctest::Approx(1.0));
  CHECK(AreaUnderRoc(kTruth, {1, 2, 4, 3, 5, 6}) == doctest::Approx(0.0));
  // Of the 9 pairs, one is in the wrong order: (4th, 3rd).
  CHECK(AreaUnderRoc(kTruth, {6, 5, 4, 3, 2, 1}) == doctest::Approx(8.0 / 9));
  // The same pair tied counts one half.
  CHECK(AreaUnderRoc(kTruth, {6, 5, 4, 4, 2, 1}) == doctest::Approx(8.5 / 9));
  CHECK(AreaUnderRoc(kTruth, {7, 7, 7, 7, 7, 7}) == doctest::Approx(0.5));
}

TEST_CASE("figures that need both classes are not a number without them") {
  CHECK(std::isnan(AreaUnderRoc({true, true}, {1, 2})));
  CHECK(std::isnan(AreaUnderRoc({}, {})));
  CHECK(std::isnan(RecallAtFalsePositiveRate({false}, {1}, 0.1)));
}

TEST_CASE("recall at a false positive rate takes ties together") {
  // No false alarm allowed: the two best are spam, the third is not.
  CHECK(RecallAtFalsePositiveRate(kTruth, {6, 5, 4, 3, 2, 1}, 0.0) ==
        doctest::Approx(2.0 / 3));
  // One of three negatives allowed.
  CHECK(RecallAtFalsePositiveRate(kTruth, {6, 5, 4, 3, 2, 1}, 0.34) ==
        doctest::Approx(1.0));
  CHECK(RecallAtFalsePositiveRate(kTruth, {6, 5, 4, 3, 2, 1}, 0.33) ==
        doctest::Approx(2.0 / 3));
  // The second spam shares its score with a ham: neither can be had alone.
  CHECK(RecallAtFalsePositiveRate(kTruth, {6, 4, 4, 3, 2, 1}, 0.0) ==
        doctest::Approx(1.0 / 3));
  CHECK(RecallAtFalsePositiveRate(kTruth, {7, 7, 7, 7, 7, 7}, 0.5) ==
        doctest::Approx(0.0));
}

TEST_CASE("confusion matrix gives the figures of the positive class") {
  // 90 ham right, 10 ham called spam, 5 spam missed, 45 spam caught.
  const Confusion confusion = {{90, 10}, {5, 45}};
  const Metrics spam = ComputeMetrics(confusion, 1, kTruth, {6, 5, 4, 3, 2, 1});
  CHECK(spam.n == 150);
  CHECK(spam.accuracy == doctest::Approx(135.0 / 150));
  CHECK(spam.precision == doctest::Approx(45.0 / 55));
  CHECK(spam.recall == doctest::Approx(45.0 / 50));
  CHECK(spam.f1 == doctest::Approx(90.0 / 105));
  CHECK(spam.mcc == doctest::Approx((45.0 * 90 - 10 * 5) /
                                    std::sqrt(55.0 * 50 * 100 * 95)));
  CHECK(spam.auc == doctest::Approx(8.0 / 9));
  CHECK(spam.recall_at_fpr_0_001 == doctest::Approx(2.0 / 3));
  CHECK(spam.recall_at_fpr_0_005 == doctest::Approx(2.0 / 3));

  const Metrics ham = ComputeMetrics(confusion, 0, kTruth, {6, 5, 4, 3, 2, 1});
  CHECK(ham.precision == doctest::Approx(90.0 / 95));
  CHECK(ham.recall == doctest::Approx(90.0 / 100));
}

TEST_CASE("more than two classes: one against the rest") {
  const Confusion confusion = {{5, 1, 0}, {2, 6, 1}, {0, 0, 3}};
  const Metrics metrics =
      ComputeMetrics(confusion, 1, {true, false}, {2.0, 1.0});
  CHECK(metrics.n == 18);
  CHECK(metrics.accuracy == doctest::Approx(14.0 / 18));
  CHECK(metrics.precision == doctest::Approx(6.0 / 7));
  CHECK(metrics.recall == doctest::Approx(6.0 / 9));
}

TEST_CASE("empty denominators give 0") {
  const Metrics metrics = ComputeMetrics({{4, 0}, {0, 0}}, 1, {false}, {0.0});
  CHECK(metrics.precision == 0.0);
  CHECK(metrics.recall == 0.0);
  CHECK(metrics.f1 == 0.0);
  CHECK(metrics.mcc == 0.0);
  CHECK(metrics.accuracy == 1.0);
}

}  // namespace
}  // namespace atto::cli
