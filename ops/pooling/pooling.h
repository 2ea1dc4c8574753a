// Mean over tokens. Integer definition: docs/quantization.md, "Pooling".
#ifndef ATTO_OPS_POOLING_POOLING_H_
#define ATTO_OPS_POOLING_POOLING_H_

#include <cstddef>
#include <cstdint>

#include "ops/base/span.h"

namespace atto {

// sums[j] += sum over rows of x[row][j]. x [rows, d] int8, sums [d] int32.
void SumRowsS8Ref(MatrixView<const std::int8_t> x, std::int32_t* sums) noexcept;

// y[j] = weighted_mean8(sums[j], tokens, shift): sums [d] of `tokens` int8 rows
// -> y [d]. 1 <= tokens <= 512, 0 <= shift <= 6.
void MeanS8Ref(Span<const std::int32_t> sums, std::size_t tokens,
               unsigned shift, std::int8_t* y) noexcept;

// The same on other cores.
decltype(SumRowsS8Ref) SumRowsS8Dsp, SumRowsS8Helium;

}  // namespace atto

#endif  // ATTO_OPS_POOLING_POOLING_H_
