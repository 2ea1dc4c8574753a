#include "ops/attention/attention.h"
#include "ops/backend_memory.h"
#include "ops/base/fixed_point.h"
#include "ops/dsp/product.h"
#include "ops/dsp/word.h"

namespace atto {
namespace {

using dsp::kRows;

// Columns of V that are transposed at a time.
constexpr std::size_t kColumns = 4;

// Shifts 16-bit pairs to the left.
void ScalePanel(unsigned shift, std::size_t words,
                std::uint32_t* panel) noexcept {
  for (std::size_t i = 0; i < words; ++i) {
    panel[i] = dsp::ShiftHalves(panel[i], shift);
  }
}

// A quad of rows, `stride` bytes apart, -> the quads of four columns, `padded`
// bytes apart.
inline void TransposeQuad(const std::int8_t* from, std::size_t stride,
                          std::int8_t* to, std::size_t padded) noexcept {
  const std::uint32_t row0 = dsp::LoadWord(from);
  const std::uint32_t row1 = dsp::LoadWord(from + stride);
  const std::uint32_t row2 = dsp::LoadWord(from + 2 * stride);
  const std::uint32_t row3 = dsp::LoadWord(from + 3 * stride);
  // Bytes of rows 0 and 1, of rows 2 and 3 side by side, then pairs of them.
  const std::uint32_t even01 = dsp::EvenHalf(row0) | dsp::EvenHalf(row1) << 8;
  const std::uint32_t even23 = dsp::EvenHalf(row2) | dsp::EvenHalf(row3) << 8;
  const std::uint32_t odd01 = dsp::OddHalf(row0) | dsp::OddHalf(row1) << 8;
  const std::uint32_t odd23 = dsp::OddHalf(row2) | dsp::OddHalf(row3) << 8;
  dsp::StoreWord(dsp::LowHalves(even01, even23), to);
  dsp::StoreWord(dsp::LowHalves(odd01, odd23), to + padded);
  dsp::StoreWord(dsp::HighHalves(even01, even23), to + 2 * padded);
  dsp::StoreWord(dsp::HighHalves(odd01, odd23), to + 3 * padded);
}

// v [n, d] -> [kColumns, padded]: the columns from `first` on; padded is n
// rounded up to a quad, filled with zeros.
void Transpose(MatrixView<const std::int8_t> v, std::size_t first,
               std::size_t columns, std::size_t padded,
               std::int8_t* transposed) noexcept {
  std::size_t row = 0;
  if (columns == kColumns) {
    const std::int8_t* from = v.data() + first;
    for (; row + 4 <= v.rows(); row += 4, from += 4 * v.cols()) {
      TransposeQuad(from, v.cols(), transposed + row, padded);
    }
  }
  for (; row < padded; row += 4) {
    std::int8_t part[4][kColumns] = {};
    for (std::size_t r = row; r < row + 4 && r < v.rows(); ++r) {
      std::memcpy(part[r - row], v.row(r) + first, columns);
    }
    TransposeQuad(part[0], kColumns, transposed + row, padded);
  }
}

// weighted_mean8(sum, reciprocal, 6). |sum| <= 127 times the weights' sum, so
// that nothing saturates, and the last two shifts are one.
inline std::int8_t WeightedMean(std::int32_t sum,
                                MeanReciprocal reciprocal) noexcept {
  const std::int32_t scaled = (sum * (1 << reciprocal.left_shift) + 256) >> 9;
  constexpr std::int32_t kRound = (1 << 14) + (1 << (15 + 5));
  return static_cast<std::int8_t>((scaled * reciprocal.inverse + kRound) >> 21);
}

}  // namespace

void AttentionS8Dsp(const Attention& attention, MatrixView<const std::int8_t> q,
                    MatrixView<const std::int8_t> k,
                    MatrixView<const std::int8_t> v, MatrixView<std::int8_t> y,
                    void* scratch, std::int8_t* tap) noexcept {
  const std::size_t tokens = k.rows();
  const std::size_t padded = RoundUpTo(tokens, 4);
  const std::size_t d = k.cols();
  const std::size_t d_head = attention.d_head;
  // A shift of scores to the left is one of the queries: the panel has room.
  SoftmaxParams softmax = attention.softmax;
  unsigned left_shift = 0;
  if (softmax.shift < 0) {
    left_shift = static_cast<unsigned>(-softmax.shift);
    softmax.shift = 0;
  }
  // Scores [kRows, padded]; when they have become weights, the panel of these
  // and the transposed values take their place.
  auto* const scores = static_cast<std::int32_t*>(scratch);
  auto* const panel = static_cast<std::uint32_t*>(scratch);
  auto* const transposed =
      reinterpret_cast<std::int8_t*>(panel + dsp::PanelWords(tokens));
  // The panel of the queries, then the weights [kRows, tokens].
  auto* const queries =
      reinterpret_cast<std::uint32_t*>(scores + kRows * padded);
  auto* const weights = reinterpret_cast<std::int8_t*>(queries);
  for (std::size_t row = 0; row < q.rows(); row += kRows) {
    const std::size_t left = q.rows() - row;
    const std::size_t rows = left < kRows ? left : kRows;
    for (std::size_t head = 0; head < attention.heads; ++head) {
      const std::size_t first = head * d_head;
      const std::int8_t* tile[kRows];
      for (std::size_t r = 0; r < kRows; ++r) {
        tile[r] = q.row(row + (r < rows ? r : 0)) + first;
      }
      dsp::MakePanel(tile, d_head, queries);
      if (left_shift != 0) {
        ScalePanel(left_shift, dsp::PanelWords(d_head), queries);
      }
      dsp::Product(queries, d_head, k.data() + first, d, tokens, scores,
                   padded);
      MeanReciprocal reciprocals[kRows];
      for (std::size_t r = 0; r < rows; ++r) {
        const std::int32_t sum = SoftmaxS8Dsp(
            softmax, Span<const std::int32_t>(scores + r * padded, tokens),
            weights + r * tokens);
        reciprocals[r] = MakeMeanReciprocal(static_cast<std::uint32_t>(sum));
        if (tap != nullptr) {
          std::memcpy(tap + ((row + r) * attention.heads + head) * tokens,
                      weights + r * tokens, tokens);
        }
      }
      for (std::size_t r = 0; r < kRows; ++r) {
        tile[r] = weights + (r < rows ? r : 0) * tokens;
      }
      dsp::MakePanel(tile, tokens, panel);
      for (std::size_t c = 0; c < d_head; c += kColumns) {
        const std::size_t beyond = d_head - c;
        const std::size_t columns = beyond < kColumns ? beyond : kColumns;
        Transpose(v, first + c, columns, padded, transposed);
        std::int32_t sums[kRows][kColumns];
        dsp::Product(panel, padded, transposed, padded, columns, sums[0],
                     kColumns);
        for (std::size_t r = 0; r < rows; ++r) {
          for (std::size_t i = 0; i < columns; ++i) {
            y.row(row + r)[first + c + i] =
                WeightedMean(sums[r][i], reciprocals[r]);
          }
        }
      }
    }
  }
}

}  // namespace atto
