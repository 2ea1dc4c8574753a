// Products of bytes on cores with MVE (Helium): what matmul and attention
// share.
//
// VMLADAVA multiplies 16 bytes by 16 bytes and adds all products to a register.
// Weights stay in the order of the model file; activations of four rows come
// side by side in a panel, 16 bytes of each in turn. The first 16 may be fewer,
// filled with zeros, so that all others are whole.
#ifndef ATTO_OPS_HELIUM_PRODUCT_H_
#define ATTO_OPS_HELIUM_PRODUCT_H_

#include <cstddef>
#include <cstdint>

namespace atto::helium {

// Rows whose sums stay in registers together.
constexpr std::size_t kRows = 4;

// Bytes of a panel.
constexpr std::size_t PanelBytes(std::size_t inputs) noexcept {
  return (inputs + 15) / 16 * 16 * kRows;
}

// panel [PanelBytes(inputs)]; inputs >= 1.
void MakePanel(const std::int8_t* const (&rows)[kRows], std::size_t inputs,
               std::int8_t* panel) noexcept;

// sums[r * sums_stride + c] = sum over k of x[r][k] * weights[c *
// weights_stride
// + k], k < inputs, c < channels, r < kRows. x: as `panel`.
void Product(const std::int8_t* panel, std::size_t inputs,
             const std::int8_t* weights, std::size_t weights_stride,
             std::size_t channels, std::int32_t* sums,
             std::size_t sums_stride) noexcept;

}  // namespace atto::helium

#endif  // ATTO_OPS_HELIUM_PRODUCT_H_
