#ifndef ATTO_OPS_EMBEDDING_EMBEDDING_XSIMD_INL_H_
#define ATTO_OPS_EMBEDDING_EMBEDDING_XSIMD_INL_H_

#include <cstddef>
#include <cstdint>

#include "ops/embedding/embedding_f32.h"
#include "ops/float_simd/vectors-inl.h"

namespace atto {
namespace {

// A vector of columns at a time over all rows: the sum never leaves a register.
void EmbeddingSumF32(const FloatEmbedding& embedding,
                     Span<const std::uint16_t> rows, float* y) noexcept {
  const std::size_t width = embedding.width;
  const std::size_t whole = width / kLanes * kLanes;
  for (std::size_t j = 0; j < whole; j += kLanes) {
    Vector sum(0.0F);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      sum = sum + Load(embedding.table + rows[i] * width + j);
    }
    Store(sum, y + j);
  }
  for (std::size_t j = whole; j < width; ++j) {
    float sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      sum += embedding.table[rows[i] * width + j];
    }
    y[j] = sum;
  }
}

}  // namespace
}  // namespace atto

#endif  // ATTO_OPS_EMBEDDING_EMBEDDING_XSIMD_INL_H_
