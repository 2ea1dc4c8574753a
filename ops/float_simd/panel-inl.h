// Rows of a times a panel of b: the inner loop of every matrix product.
//
// A panel holds kVectors vectors of columns, [depth, kVectors * kLanes]; the
// accumulators of a block of rows stay in registers over the whole depth (Goto,
// van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS
// 34(3), section 4). Weights are few: no blocking over depth is needed.
#ifndef ATTO_OPS_FLOAT_SIMD_PANEL_INL_H_
#define ATTO_OPS_FLOAT_SIMD_PANEL_INL_H_

#include <cstddef>
#include <utility>

#include "ops/float_simd/vectors-inl.h"

namespace atto {
namespace {

// kRows x kVectors accumulators. Indices are template arguments so that every
// access is to a register, at any level of optimisation above none.
template <std::size_t kRows, std::size_t kVectors>
struct Accumulators {
  Vector values[kRows * kVectors];

  template <std::size_t... kIndex>
  ATTO_INLINE void SetRow(const float* row, std::index_sequence<kIndex...>) {
    ((values[kIndex] = Load(row + kIndex % kVectors * kLanes)), ...);
  }
  // Every row starts from [kVectors * kLanes] floats.
  ATTO_INLINE void SetRows(const float* row) {
    SetRow(row, std::make_index_sequence<kRows * kVectors>());
  }

  template <std::size_t... kIndex>
  ATTO_INLINE void Fill(Vector value, std::index_sequence<kIndex...>) {
    ((values[kIndex] = value), ...);
  }
  ATTO_INLINE void Clear() {
    Fill(Vector(0.0F), std::make_index_sequence<kRows * kVectors>());
  }

  template <std::size_t kRow, std::size_t... kIndex>
  ATTO_INLINE void AddRow(Vector x, const Vector* b,
                          std::index_sequence<kIndex...>) {
    ((values[kRow * kVectors + kIndex] =
          xsimd::fma(x, b[kIndex], values[kRow * kVectors + kIndex])),
     ...);
  }
  template <std::size_t... kRow>
  ATTO_INLINE void AddRows(const float* a, std::size_t stride, const Vector* b,
                           std::index_sequence<kRow...>) {
    (AddRow<kRow>(Vector::broadcast(a[kRow * stride]), b,
                  std::make_index_sequence<kVectors>()),
     ...);
  }
  template <std::size_t... kIndex>
  static ATTO_INLINE void LoadColumns(const float* panel, Vector* b,
                                      std::index_sequence<kIndex...>) {
    ((b[kIndex] = Load(panel + kIndex * kLanes)), ...);
  }

  // += a [kRows, depth], rows `stride` apart, times the panel.
  ATTO_INLINE void AddProduct(const float* a, std::size_t stride,
                              const float* panel, std::size_t depth) {
    for (std::size_t k = 0; k < depth; ++k) {
      Vector b[kVectors];
      LoadColumns(panel, b, std::make_index_sequence<kVectors>());
      AddRows(a + k, stride, b, std::make_index_sequence<kRows>());
      panel += kVectors * kLanes;
    }
  }
};

// How `rows` split into blocks of at most kMaxRows, as even as can be: a short
// last block would waste registers.
struct RowBlocks {
  explicit ATTO_INLINE RowBlocks(std::size_t rows) {
    count = (rows + kMaxRows - 1) / kMaxRows;
    size = rows / count;
    larger = rows % count;
  }
  // Rows of block i.
  ATTO_INLINE std::size_t operator[](std::size_t i) const {
    return size + (i < larger ? 1 : 0);
  }

  std::size_t count;
  std::size_t size;    // of most blocks
  std::size_t larger;  // blocks with one row more
};

}  // namespace
}  // namespace atto

#endif  // ATTO_OPS_FLOAT_SIMD_PANEL_INL_H_
