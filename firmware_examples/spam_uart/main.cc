// Type a message on the UART, get a label. An empty message is not answered;
// "quit" ends the program.
#include <cstring>

#include "board.h"
#include "runtime/classifier.h"
#include "spam_model.h"

namespace {

constexpr std::size_t kMaxMessage = 512;

atto::Arena<spam_model::Model> arena;
atto::TextClassifier spam;
char message[kMaxMessage];

void PrintView(atto::StringView text) { board_write(text.data(), text.size()); }

// Answers with the label, its probability in percent, what it took, and how
// many bytes of the message did not fit.
void Answer(std::size_t dropped) {
  atto::Classification result;
  const std::uint64_t start = board_clock();
  const atto::Status status = spam.Classify(message, &result);
  const std::uint64_t instructions = board_clock() - start;
  if (status != atto::Status::kOk) {
    board_print(atto::StatusMessage(status));
  } else {
    PrintView(spam.model().label(result.label));
    board_print(" ");
    board_print_number((result.score * 100 + atto::kScoreOne / 2) /
                       atto::kScoreOne);
    board_print(" % (tokens ");
    board_print_number(static_cast<std::int64_t>(result.tokens));
    board_print(", instructions ");
    board_print_number(static_cast<std::int64_t>(instructions));
    if (dropped != 0) {
      board_print(", bytes dropped ");
      board_print_number(static_cast<std::int64_t>(dropped));
    }
    board_print(")");
  }
  board_print("\r\n");
}

}  // namespace

int main() {
  atto::ErrorInfo error;
  if (spam.Init(spam_model::kModel, arena.bytes(), &error) !=
      atto::Status::kOk) {
    board_print(error.subject);
    board_print(" ");
    board_print(error.expectation);
    board_print("\r\n");
    return 1;
  }
  board_print("atto spam filter, kernels ");
  board_print(atto::backend_name());
  board_print("\r\n");
  for (;;) {
    board_print("> ");
    std::size_t dropped;
    board_read_line(message, sizeof(message), &dropped);
    if (std::strcmp(message, "quit") == 0) break;
    Answer(dropped);
  }
  board_print_memory();
  return 0;
}
