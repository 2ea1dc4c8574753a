#include "ops/embedding/embedding_f32.h"

#include <cstddef>

namespace atto {

void EmbeddingSumF32Ref(const FloatEmbedding& embedding,
                        Span<const std::uint16_t> rows, float* y) noexcept {
  const std::size_t width = embedding.width;
  for (std::size_t j = 0; j < width; ++j) y[j] = 0;
  for (const std::uint16_t row : rows) {
    const float* const values = embedding.table + row * width;
    for (std::size_t j = 0; j < width; ++j) y[j] += values[j];
  }
}

}  // namespace atto
