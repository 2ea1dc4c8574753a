#include "ops/helium/vector.h"
#include "ops/layernorm/layernorm.h"

namespace atto {
namespace {

// Kernels below work on copies of the parameters: a store of bytes might change
// the caller's, which would have to be read again each time.

// Writes c of every element and returns R; 0 for a constant row, which makes z
// 0.
std::int16_t Standardise(const LayerNorm& norm, const std::int16_t* x,
                         std::int16_t* centred) noexcept {
  const std::size_t size = norm.d;
  const std::int32_t d = norm.d;
  std::int32_t sum = 0;
  std::int16_t min = 32767;
  std::int16_t max = -32768;
  for (std::size_t i = 0; i < size; i += 8) {
    const mve_pred16_t lanes = helium::Lanes16(size - i);
    const int16x8_t value = vldrhq_z_s16(x + i, lanes);
    sum = vaddvaq_s16(sum, value);
    min = vminvq_p_s16(min, value, lanes);
    max = vmaxvq_p_s16(max, value, lanes);
  }
  const std::int32_t above = d * max - sum;
  const std::int32_t below = sum - d * min;
  const std::int32_t extreme = above > below ? above : below;
  // 31 - bitlen(extreme)
  const int up =
      extreme == 0 ? 0 : __builtin_clz(static_cast<std::uint32_t>(extreme)) - 1;
  // x scale + offset in modular arithmetic; c is its high half.
  const int32x4_t scale = vdupq_n_s32(
      static_cast<std::int32_t>(static_cast<std::uint32_t>(d) << up));
  const auto offset =
      static_cast<std::int32_t>(0U - (static_cast<std::uint32_t>(sum) << up));
  std::int64_t squares = 0;
  for (std::size_t i = 0; i < size; i += 4) {
    const mve_pred16_t lanes = helium::Lanes32(size - i);
    const int32x4_t value = vldrhq_z_s32(x + i, lanes);
    const int32x4_t c = vshrq_n_s32(vmlasq_n_s32(value, scale, offset), 16);
    squares = vmlaldavaq_p_s32(squares, c, c, lanes);
    vstrhq_p_s32(centred + i, c, lanes);
  }
  if (extreme == 0) return 0;
  return static_cast<std::int16_t>(
      LayerNormReciprocal(static_cast<std::uint64_t>(squares), norm.sqrt_d));
}

// u of eight elements from i on.
inline int16x8_t Normalise(const LayerNorm& norm, const std::int16_t* centred,
                           std::int16_t reciprocal, std::size_t i,
                           mve_pred16_t lanes) noexcept {
  const int16x8_t c = vldrhq_z_s16(centred + i, lanes);
  const int16x8_t gain = vldrhq_z_s16(norm.gain + i, lanes);
  const int16x8_t bias = vldrhq_z_s16(norm.bias + i, lanes);
  const int16x8_t z = vqrdmulhq_n_s16(c, reciprocal);
  return vqaddq_s16(vqrdmulhq_s16(z, gain), bias);
}

inline int16x8_t Quantise(int16x8_t u, unsigned shift) noexcept {
  const auto half = static_cast<std::int16_t>((1 << shift) >> 1);
  return helium::Clamp127(
      vshlq_r_s16(vqaddq_n_s16(u, half), -static_cast<int>(shift)));
}

}  // namespace

void LayerNormS8Helium(const LayerNorm& parameters,
                       MatrixView<const std::int16_t> x,
                       MatrixView<std::int8_t> y) noexcept {
  const LayerNorm norm = parameters;
  std::int16_t centred[LayerNorm::kMaxSize];
  for (std::size_t r = 0; r < x.rows(); ++r) {
    const std::int16_t reciprocal = Standardise(norm, x.row(r), centred);
    for (std::size_t i = 0; i < norm.d; i += 8) {
      const mve_pred16_t lanes = helium::Lanes16(norm.d - i);
      const int16x8_t u = Normalise(norm, centred, reciprocal, i, lanes);
      vstrbq_p_s16(y.row(r) + i, Quantise(u, norm.shift), lanes);
    }
  }
}

void LayerNormS16Helium(const LayerNorm& parameters,
                        MatrixView<const std::int16_t> x,
                        MatrixView<std::int16_t> y) noexcept {
  const LayerNorm norm = parameters;
  std::int16_t centred[LayerNorm::kMaxSize];
  for (std::size_t r = 0; r < x.rows(); ++r) {
    const std::int16_t reciprocal = Standardise(norm, x.row(r), centred);
    for (std::size_t i = 0; i < norm.d; i += 8) {
      const mve_pred16_t lanes = helium::Lanes16(norm.d - i);
      vstrhq_p_s16(y.row(r) + i, Normalise(norm, centred, reciprocal, i, lanes),
                   lanes);
    }
  }
}

void QuantiseS8Helium(unsigned shift, Span<const std::int16_t> x,
                      std::int8_t* y) noexcept {
  for (std::size_t i = 0; i < x.size(); i += 8) {
    const mve_pred16_t lanes = helium::Lanes16(x.size() - i);
    const int16x8_t u = vldrhq_z_s16(x.data() + i, lanes);
    vstrbq_p_s16(y + i, Quantise(u, shift), lanes);
  }
}

}  // namespace atto
