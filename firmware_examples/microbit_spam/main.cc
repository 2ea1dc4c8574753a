// The spam filter on a Cortex-M0 with 16 KB of RAM: the model takes 32 tokens
// instead of 64, and the text comes from the UART byte by byte into a short
// buffer. "quit" ends the program.
#include <cstring>

#include "board.h"
#include "runtime/classifier.h"
#include "spam_model_32.h"

namespace {

constexpr std::size_t kMaxMessage = 161;  // a text message

// A budget: a model that needs more does not compile.
atto::Arena<spam_model_32::Model, 8 * 1024> arena;
atto::TextClassifier spam;
char message[kMaxMessage];

}  // namespace

int main() {
  if (spam.Init(spam_model_32::kModel, arena.bytes()) != atto::Status::kOk) {
    return 1;
  }
  for (;;) {
    board_print("> ");
    std::size_t dropped;
    board_read_line(message, sizeof(message), &dropped);
    if (std::strcmp(message, "quit") == 0) break;
    atto::Classification result;
    if (spam.Classify(message, &result) != atto::Status::kOk) continue;
    const atto::StringView label = spam.model().label(result.label);
    board_write(label.data(), label.size());
    board_print(result.cut_tokens + dropped != 0 ? " (by its beginning)\r\n"
                                                 : "\r\n");
  }
  board_print_memory();
  return 0;
}
