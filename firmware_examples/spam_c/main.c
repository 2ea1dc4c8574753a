/* The spam filter in C99: type a message on the UART, get a label. "quit" ends
 * the program. */
#include <stdint.h>
#include <string.h>

#include "board.h"
#include "runtime/c_api.h"
#include "spam_model.h"

enum { kMaxMessage = 512 };

/* C99 has no alignas: the attribute is that of GCC and clang. */
static uint8_t memory[ATTO_TEXT_CLASSIFIER_BYTES]
    __attribute__((aligned(ATTO_ALIGNMENT)));
static char message[kMaxMessage];

static void Answer(atto_text_classifier* spam, size_t bytes, size_t dropped) {
  atto_classification result;
  const char* label;
  size_t label_bytes;
  atto_status status = atto_text_classify(spam, message, bytes, &result);
  if (status == ATTO_OK) {
    status = atto_label(spam, result.label, &label, &label_bytes);
  }
  if (status != ATTO_OK) {
    board_print(atto_status_message(status));
  } else {
    board_write(label, label_bytes);
    board_print(" ");
    board_print_number((result.score * 100 + ATTO_SCORE_ONE / 2) /
                       ATTO_SCORE_ONE);
    board_print(" %");
    if (dropped != 0) {
      board_print(", bytes dropped ");
      board_print_number((int64_t)dropped);
    }
  }
  board_print("\r\n");
}

int main(void) {
  atto_text_classifier* spam;
  atto_error error;
  const atto_status status = atto_text_classifier_init_embedded(
      memory, sizeof(memory), &spam_model_embedded, spam_model_arena,
      spam_model_arena_size, &spam, &error);
  if (status != ATTO_OK) {
    board_print(error.subject);
    board_print(" ");
    board_print(error.expectation);
    board_print("\r\n");
    return 1;
  }
  board_print("atto ");
  board_print(atto_version());
  board_print(" spam filter in C, kernels ");
  board_print(atto_backend_name());
  board_print("\r\n");
  for (;;) {
    board_print("> ");
    size_t dropped;
    const size_t bytes = board_read_line(message, sizeof(message), &dropped);
    if (strcmp(message, "quit") == 0) break;
    Answer(spam, bytes, dropped);
  }
  board_print_memory();
  return 0;
}
