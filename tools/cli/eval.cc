// atto eval: the figures of a model on labelled messages.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/commands.h"
#include "tools/cli/format.h"
#include "tools/cli/json.h"
#include "tools/cli/metrics.h"
#include "tools/cli/session.h"

namespace atto::cli {
namespace {

struct Evaluation {
  Confusion confusion;
  Metrics metrics;
  std::size_t without_tokens = 0;
  std::size_t cut_tokens = 0;
};

// By how much the positive logit leads the best other one: a finer ranking
// than the score, which saturates.
double Margin(const Classification& result, std::size_t positive) {
  int best_other = std::numeric_limits<int>::min();
  for (std::size_t i = 0; i < result.logits.size(); ++i) {
    if (i != positive) best_other = std::max<int>(best_other, result.logits[i]);
  }
  return result.logits[positive] - best_other;
}

Evaluation Evaluate(Session* session, const std::vector<LabelledText>& rows,
                    const std::string& file, std::size_t positive,
                    const std::optional<double>& threshold) {
  const std::vector<std::string>& labels = session->labels();
  Evaluation evaluation;
  evaluation.confusion.assign(labels.size(),
                              std::vector<std::size_t>(labels.size()));
  std::vector<bool> is_positive;
  std::vector<double> margins;
  for (const LabelledText& row : rows) {
    const auto at = std::find(labels.begin(), labels.end(), row.label);
    if (at == labels.end()) {
      throw Failure(file + ":" + std::to_string(row.line) +
                    ": the model has no label '" + row.label + "'");
    }
    const auto truth = static_cast<std::size_t>(at - labels.begin());
    // A message without a token is the least positive of all.
    std::size_t predicted = positive == 0 ? 1 : 0;
    double margin = -std::numeric_limits<double>::infinity();
    Classification result;
    if (session->Classify(row.text, &result)) {
      predicted = Decide(result, positive, threshold);
      margin = Margin(result, positive);
    } else {
      ++evaluation.without_tokens;
    }
    evaluation.cut_tokens += result.cut_tokens;
    ++evaluation.confusion[truth][predicted];
    is_positive.push_back(truth == positive);
    margins.push_back(margin);
  }
  evaluation.metrics =
      ComputeMetrics(evaluation.confusion, positive, is_positive, margins);
  return evaluation;
}

nlohmann::ordered_json NumberOrNull(double value) {
  if (std::isnan(value)) return nullptr;
  return value;
}

void PrintJson(const Evaluation& evaluation,
               const std::vector<std::string>& labels, std::size_t positive) {
  const Metrics& metrics = evaluation.metrics;
  nlohmann::ordered_json json;
  json["n"] = metrics.n;
  json["accuracy"] = metrics.accuracy;
  json["precision"] = metrics.precision;
  json["recall"] = metrics.recall;
  json["f1"] = metrics.f1;
  json["mcc"] = metrics.mcc;
  json["auc"] = NumberOrNull(metrics.auc);
  json["recall_at_fpr_0.001"] = NumberOrNull(metrics.recall_at_fpr_0_001);
  json["recall_at_fpr_0.005"] = NumberOrNull(metrics.recall_at_fpr_0_005);
  json["confusion"] = evaluation.confusion;
  json["labels"] = labels;
  json["positive"] = labels[positive];
  json["without_tokens"] = evaluation.without_tokens;
  json["cut_tokens"] = evaluation.cut_tokens;
  PutJson(json);
}

void PrintText(const Evaluation& evaluation, const EvalOptions& options,
               const std::vector<std::string>& labels, std::size_t positive) {
  const Metrics& metrics = evaluation.metrics;
  std::printf("%s on %s: %s messages, positive label '%s'\n\n",
              options.model.c_str(), options.file.c_str(),
              Grouped(metrics.n).c_str(), labels[positive].c_str());
  const auto print = [](const char* name, double value) {
    std::printf("  %-34s %s\n", name, Fixed(value, 4).c_str());
  };
  print("accuracy", metrics.accuracy);
  print("precision", metrics.precision);
  print("recall", metrics.recall);
  print("F1", metrics.f1);
  print("MCC", metrics.mcc);
  print("AUC", metrics.auc);
  print("recall at 0.1 % false positives", metrics.recall_at_fpr_0_001);
  print("recall at 0.5 % false positives", metrics.recall_at_fpr_0_005);

  std::size_t columns = 8;
  for (const std::string& label : labels) {
    columns = std::max(columns, Columns(label) + 2);
  }
  std::printf("\n  confusion (row: truth, column: what the model says)\n  %s",
              std::string(columns, ' ').c_str());
  for (const std::string& label : labels) {
    std::printf("%s", PadLeft(label, columns).c_str());
  }
  std::printf("\n");
  for (std::size_t truth = 0; truth < labels.size(); ++truth) {
    std::printf("  %s", PadLeft(labels[truth], columns).c_str());
    for (const std::size_t count : evaluation.confusion[truth]) {
      std::printf("%s", PadLeft(Grouped(count), columns).c_str());
    }
    std::printf("\n");
  }
  if (evaluation.without_tokens > 0) {
    std::printf("\n  %s messages hold no token and count as not '%s'\n",
                Grouped(evaluation.without_tokens).c_str(),
                labels[positive].c_str());
  }
  if (evaluation.cut_tokens > 0) {
    std::printf("\n  %s tokens in all were beyond the model's length\n",
                Grouped(evaluation.cut_tokens).c_str());
  }
}

}  // namespace

void Eval(const EvalOptions& options) {
  if (InputOf(options.model) == Input::kAudio) return EvalAudio(options);
  Session session(options.model);
  const std::size_t positive = session.LabelIndex(options.decision.positive);
  const std::vector<LabelledText> rows = ReadTsv(options.file);
  const Evaluation evaluation = Evaluate(&session, rows, options.file, positive,
                                         options.decision.threshold);
  if (options.json) {
    PrintJson(evaluation, session.labels(), positive);
  } else {
    PrintText(evaluation, options, session.labels(), positive);
  }
}

}  // namespace atto::cli
