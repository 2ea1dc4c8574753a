// Where the golden program prints to: standard output or a board's UART.
#ifndef ATTO_TESTS_GOLDEN_PRINT_H_
#define ATTO_TESTS_GOLDEN_PRINT_H_

#if defined(ATTO_GOLDEN_BOARD)
#include "board.h"
#else
#include <cstdio>
#endif

namespace atto::testing {

inline void Print(const char* text) noexcept {
#if defined(ATTO_GOLDEN_BOARD)
  board_print(text);
#else
  std::fputs(text, stdout);
#endif
}

}  // namespace atto::testing

#endif  // ATTO_TESTS_GOLDEN_PRINT_H_
