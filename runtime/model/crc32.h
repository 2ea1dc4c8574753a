// CRC-32 of the IEEE 802.3 polynomial, as zlib, PNG and Ethernet compute it.
#ifndef ATTO_RUNTIME_MODEL_CRC32_H_
#define ATTO_RUNTIME_MODEL_CRC32_H_

#include <cstdint>

#include "ops/base/span.h"

namespace atto {

// CRC-32 of the bytes that gave `crc` so far, followed by `bytes`; 0 is the
// CRC-32 of no bytes. Firmware has a table of 64 bytes and takes two steps a
// byte; hosts have 16 KB and take 16 bytes a step.
std::uint32_t Crc32(Span<const std::uint8_t> bytes,
                    std::uint32_t crc = 0) noexcept;

}  // namespace atto

#endif  // ATTO_RUNTIME_MODEL_CRC32_H_
