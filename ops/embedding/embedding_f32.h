// Embedding of a token as the sum of several rows of one float table (hashed
// n-grams: Bojanowski et al., arXiv 1607.04606, section 3.2).
#ifndef ATTO_OPS_EMBEDDING_EMBEDDING_F32_H_
#define ATTO_OPS_EMBEDDING_EMBEDDING_F32_H_

#include <cstdint>

#include "ops/base/span.h"

namespace atto {

// The table belongs to the model file.
struct FloatEmbedding {
  const float* table = nullptr;  // [rows, width]
  std::uint16_t rows = 0;        // V, 1..65,535
  std::uint16_t width = 0;       // e, 1..512
};

// y[j] = sum of table[row][j] over `rows`. rows [0..255], each <
// embedding.rows; y [width]. No row gives zeros.
void EmbeddingSumF32Ref(const FloatEmbedding& embedding,
                        Span<const std::uint16_t> rows, float* y) noexcept;

}  // namespace atto

#endif  // ATTO_OPS_EMBEDDING_EMBEDDING_F32_H_
