// Float attention over packed keys and values.
//
// Packed, a head after the other: keys as panels of kPanel tokens, each
// [d_head, kPanel], tokens beyond the last one zero; then values as panels of
// kPanel columns, each [tokens, kPanel], columns beyond d_head zero. Heads that
// one vector holds have panels of one vector.
#ifndef ATTO_OPS_ATTENTION_ATTENTION_XSIMD_INL_H_
#define ATTO_OPS_ATTENTION_ATTENTION_XSIMD_INL_H_

#include <cstddef>
#include <utility>

#include "ops/attention/attention_f32.h"
#include "ops/float_simd/panel-inl.h"
#include "ops/softmax/softmax_xsimd-inl.h"

namespace atto {
namespace {

// Sizes of one head's packed keys and values, in floats.
struct HeadLayout {
  ATTO_INLINE HeadLayout(std::size_t tokens, std::size_t d_head)
      : padded_tokens((tokens + kPanel - 1) / kPanel * kPanel),
        value_panel(d_head <= kLanes ? kLanes : kPanel),
        keys(padded_tokens * d_head),
        values((d_head + value_panel - 1) / value_panel * value_panel *
               tokens) {}

  std::size_t padded_tokens;
  std::size_t value_panel;  // columns
  std::size_t keys;
  std::size_t values;
};

void PackKeysValuesF32(const FloatAttention& attention, std::size_t tokens,
                       std::size_t first, MatrixView<const float> k,
                       MatrixView<const float> v, float* packed) noexcept {
  const std::size_t d_head = attention.d_head;
  const std::size_t d = attention.heads * d_head;
  const HeadLayout layout(tokens, d_head);
  const std::size_t end = first + k.rows();
  for (std::size_t head = 0; head < attention.heads; ++head) {
    const float* const key_rows = k.data() + head * d_head;
    const float* const value_rows = v.data() + head * d_head;
    float* const keys = packed + head * (layout.keys + layout.values);
    for (std::size_t j = first; j < end; ++j) {
      float* const to = keys + j / kPanel * kPanel * d_head + j % kPanel;
      const float* const from = key_rows + (j - first) * d;
      for (std::size_t c = 0; c < d_head; ++c) to[c * kPanel] = from[c];
    }
    if (end == tokens) {  // clear what is left of the last panel
      for (std::size_t j = end; j < layout.padded_tokens; ++j) {
        float* const to = keys + j / kPanel * kPanel * d_head + j % kPanel;
        for (std::size_t c = 0; c < d_head; ++c) to[c * kPanel] = 0;
      }
    }
    float* panel = keys + layout.keys;
    for (std::size_t column = 0; column < d_head;
         column += layout.value_panel) {
      const std::size_t left = d_head - column;
      const std::size_t count =
          left < layout.value_panel ? left : layout.value_panel;
      for (std::size_t j = first; j < end; ++j) {
        const float* const from = value_rows + (j - first) * d + column;
        float* const to = panel + j * layout.value_panel;
        for (std::size_t c = 0; c < count; ++c) to[c] = from[c];
        for (std::size_t c = count; c < layout.value_panel; ++c) to[c] = 0;
      }
      panel += tokens * layout.value_panel;
    }
  }
}

// kRows query rows of one head.
template <std::size_t kRows>
struct AttentionBlock {
  static void Run(const FloatAttention& attention, std::size_t tokens,
                  const float* q, const float* keys, float* y,
                  float* scores) noexcept {
    const std::size_t d_head = attention.d_head;
    const std::size_t d = attention.heads * d_head;
    const HeadLayout layout(tokens, d_head);
    const std::size_t stride = layout.padded_tokens;
    for (std::size_t j = 0; j < tokens; j += kPanel) {
      Accumulators<kRows, kPanelVectors> acc;
      acc.Clear();
      acc.AddProduct(q, d, keys + j * d_head, d_head);
      PutScores(acc, scores + j, stride,
                std::make_index_sequence<kRows * kPanelVectors>());
    }
    float inverse[kRows];
    for (std::size_t i = 0; i < kRows; ++i) {
      inverse[i] = 1 / SoftmaxF32(attention.scale,
                                  Span<float>(scores + i * stride, tokens));
    }
    const float* panel = keys + layout.keys;
    for (std::size_t c = 0; c < d_head; c += layout.value_panel) {
      if (layout.value_panel == kLanes) {
        Mix<1>(scores, stride, panel, tokens, inverse, y + c, d, d_head - c);
      } else {
        Mix<kPanelVectors>(scores, stride, panel, tokens, inverse, y + c, d,
                           d_head - c);
      }
      panel += tokens * layout.value_panel;
    }
  }

