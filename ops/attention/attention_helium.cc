#include <cstring>

#include "ops/attention/attention.h"
#include "ops/backend_memory.h"
#include "ops/base/fixed_point.h"
#include "ops/helium/product.h"
#include "ops/helium/vector.h"

namespace atto {
namespace {

using helium::kRows;

// Columns of V that are transposed at a time.
constexpr std::size_t kColumns = 8;

// v [n, d] -> [columns, padded]: the columns from `first` on, token by token.
void Transpose(MatrixView<const std::int8_t> v, std::size_t first,
               std::size_t columns, std::size_t padded,
               std::int8_t* transposed) noexcept {
  const mve_pred16_t lanes = helium::Lanes16(columns);
  const uint16x8_t offsets =
      vmulq_n_u16(vidupq_n_u16(0, 1), static_cast<std::uint16_t>(padded));
  const std::int8_t* from = v.data() + first;
  for (std::size_t row = 0; row < v.rows(); ++row, from += v.cols()) {
    vstrbq_scatter_offset_p_s16(transposed + row, offsets,
                                vldrbq_z_s16(from, lanes), lanes);
  }
}

// weighted_mean8(sum, reciprocal, 6) of `columns` sums. |sum| <= 127 times the
// weights' sum, so that nothing saturates.
void WeightedMean(const std::int32_t* sums, MeanReciprocal reciprocal,
                  std::size_t columns, std::int8_t* y) noexcept {
  const int left = static_cast<int>(reciprocal.left_shift);
  const auto inverse = static_cast<std::int16_t>(reciprocal.inverse);
  for (std::size_t i = 0; i < columns; i += 4) {
    const int32x4_t sum = vshlq_r_s32(vldrwq_s32(sums + i), left);
    const int16x8_t scaled = vreinterpretq_s16_s32(vrshrq_n_s32(sum, 9));
    const int16x8_t u = vqrdmulhq_n_s16(scaled, inverse);
    vstrbq_p_s32(y + i, vreinterpretq_s32_s16(vrshrq_n_s16(u, 6)),
                 helium::Lanes32(columns - i));
  }
}

}  // namespace

void AttentionS8Helium(const Attention& attention,
                       MatrixView<const std::int8_t> q,
                       MatrixView<const std::int8_t> k,
                       MatrixView<const std::int8_t> v,
                       MatrixView<std::int8_t> y, void* scratch,
                       std::int8_t* tap) noexcept {
  const std::size_t tokens = k.rows();
  const std::size_t padded = RoundUpTo(tokens, 16);
  const std::size_t d = k.cols();
  const std::size_t d_head = attention.d_head;
  // Scores [kRows, padded]; when they have become weights, the panel of these
  // and the transposed values take their place.
  auto* const scores = static_cast<std::int32_t*>(scratch);
  auto* const panel = static_cast<std::int8_t*>(scratch);
  std::int8_t* const transposed = panel + helium::PanelBytes(tokens);
  // The panel of the queries, then the weights [kRows, tokens].
  auto* const weights = reinterpret_cast<std::int8_t*>(scores + kRows * padded);
  for (std::size_t row = 0; row < q.rows(); row += kRows) {
    const std::size_t left = q.rows() - row;
    const std::size_t rows = left < kRows ? left : kRows;
    for (std::size_t head = 0; head < attention.heads; ++head) {
      const std::size_t first = head * d_head;
      const std::int8_t* tile[kRows];
      for (std::size_t r = 0; r < kRows; ++r) {
        tile[r] = q.row(row + (r < rows ? r : 0)) + first;
      }
      helium::MakePanel(tile, d_head, weights);
      helium::Product(weights, d_head, k.data() + first, d, tokens, scores,
                      padded);
      MeanReciprocal reciprocals[kRows];
      for (std::size_t r = 0; r < rows; ++r) {
        std::int8_t* const weight = weights + r * tokens;
        const std::int32_t sum = SoftmaxS8Helium(
            attention.softmax,
            Span<const std::int32_t>(scores + r * padded, tokens), weight);
        reciprocals[r] = MakeMeanReciprocal(static_cast<std::uint32_t>(sum));
        if (tap != nullptr) {
          std::memcpy(tap + ((row + r) * attention.heads + head) * tokens,
                      weight, tokens);
        }
      }
      for (std::size_t r = 0; r < kRows; ++r) {
        tile[r] = weights + (r < rows ? r : 0) * tokens;
      }
      helium::MakePanel(tile, tokens, panel);
      for (std::size_t c = 0; c < d_head; c += kColumns) {
        const std::size_t beyond = d_head - c;
        const std::size_t columns = beyond < kColumns ? beyond : kColumns;
        Transpose(v, first + c, columns, padded, transposed);
        std::int32_t sums[kRows][kColumns] = {};
        helium::Product(panel, tokens, transposed, padded, columns, sums[0],
                        kColumns);
        for (std::size_t r = 0; r < rows; ++r) {
          WeightedMean(sums[r], reciprocals[r], columns,
                       y.row(row + r) + first + c);
        }
      }
    }
  }
}

}  // namespace atto
