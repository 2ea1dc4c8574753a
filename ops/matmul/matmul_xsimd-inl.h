// Float matrix product over panels of packed weights.
//
// Packed layer: panels of kPanel channels one after another, each [in + 1,
// kPanel]: the bias, then the weights input by input. Channels beyond `out` are
// zero.
#ifndef ATTO_OPS_MATMUL_MATMUL_XSIMD_INL_H_
#define ATTO_OPS_MATMUL_MATMUL_XSIMD_INL_H_

#include <cstddef>
#include <utility>

#include "ops/float_simd/panel-inl.h"
#include "ops/matmul/matmul_f32.h"

namespace atto {
namespace {

std::size_t PackLinearF32(const FloatLinear& linear, float* packed) noexcept {
  const std::size_t in = linear.in;
  const std::size_t out = linear.out;
  float* p = packed;
  for (std::size_t first = 0; first < out; first += kPanel) {
    for (std::size_t lane = 0; lane < kPanel; ++lane) {
      const std::size_t c = first + lane;
      p[lane] = c < out ? linear.bias[c] : 0;
      for (std::size_t k = 0; k < in; ++k) {
        p[(k + 1) * kPanel + lane] = c < out ? linear.weights[c * in + k] : 0;
      }
    }
    p += (in + 1) * kPanel;
  }
  return static_cast<std::size_t>(p - packed);
}

// What becomes of a result: y = result, or y += result.
enum class Result { kSet, kAdd };

template <Result kResult>
ATTO_INLINE void PutVector(Vector v, float* y, std::size_t count) {
  if (count >= kLanes) {
    if (kResult == Result::kAdd) v = v + Load(y);
    Store(v, y);
  } else if (count > 0) {
    if (kResult == Result::kAdd) v = v + LoadPart(y, count);
    StorePart(v, y, count);
  }
}

// One block: kRows rows of x times kPanels neighbouring panels -> the columns
// of y from `y` on, of which there are `columns`, more than (kPanels - 1)
// kPanel.
template <Result kResult, std::size_t kRows>
struct MatmulBlock {
  static void Run(const float* x, std::size_t in, const float* panel, float* y,
                  std::size_t out, std::size_t columns) noexcept {
    Accumulators<kRows, kPanelVectors> acc;
    acc.SetRows(panel);
    acc.AddProduct(x, in, panel + kPanel, in);
    if (columns >= kPanel) {
      Put(acc, y, out, kPanel,
          std::make_index_sequence<kRows * kPanelVectors>());
    } else {
      Put(acc, y, out, columns,
          std::make_index_sequence<kRows * kPanelVectors>());
    }
  }

  template <std::size_t... kIndex>
  static ATTO_INLINE void Put(const Accumulators<kRows, kPanelVectors>& acc,
                              float* y, std::size_t out, std::size_t columns,
                              std::index_sequence<kIndex...>) {
    (PutVector<kResult>(
         acc.values[kIndex],
         y + kIndex / kPanelVectors * out + kIndex % kPanelVectors * kLanes,
         Left(columns, kIndex % kPanelVectors * kLanes)),
     ...);
  }

  static ATTO_INLINE std::size_t Left(std::size_t columns, std::size_t from) {
    return columns > from ? columns - from : 0;
  }
};

using MatmulBlockFunction = void (*)(const float*, std::size_t, const float*,
                                     float*, std::size_t, std::size_t) noexcept;

// One function for every number of rows up to kMaxRows.
template <Result kResult, std::size_t... kIndex>
ATTO_INLINE MatmulBlockFunction MatmulBlockOf(std::size_t rows,
                                              std::index_sequence<kIndex...>) {
  static constexpr MatmulBlockFunction kBlocks[] = {
      &MatmulBlock<kResult, kIndex + 1>::Run...};
  return kBlocks[rows - 1];
}

// A single row: its few accumulators would wait for each other, so that several
// panels go side by side.
template <Result kResult, std::size_t... kPanelIndex>
ATTO_INLINE void OneRow(const float* x, std::size_t in, const float* panel,
                        float* y, std::index_sequence<kPanelIndex...>) {
  const std::size_t stride = (in + 1) * kPanel;
  Accumulators<1, kPanelVectors> acc[sizeof...(kPanelIndex)];
  (acc[kPanelIndex].SetRows(panel + kPanelIndex * stride), ...);
  for (std::size_t k = 0; k < in; ++k) {
    panel += kPanel;
    (acc[kPanelIndex].AddProduct(x + k, 0, panel + kPanelIndex * stride, 1),
     ...);
  }
  (MatmulBlock<kResult, 1>::Put(acc[kPanelIndex], y + kPanelIndex * kPanel, 0,
                                kPanel,
                                std::make_index_sequence<kPanelVectors>()),
   ...);
}

template <Result kResult>
void Matmul(const FloatLinear& linear, MatrixView<const float> x,
            MatrixView<float> y) noexcept {
  constexpr std::size_t kTogether = 4;  // panels, for a single row
  const std::size_t in = linear.in;
  const std::size_t out = linear.out;
  const float* panel = linear.packed;
  std::size_t first = 0;
  if (x.rows() == 1) {
    for (; first + kTogether * kPanel <= out; first += kTogether * kPanel) {
      OneRow<kResult>(x.data(), in, panel, y.data() + first,
                      std::make_index_sequence<kTogether>());
      panel += kTogether * (in + 1) * kPanel;
    }
  }
  const RowBlocks blocks(x.rows());
  for (; first < out; first += kPanel) {
    const float* from = x.data();
    float* to = y.data() + first;
    for (std::size_t i = 0; i < blocks.count; ++i) {
      const std::size_t rows = blocks[i];
      MatmulBlockOf<kResult>(rows, std::make_index_sequence<kMaxRows>())(
          from, in, panel, to, out, out - first);
      from += rows * in;
      to += rows * out;
    }
    panel += (in + 1) * kPanel;
  }
}

void MatmulF32(const FloatLinear& linear, MatrixView<const float> x,
               MatrixView<float> y) noexcept {
  Matmul<Result::kSet>(linear, x, y);
}

void MatmulAddF32(const FloatLinear& linear, MatrixView<const float> x,
                  MatrixView<float> r) noexcept {
  Matmul<Result::kAdd>(linear, x, r);
}

}  // namespace
}  // namespace atto

#endif  // ATTO_OPS_MATMUL_MATMUL_XSIMD_INL_H_
