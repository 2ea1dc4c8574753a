// Numbers and columns for people.
#ifndef ATTO_TOOLS_CLI_FORMAT_H_
#define ATTO_TOOLS_CLI_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace atto::cli {

// 1234567 -> "1,234,567".
std::string Grouped(std::uint64_t value);

// 0.98765, 3 -> "0.988"; not a number -> "-".
std::string Fixed(double value, int decimals);

// UTF-8 text as it can be printed on one line: control characters become a
// space, ill-formed bytes U+FFFD; marks that change the direction go.
std::string Printable(std::string_view text);

// Columns that printable text takes in a terminal: East Asian wide characters
// and emoji take two, combining and invisible ones none.
std::size_t Columns(std::string_view printable);

// Cuts printable text to `columns`, with an ellipsis if something was cut.
std::string CutToColumns(std::string_view printable, std::size_t columns);

// Fills up with spaces to `columns`.
std::string PadLeft(std::string_view printable, std::size_t columns);
std::string PadRight(std::string_view printable, std::size_t columns);

// Columns of the terminal behind standard output; 80 if it is none.
std::size_t TerminalColumns();

}  // namespace atto::cli

#endif  // ATTO_TOOLS_CLI_FORMAT_H_
