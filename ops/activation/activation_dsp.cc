#include "ops/activation/activation.h"
#include "ops/activation/gelu_table.h"
#include "ops/dsp/word.h"

namespace atto {
namespace {

std::uint32_t Byte(std::uint32_t word, unsigned i) noexcept {
  return (word >> (8 * i)) & 0xFF;
}

// relu(x) - (relu(x) - gelu(x)), four bytes at a time.
std::uint32_t FourGelus(const std::int8_t* below_relu,
                        std::uint32_t word) noexcept {
  const std::uint32_t magnitude = dsp::Magnitudes(word);
  const auto* const table = reinterpret_cast<const std::uint8_t*>(below_relu);
  const std::uint32_t below = std::uint32_t{table[Byte(magnitude, 0)]} |
                              std::uint32_t{table[Byte(magnitude, 1)]} << 8 |
                              std::uint32_t{table[Byte(magnitude, 2)]} << 16 |
                              std::uint32_t{table[Byte(magnitude, 3)]} << 24;
  return dsp::SubtractBytes(dsp::Positives(word, magnitude), below);
}

std::uint32_t FourRelus(std::uint32_t word) noexcept {
  return dsp::Positives(word, dsp::Magnitudes(word));
}

// x = function(x), four bytes at a time.
template <typename Function>
void Apply(Span<std::int8_t> x, const Function& function) noexcept {
  std::int8_t* value = x.data();
  const std::size_t tail = x.size() % 4;
  std::int8_t* const end = value + (x.size() - tail);
  for (; value != end; value += 4) {
    dsp::StoreWord(function(dsp::LoadWord(value)), value);
  }
  if (tail != 0) {
    dsp::StorePart(function(dsp::LoadPart(value, tail)), value, tail);
  }
}

}  // namespace

void GeluS8Dsp(unsigned fraction_bits, Span<std::int8_t> x) noexcept {
  const std::int8_t* const below_relu = GeluBelowRelu(fraction_bits);
  Apply(x, [below_relu](std::uint32_t word) noexcept {
    return FourGelus(below_relu, word);
  });
}

void ReluS8Dsp(Span<std::int8_t> x) noexcept { Apply(x, FourRelus); }

}  // namespace atto