  template <std::size_t... kIndex>
  static ATTO_INLINE void PutScores(
      const Accumulators<kRows, kPanelVectors>& acc, float* scores,
      std::size_t stride, std::index_sequence<kIndex...>) {
    (Store(acc.values[kIndex], scores + kIndex / kPanelVectors * stride +
                                   kIndex % kPanelVectors * kLanes),
     ...);
  }

  // weights [kRows, tokens] times a panel of values -> `columns` columns of y.
  template <std::size_t kVectors>
  static ATTO_INLINE void Mix(const float* weights, std::size_t stride,
                              const float* panel, std::size_t tokens,
                              const float* inverse, float* y, std::size_t d,
                              std::size_t columns) {
    Accumulators<kRows, kVectors> acc;
    acc.Clear();
    acc.AddProduct(weights, stride, panel, tokens);
    PutMeans<kVectors>(acc, inverse, y, d, columns,
                       std::make_index_sequence<kRows * kVectors>());
  }

  template <std::size_t kVectors, std::size_t... kIndex>
  static ATTO_INLINE void PutMeans(const Accumulators<kRows, kVectors>& acc,
                                   const float* inverse, float* y,
                                   std::size_t d, std::size_t columns,
                                   std::index_sequence<kIndex...>) {
    (PutMean(acc.values[kIndex] * Vector::broadcast(inverse[kIndex / kVectors]),
             y + kIndex / kVectors * d + kIndex % kVectors * kLanes, columns,
             kIndex % kVectors * kLanes),
     ...);
  }

  static ATTO_INLINE void PutMean(Vector mean, float* y, std::size_t columns,
                                  std::size_t from) {
    if (columns >= from + kLanes) {
      Store(mean, y);
    } else if (columns > from) {
      StorePart(mean, y, columns - from);
    }
  }
};

using AttentionBlockFunction = void (*)(const FloatAttention&, std::size_t,
                                        const float*, const float*, float*,
                                        float*) noexcept;

// One function for every number of rows up to kMaxRows.
template <std::size_t... kIndex>
ATTO_INLINE AttentionBlockFunction
AttentionBlockOf(std::size_t rows, std::index_sequence<kIndex...>) {
  static constexpr AttentionBlockFunction kBlocks[] = {
      &AttentionBlock<kIndex + 1>::Run...};
  return kBlocks[rows - 1];
}

void AttentionF32(const FloatAttention& attention, std::size_t tokens,
                  MatrixView<const float> q, const float* packed,
                  MatrixView<float> y, float* scratch) noexcept {
  const std::size_t d_head = attention.d_head;
  const std::size_t d = attention.heads * d_head;
  const HeadLayout layout(tokens, d_head);
  const RowBlocks blocks(q.rows());
  for (std::size_t head = 0; head < attention.heads; ++head) {
    const float* from = q.data() + head * d_head;
    float* to = y.data() + head * d_head;
    for (std::size_t i = 0; i < blocks.count; ++i) {
      const std::size_t rows = blocks[i];
      AttentionBlockOf(rows, std::make_index_sequence<kMaxRows>())(
          attention, tokens, from, packed, to, scratch);
      from += rows * d;
      to += rows * d;
    }
    packed += layout.keys + layout.values;
  }
}

}  // namespace
}  // namespace atto

#endif  // ATTO_OPS_ATTENTION_ATTENTION_XSIMD_INL_H_
