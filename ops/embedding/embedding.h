// Embedding of a token as the sum of several rows of one table (hashed
// n-grams: Bojanowski et al., arXiv 1607.04606, section 3.2).
// Integer definition: docs/quantization.md, "Embedding sum".
#ifndef ATTO_OPS_EMBEDDING_EMBEDDING_H_
#define ATTO_OPS_EMBEDDING_EMBEDDING_H_

#include <cstddef>
#include <cstdint>

#include "ops/base/span.h"

namespace atto {

struct Embedding {
  static constexpr std::size_t kMaxRows = 65535;
  static constexpr std::size_t kMaxWidth = 512;
  // 255 rows of at most 127 stay within 16 bits.
  static constexpr std::size_t kMaxRowsPerToken = 255;

  const std::int8_t* table = nullptr;  // [rows, width], in [-127, 127]
  std::uint16_t rows = 0;              // V, 1..kMaxRows
  std::uint16_t width = 0;             // e, 1..kMaxWidth
  std::int16_t multiplier = 1;         // 1..32,767
};

// y[j] = clamp127(rdh16(sum of table[row][j] over `rows`, multiplier)).
// rows [0..255], each < embedding.rows; y [width]. No row gives zeros.
void EmbeddingSumS8Ref(const Embedding& embedding,
                       Span<const std::uint16_t> rows, std::int8_t* y) noexcept;

// The same on other cores.
decltype(EmbeddingSumS8Ref) EmbeddingSumS8Dsp, EmbeddingSumS8Helium;

}  // namespace atto

#endif  // ATTO_OPS_EMBEDDING_EMBEDDING_H_
