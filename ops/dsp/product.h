// Products of bytes on cores with the DSP extension (Armv7E-M, Armv8-M main
// line): what matmul and attention share.
//
// SMLAD multiplies two 16-bit pairs. Weights stay bytes in the order of the
// model file: SXTB16 spreads four of them, w0..w3, to the pairs (w0, w2) and
// (w1, w3). Activations are spread once for many channels, to a panel in the
// same order.
#ifndef ATTO_OPS_DSP_PRODUCT_H_
#define ATTO_OPS_DSP_PRODUCT_H_

#include <cstddef>
#include <cstdint>

namespace atto::dsp {

// Rows whose sums stay in registers together.
constexpr std::size_t kRows = 4;

// 32-bit words of a panel: for every quad of inputs and every row two pairs.
constexpr std::size_t PanelWords(std::size_t inputs) noexcept {
  return (inputs + 3) / 4 * kRows * 2;
}

// Spreads `inputs` bytes of each row; the last quad is filled with zeros.
// panel [PanelWords(inputs)].
void MakePanel(const std::int8_t* const (&rows)[kRows], std::size_t inputs,
               std::uint32_t* panel) noexcept;

// sums[r * sums_stride + c] = sum over k of x[r][k] * weights[c *
// weights_stride
// + k], k < inputs, c < channels, r < kRows. x: as `panel`.
void Product(const std::uint32_t* panel, std::size_t inputs,
             const std::int8_t* weights, std::size_t weights_stride,
             std::size_t channels, std::int32_t* sums,
             std::size_t sums_stride) noexcept;

}  // namespace atto::dsp

#endif  // ATTO_OPS_DSP_PRODUCT_H_
