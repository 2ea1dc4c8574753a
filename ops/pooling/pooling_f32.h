// Mean over tokens, in two halves: rows arrive tile by tile.
#ifndef ATTO_OPS_POOLING_POOLING_F32_H_
#define ATTO_OPS_POOLING_POOLING_F32_H_

#include <cstddef>

#include "ops/base/span.h"

namespace atto {

// sums[j] += x[i][j] over the rows i. x [rows, d]; sums [d].
void SumRowsF32Ref(MatrixView<const float> x, float* sums) noexcept;

// y[j] = sums[j] / count. Legal: count >= 1; y [d] may be sums.
void MeanF32Ref(Span<const float> sums, std::size_t count, float* y) noexcept;

}  // namespace atto

#endif  // ATTO_OPS_POOLING_POOLING_F32_H_
