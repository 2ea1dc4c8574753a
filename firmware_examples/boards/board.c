/* The part of a board's support code that no device changes. */
#include "board.h"

#include "board_internal.h"

void board_write(const char* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) board_uart_put(bytes[i]);
}

char board_read(void) { return board_uart_get(); }

size_t board_read_line(char* line, size_t capacity, size_t* dropped) {
  size_t size = 0;
  *dropped = 0;
  for (;;) {
    const char byte = board_read();
    if (byte == '\n' || byte == '\r') {
      if (size + *dropped == 0) continue; /* empty, or the second of "\r\n" */
      line[size] = '\0';
      return size;
    }
    if (size + 1 < capacity) {
      line[size++] = byte;
    } else {
      ++*dropped;
    }
  }
}

void board_print(const char* text) {
  while (*text != '\0') board_uart_put(*text++);
}

void board_print_number(int64_t value) {
  char digits[20];
  size_t first = sizeof(digits);
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do {
    digits[--first] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (value < 0) board_uart_put('-');
  board_write(digits + first, sizeof(digits) - first);
}

void board_print_hex(uint32_t value) {
  for (int shift = 28; shift >= 0; shift -= 4) {
    board_uart_put("0123456789abcdef"[value >> shift & 15U]);
  }
}

static size_t Distance(const volatile uint32_t* from, const uint32_t* to) {
  return (size_t)((uintptr_t)to - (uintptr_t)from);
}

size_t board_ram_static(void) {
  return Distance(board_ram_start, board_bss_end);
}

size_t board_ram_stack(void) {
  const volatile uint32_t* word = board_bss_end;
  while (*word == BOARD_STACK_PAINT) ++word;
  return Distance(word, board_stack_top);
}

size_t board_flash(void) {
  return Distance(board_flash_start, board_data_load) +
         Distance(board_data_start, board_data_end);
}

void board_print_memory(void) {
  board_print("flash ");
  board_print_number((int64_t)board_flash());
  board_print(" bytes, RAM ");
  board_print_number((int64_t)(board_ram_static() + board_ram_stack()));
  board_print(" bytes: variables ");
  board_print_number((int64_t)board_ram_static());
  board_print(", deepest stack ");
  board_print_number((int64_t)board_ram_stack());
  board_print("\r\n");
}

/* Semihosting: QEMU ends with the status. Without a debugger the breakpoint is
 * a fault, whose handler comes here again: hence the flag. */
void board_exit(int status) {
  static volatile int again;
  if (!again) {
    again = 1;
    const uintptr_t block[2] = {0x20026, (uintptr_t)status};
    register uintptr_t operation __asm("r0") = 0x20; /* SYS_EXIT_EXTENDED */
    register uintptr_t argument __asm("r1") = (uintptr_t)block;
    __asm volatile("bkpt 0xab" : "+r"(operation) : "r"(argument) : "memory");
  }
  for (;;) {
  }
}
