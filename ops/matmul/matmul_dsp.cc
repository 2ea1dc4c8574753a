#include "ops/base/fixed_point.h"
#include "ops/dsp/product.h"
#include "ops/dsp/word.h"
#include "ops/matmul/matmul.h"

namespace atto {
namespace {

// Inputs whose panel is on the stack at a time, 1 KiB; longer rows take turns.
constexpr std::size_t kInputs = 128;
// Channels whose sums are. More would repeat the panels of long rows less.
constexpr std::size_t kChannels = 16;

using Sums = std::int32_t[dsp::kRows][kChannels];

// Sums of `channels` channels from the first on, without bias, and of the rows
// in `rows`. `panel` holds these already if they are short and first is not 0.
void Accumulate(const Linear& linear,
                const std::int8_t* const (&rows)[dsp::kRows], std::size_t first,
                std::size_t channels, std::uint32_t* panel,
                Sums& sums) noexcept {
  const std::size_t in = linear.in;
  for (std::size_t k = 0; k < in; k += kInputs) {
    const std::size_t left = in - k;
    const std::size_t inputs = left < kInputs ? left : kInputs;
    if (first == 0 || in > kInputs) {
      const std::int8_t* const part[dsp::kRows] = {rows[0] + k, rows[1] + k,
                                                   rows[2] + k, rows[3] + k};
      dsp::MakePanel(part, inputs, panel);
    }
    Sums part;
    dsp::Product(panel, inputs, linear.weights + first * in + k, in, channels,
                 k == 0 ? sums[0] : part[0], kChannels);
    if (k == 0) continue;
    for (std::size_t r = 0; r < dsp::kRows; ++r) {
      for (std::size_t c = 0; c < channels; ++c) sums[r][c] += part[r][c];
    }
  }
}

// Brings the sums of one row to their results.
using Finish = void (*)(const std::int32_t* sums, const Linear& linear,
                        std::size_t first, std::size_t channels, void* to);

// u of docs/quantization.md before the last shift, by 15.
inline std::int32_t Requantise(const Linear& linear, std::int32_t sum,
                               std::size_t channel) noexcept {
  return dsp::RoundedProduct(
      dsp::Saturate<16>((sum + linear.bias[channel]) >> linear.shift),
      linear.multiplier[channel]);
}

// One loop for the three results: y [rows, out] has elements of `size` bytes.
// Rows beyond the last are computed as copies of it and not stored.
void Matmul(const Linear& linear, MatrixView<const std::int8_t> x,
            Finish finish, void* y, std::size_t size) noexcept {
  std::uint32_t panel[dsp::PanelWords(kInputs)];
  Sums sums;
  for (std::size_t row = 0; row < x.rows(); row += dsp::kRows) {
    const std::size_t left = x.rows() - row;
    const std::size_t rows = left < dsp::kRows ? left : dsp::kRows;
    const std::int8_t* const tile[dsp::kRows] = {
        x.row(row), x.row(row + (rows > 1 ? 1 : 0)),
        x.row(row + (rows > 2 ? 2 : 0)), x.row(row + (rows > 3 ? 3 : 0))};
    for (std::size_t first = 0; first < linear.out; first += kChannels) {
      const std::size_t beyond = linear.out - first;
      const std::size_t channels = beyond < kChannels ? beyond : kChannels;
      Accumulate(linear, tile, first, channels, panel, sums);
      for (std::size_t r = 0; r < rows; ++r) {
        finish(sums[r], linear, first, channels,
               static_cast<std::uint8_t*>(y) +
                   ((row + r) * linear.out + first) * size);
      }
    }
  }
}

}  // namespace

void MatmulS8Dsp(const Linear& linear, MatrixView<const std::int8_t> x,
                 MatrixView<std::int8_t> y) noexcept {
  const Finish finish = [](const std::int32_t* sums, const Linear& layer,
                           std::size_t first, std::size_t channels, void* to) {
    auto* const out = static_cast<std::int8_t*>(to);
    for (std::size_t c = 0; c < channels; ++c) {
      out[c] = dsp::Clamp127(Requantise(layer, sums[c], first + c) >> 15);
    }
  };
  Matmul(linear, x, finish, y.data(), sizeof(std::int8_t));
}

void MatmulS16Dsp(const Linear& linear, MatrixView<const std::int8_t> x,
                  MatrixView<std::int16_t> y) noexcept {
  const Finish finish = [](const std::int32_t* sums, const Linear& layer,
                           std::size_t first, std::size_t channels, void* to) {
    auto* const out = static_cast<std::int16_t*>(to);
    for (std::size_t c = 0; c < channels; ++c) {
      out[c] = static_cast<std::int16_t>(
          Requantise(layer, sums[c], first + c) >> 15);
    }
  };
  Matmul(linear, x, finish, y.data(), sizeof(std::int16_t));
}

void MatmulAddS16Dsp(const Linear& linear, MatrixView<const std::int8_t> x,
                     MatrixView<std::int16_t> r) noexcept {
  const Finish finish = [](const std::int32_t* sums, const Linear& layer,
                           std::size_t first, std::size_t channels, void* to) {
    auto* const out = static_cast<std::int16_t*>(to);
    for (std::size_t c = 0; c < channels; ++c) {
      const std::int32_t u = Requantise(layer, sums[c], first + c) >> 15;
      out[c] = static_cast<std::int16_t>(dsp::Saturate<16>(out[c] + u));
    }
  };
  Matmul(linear, x, finish, r.data(), sizeof(std::int16_t));
}

}  // namespace atto
