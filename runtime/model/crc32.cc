#include "runtime/model/crc32.h"

#include <cstddef>

namespace atto {
namespace {

// The polynomial 0x04C11DB7 with its bits reversed: least significant first.
constexpr std::uint32_t kPolynomial = 0xEDB88320;

// What `bits` bits leave behind in the remainder.
constexpr std::uint32_t Divide(std::uint32_t remainder, int bits) noexcept {
  for (; bits > 0; --bits) {
    remainder = (remainder >> 1) ^ ((remainder & 1U) != 0 ? kPolynomial : 0U);
  }
  return remainder;
}

#if ATTO_WITH_HIGHWAY
// A host: slicing (Kounavis, Berry, IEEE Transactions on Computers 57-11,
// 2008). All bytes of a slice are looked up at once.
constexpr std::size_t kSlice = 16;

struct SliceTables {
  // [k][i]: the remainder that byte i leaves behind k bytes later.
  std::uint32_t entries[kSlice][256];
};

constexpr SliceTables MakeTables() noexcept {
  SliceTables tables = {};
  for (std::uint32_t i = 0; i < 256; ++i) tables.entries[0][i] = Divide(i, 8);
  for (std::size_t k = 1; k < kSlice; ++k) {
    for (std::uint32_t i = 0; i < 256; ++i) {
      const std::uint32_t before = tables.entries[k - 1][i];
      tables.entries[k][i] = (before >> 8) ^ tables.entries[0][before & 0xFFU];
    }
  }
  return tables;
}

constexpr SliceTables kTables = MakeTables();

std::uint32_t Add(std::uint32_t crc, std::uint8_t byte) noexcept {
  return (crc >> 8) ^ kTables.entries[0][(crc ^ byte) & 0xFFU];
}

std::uint32_t AddSlice(std::uint32_t crc, const std::uint8_t* p) noexcept {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < kSlice; ++i) {
    const std::uint32_t old = i < 4 ? crc >> (8 * i) & 0xFFU : 0;
    sum ^= kTables.entries[kSlice - 1 - i][old ^ p[i]];
  }
  return sum;
}
#else
// Firmware: 64 bytes of table, two steps a byte.
constexpr std::size_t kSlice = 1;

struct NibbleTable {
  std::uint32_t entries[16];
};

constexpr NibbleTable MakeTable() noexcept {
  NibbleTable table = {};
  for (std::uint32_t i = 0; i < 16; ++i) table.entries[i] = Divide(i, 4);
  return table;
}

constexpr NibbleTable kNibbles = MakeTable();

std::uint32_t Add(std::uint32_t crc, std::uint8_t byte) noexcept {
  crc ^= byte;
  crc = (crc >> 4) ^ kNibbles.entries[crc & 15U];
  return (crc >> 4) ^ kNibbles.entries[crc & 15U];
}

std::uint32_t AddSlice(std::uint32_t crc, const std::uint8_t* p) noexcept {
  return Add(crc, *p);
}
#endif

}  // namespace

std::uint32_t Crc32(Span<const std::uint8_t> bytes,
                    std::uint32_t crc) noexcept {
  crc = ~crc;
  const std::uint8_t* p = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= kSlice; left -= kSlice, p += kSlice) crc = AddSlice(crc, p);
  for (; left > 0; --left) crc = Add(crc, *p++);
  return ~crc;
}

}  // namespace atto
