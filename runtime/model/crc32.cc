#include "runtime/model/crc32.h"

#include <cstddef>

namespace atto {
namespace {

// The polynomial 0x04C11DB7 with its bits reversed: least significant first.
constexpr std::uint32_t kPolynomial = 0xEDB88320;

struct NibbleTable {
  std::uint32_t entries[16];
};

// entries[i]: the remainder that the four bits i leave behind.
constexpr NibbleTable MakeNibbleTable() noexcept {
  NibbleTable table = {};
  for (std::uint32_t i = 0; i < 16; ++i) {
    std::uint32_t remainder = i;
    for (int bit = 0; bit < 4; ++bit) {
      remainder = (remainder >> 1) ^ ((remainder & 1U) != 0 ? kPolynomial : 0U);
    }
    table.entries[i] = remainder;
  }
  return table;
}

constexpr NibbleTable kNibbles = MakeNibbleTable();

}  // namespace

std::uint32_t Crc32(Span<const std::uint8_t> bytes,
                    std::uint32_t crc) noexcept {
  crc = ~crc;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    crc = (crc >> 4) ^ kNibbles.entries[crc & 15U];
    crc = (crc >> 4) ^ kNibbles.entries[crc & 15U];
  }
  return ~crc;
}

}  // namespace atto
