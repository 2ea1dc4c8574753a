/* What an example needs of a board: a UART, a clock that counts instructions
 * under emulation, figures of memory use, an end. Plain C99. */
#ifndef ATTO_FIRMWARE_EXAMPLES_BOARDS_BOARD_H_
#define ATTO_FIRMWARE_EXAMPLES_BOARDS_BOARD_H_

#include <stddef.h>
#include <stdint.h>

#define BOARD_NORETURN __attribute__((noreturn))

#ifdef __cplusplus
extern "C" {
#endif

/* UART, polled. board_read waits for the next byte. */
void board_write(const char* bytes, size_t size);
char board_read(void);

/* Reads a line, without its end ("\r", "\n" or both), into `line`, zero
 * terminated. Returns the length of what fits, and in *dropped how many bytes
 * did not. `capacity` is at least 1. */
size_t board_read_line(char* line, size_t capacity, size_t* dropped);

/* Text and numbers without stdio. */
void board_print(const char* text);
void board_print_number(int64_t value);
void board_print_hex(uint32_t value);

/* Instructions since reset, to within one tick (63 or fewer), when QEMU
 * runs with `-icount shift=0` (one instruction a nanosecond); nanoseconds on
 * hardware. The count repeats exactly from run to run. */
uint64_t board_clock(void);

/* Bytes of RAM: variables (data and zeroed data), deepest stack since reset. */
size_t board_ram_static(void);
size_t board_ram_stack(void);
/* Bytes of flash: code, constants and initial values. */
size_t board_flash(void);

/* One line with these three figures. */
void board_print_memory(void);

/* Ends the emulation with this exit status; waits for ever on hardware without
 * a debugger. */
BOARD_NORETURN void board_exit(int status);

#ifdef __cplusplus
}
#endif

#endif /* ATTO_FIRMWARE_EXAMPLES_BOARDS_BOARD_H_ */
