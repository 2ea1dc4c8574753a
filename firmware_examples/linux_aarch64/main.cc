// The spam filter on 64-bit Arm Linux: the model is in the program, which reads
// messages from standard input, one a line.
#include <cstdio>
#include <iostream>
#include <string>

#include "runtime/classifier.h"
#include "spam_model.h"

int main() {
  static atto::Arena<spam_model::Model> arena;
  static atto::TextClassifier spam;
  atto::ErrorInfo error;
  if (spam.Init(spam_model::kModel, arena.bytes(), &error) !=
      atto::Status::kOk) {
    std::fprintf(stderr, "%s %s\n", error.subject, error.expectation);
    return 1;
  }
  std::printf("kernels %s\n", atto::backend_name());
  std::string line;
  while (std::getline(std::cin, line)) {
    atto::Classification result;
    if (spam.Classify({line.data(), line.size()}, &result) !=
        atto::Status::kOk) {
      continue;
    }
    const atto::StringView label = spam.model().label(result.label);
    std::printf("%.*s %.0f %%\n", static_cast<int>(label.size()), label.data(),
                100 * static_cast<double>(atto::ScoreToFloat(result.score)));
  }
  return 0;
}
