#include "ops/helium/product.h"
#include "ops/helium/vector.h"
#include "ops/matmul/matmul.h"

namespace atto {
namespace {

// Inputs whose panel is on the stack at a time, 1 KiB; longer rows take turns.
constexpr std::size_t kInputs = 256;
// Channels whose sums are. Long rows have half, beside those of their parts.
constexpr std::size_t kChannels = 64;

using Sums = std::int32_t[helium::kRows][kChannels];

// Sums of `channels` channels from the first on, without bias, and of the rows
// in `rows`. `panel` holds these already if they are short and first is not 0.
void Accumulate(const Linear& linear,
                const std::int8_t* const (&rows)[helium::kRows],
                std::size_t first, std::size_t channels, std::int8_t* panel,
                Sums& sums) noexcept {
  const std::size_t in = linear.in;
  for (std::size_t k = 0; k < in; k += kInputs) {
    const std::size_t left = in - k;
    const std::size_t inputs = left < kInputs ? left : kInputs;
    if (first == 0 || in > kInputs) {
      const std::int8_t* const part[helium::kRows] = {rows[0] + k, rows[1] + k,
                                                      rows[2] + k, rows[3] + k};
      helium::MakePanel(part, inputs, panel);
    }
    std::int32_t* const part = sums[0] + (k == 0 ? 0 : kChannels / 2);
    helium::Product(panel, inputs, linear.weights + first * in + k, in,
                    channels, part, kChannels);
    if (k == 0) continue;
    for (std::size_t r = 0; r < helium::kRows; ++r) {
      for (std::size_t c = 0; c < channels; ++c) {
        sums[r][c] += sums[r][kChannels / 2 + c];
      }
    }
  }
}

// Eight channels from c on: their biases, those of even and of odd channels
// apart, as narrowing to 16 bits wants them; their multipliers.
struct Channels {
  mve_pred16_t lanes;
  int32x4_t even_bias;
  int32x4_t odd_bias;
  int16x8_t multiplier;
};

Channels LoadChannels(const Linear& linear, std::size_t c,
                      std::size_t left) noexcept {
  const uint32x4_t even = vidupq_n_u32(0, 2);
  const std::int32_t* const bias = linear.bias + c;
  Channels channels;
  channels.lanes = helium::Lanes16(left);
  channels.even_bias = vldrwq_gather_shifted_offset_z_s32(
      bias, even, helium::Lanes32((left + 1) / 2));
  channels.odd_bias = vldrwq_gather_shifted_offset_z_s32(
      bias + 1, even, helium::Lanes32(left / 2));
  channels.multiplier = vldrhq_z_s16(linear.multiplier + c, channels.lanes);
  return channels;
}

// u of docs/quantization.md.
inline int16x8_t Requantise(const std::int32_t* sums, const Channels& channels,
                            int shift) noexcept {
  const int32x4x2_t sum = vld2q_s32(sums);
  const int32x4_t even = vaddq_s32(sum.val[0], channels.even_bias);
  const int32x4_t odd = vaddq_s32(sum.val[1], channels.odd_bias);
  int16x8_t narrow = vuninitializedq_s16();
  narrow = vqmovnbq_s32(narrow, vshlq_r_s32(even, shift));
  narrow = vqmovntq_s32(narrow, vshlq_r_s32(odd, shift));
  return vqrdmulhq_s16(narrow, channels.multiplier);
}

// One loop for the three results: `store(row, channel, lanes, u)` takes eight
// channels. Rows beyond the last are computed as copies of it and not stored.
template <typename Store>
void Matmul(const Linear& linear, MatrixView<const std::int8_t> x,
            const Store& store) noexcept {
  alignas(16) std::int8_t panel[helium::PanelBytes(kInputs)];
  Sums sums;
  const int shift = -static_cast<int>(linear.shift);
  const std::size_t group = linear.in > kInputs ? kChannels / 2 : kChannels;
  for (std::size_t row = 0; row < x.rows(); row += helium::kRows) {
    const std::size_t left = x.rows() - row;
    const std::size_t rows = left < helium::kRows ? left : helium::kRows;
    const std::int8_t* const tile[helium::kRows] = {
        x.row(row), x.row(row + (rows > 1 ? 1 : 0)),
        x.row(row + (rows > 2 ? 2 : 0)), x.row(row + (rows > 3 ? 3 : 0))};
    for (std::size_t first = 0; first < linear.out; first += group) {
      const std::size_t beyond = linear.out - first;
      const std::size_t count = beyond < group ? beyond : group;
      Accumulate(linear, tile, first, count, panel, sums);
      for (std::size_t i = 0; i < count; i += 8) {
        const Channels channels = LoadChannels(linear, first + i, count - i);
        for (std::size_t r = 0; r < rows; ++r) {
          store(row + r, first + i, channels.lanes,
                Requantise(sums[r] + i, channels, shift));
        }
      }
    }
  }
}

}  // namespace

void MatmulS8Helium(const Linear& linear, MatrixView<const std::int8_t> x,
                    MatrixView<std::int8_t> y) noexcept {
  Matmul(linear, x,
         [y](std::size_t row, std::size_t c, mve_pred16_t lanes, int16x8_t u) {
           vstrbq_p_s16(y.row(row) + c, helium::Clamp127(u), lanes);
         });
}

void MatmulS16Helium(const Linear& linear, MatrixView<const std::int8_t> x,
                     MatrixView<std::int16_t> y) noexcept {
  Matmul(linear, x,
         [y](std::size_t row, std::size_t c, mve_pred16_t lanes, int16x8_t u) {
           vstrhq_p_s16(y.row(row) + c, u, lanes);
         });
}

void MatmulAddS16Helium(const Linear& linear, MatrixView<const std::int8_t> x,
                        MatrixView<std::int16_t> r) noexcept {
  Matmul(linear, x,
         [r](std::size_t row, std::size_t c, mve_pred16_t lanes, int16x8_t u) {
           std::int16_t* const to = r.row(row) + c;
           const int16x8_t old = vldrhq_z_s16(to, lanes);
           vstrhq_p_s16(to, vqaddq_s16(old, u), lanes);
         });
}

}  // namespace atto
