#include "runtime/model/crc32.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

#include "tests/support/model_file.h"

namespace atto {
namespace {

TEST_CASE("the check value of CRC-32 is that of the catalogue") {
  constexpr std::uint8_t kDigits[] = {'1', '2', '3', '4', '5',
                                      '6', '7', '8', '9'};
  CHECK(Crc32(kDigits) == 0xCBF43926);
  CHECK(Crc32({}) == 0);
}

TEST_CASE("every byte gives what the definition bit by bit gives") {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::uint8_t bytes[2] = {static_cast<std::uint8_t>(byte), 0x5A};
    CHECK(Crc32(bytes) == testing::TestCrc32(bytes, sizeof(bytes)));
  }
}

TEST_CASE("bytes may come in parts") {
  testing::Bytes bytes;
  for (unsigned i = 0; i < 100; ++i) testing::Append(&bytes, i * i, 1);
  const Span<const std::uint8_t> all(bytes.data(), bytes.size());
  const std::uint32_t expected = testing::TestCrc32(bytes.data(), bytes.size());
  for (std::size_t cut = 0; cut <= all.size(); ++cut) {
    const std::uint32_t head = Crc32(all.subspan(0, cut));
    CHECK(Crc32(all.subspan(cut, all.size() - cut), head) == expected);
  }
}

}  // namespace
}  // namespace atto
