#include "tools/cli/arena_picture.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "tools/cli/format.h"

namespace atto::cli {
namespace {

constexpr std::size_t kPictureRows = 24;  // of an arena of large buffers
constexpr std::size_t kAddressColumns = 9;
constexpr std::size_t kStepColumns = 9;

// Where the next buffer may begin.
std::size_t End(const Buffer& buffer) {
  return AlignUp(buffer.offset + buffer.bytes);
}

// The letter of the buffer that holds `address` at `step`, or a dot.
char LetterAt(Span<const Buffer> buffers, std::size_t address,
              std::size_t step) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const Buffer& buffer = buffers[i];
    if (buffer.bytes > 0 && address >= buffer.offset && address < End(buffer) &&
        step >= buffer.first_use && step <= buffer.last_use) {
      return static_cast<char>('A' + i);
    }
  }
  return '.';
}

}  // namespace

std::string DrawArena(Span<const Buffer> buffers, Span<const char* const> names,
                      std::size_t total_bytes,
                      const std::vector<std::string>& steps) {
  // Nothing changes between two neighbouring bounds.
  std::set<std::size_t> bounds = {0, total_bytes};
  for (const Buffer& buffer : buffers) {
    if (buffer.bytes == 0) continue;
    bounds.insert(buffer.offset);
    bounds.insert(End(buffer));
  }

  std::string picture = PadLeft("address", kAddressColumns);
  for (const std::string& step : steps) {
    picture += "  " + PadRight(step, kStepColumns);
  }
  picture += '\n';
  for (auto bound = bounds.begin(); std::next(bound) != bounds.end(); ++bound) {
    const std::size_t bytes = *std::next(bound) - *bound;
    const std::size_t rows =
        std::max<std::size_t>(1, bytes * kPictureRows / total_bytes);
    for (std::size_t row = 0; row < rows; ++row) {
      picture += PadLeft(row == 0 ? Grouped(*bound) : "", kAddressColumns);
      for (std::size_t step = 0; step < steps.size(); ++step) {
        picture +=
            "  " + std::string(kStepColumns, LetterAt(buffers, *bound, step));
      }
      picture += '\n';
    }
  }
  picture += PadLeft(Grouped(total_bytes), kAddressColumns) + "  end\n\n";

  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const Buffer& buffer = buffers[i];
    if (buffer.bytes == 0) continue;
    std::string life = steps[buffer.first_use];
    if (buffer.last_use != buffer.first_use) {
      life += " to " + steps[buffer.last_use];
    }
    picture += "  ";
    picture += static_cast<char>('A' + i);
    picture += "  " + PadRight(names[i], 16) +
               PadLeft(Grouped(buffer.bytes), 9) + " bytes at " +
               PadLeft(Grouped(buffer.offset), 7) + "   " + life + '\n';
  }
  return picture;
}

}  // namespace atto::cli
