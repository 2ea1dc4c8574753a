// The spam filter as firmware has it whose models come over the air: read and
// proved by the device itself. Its size is watched, its labels are checked.
#include <cstring>

#include "board.h"
#include "runtime/classifier.h"
#include "spam_model.h"

namespace {

constexpr const char* kMessages[] = {
    "WINNER!! claim ur free prize now, call 0909 555 0143",
    "Running late, see you at the station at noon",
};

atto::Arena<spam_model::Model> arena;
atto::TextClassifier spam;

}  // namespace

int main() {
  atto::ErrorInfo error;
  if (spam.Init(spam_model::kBytes, arena.bytes(), &error) !=
      atto::Status::kOk) {
    board_print(error.subject);
    board_print(" ");
    board_print(error.expectation);
    board_print("\r\n");
    return 1;
  }
  for (const char* const message : kMessages) {
    atto::Classification result;
    const atto::Status status = spam.Classify(message, &result);
    if (status != atto::Status::kOk) {
      board_print(atto::StatusMessage(status));
      return 1;
    }
    const atto::StringView label = spam.model().label(result.label);
    board_write(label.data(), label.size());
    board_print("\r\n");
  }
  return 0;
}
