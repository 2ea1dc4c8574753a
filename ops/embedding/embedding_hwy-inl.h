// Highway kernel of the embedding sum. Contract: embedding.h.
#if defined(ATTO_OPS_EMBEDDING_EMBEDDING_HWY_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef ATTO_OPS_EMBEDDING_EMBEDDING_HWY_INL_H_
#undef ATTO_OPS_EMBEDDING_EMBEDDING_HWY_INL_H_
#else
#define ATTO_OPS_EMBEDDING_EMBEDDING_HWY_INL_H_
#endif

#include "ops/embedding/embedding.h"
#include "ops/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace atto {
namespace HWY_NAMESPACE {

inline void EmbeddingSumS8(const Embedding& embedding,
                           Span<const std::uint16_t> rows,
                           std::int8_t* y) noexcept {
  const D16 d;
  const std::size_t width = embedding.width;
  // A strip of columns at a time keeps the sums in one register.
  ForEach16(width, [&](std::size_t j, std::size_t count) HWY_ATTR {
    V16 sum = hn::Zero(d);
    for (const std::uint16_t row : rows) {
      sum = hn::Add(
          sum,
          LoadSome8(embedding.table + std::size_t{row} * width + j, count));
    }
    const V16 scaled =
        hn::MulFixedPoint15(sum, hn::Set(d, embedding.multiplier));
    StoreSome8(hn::Clamp(scaled, hn::Set(d, -127), hn::Set(d, 127)), y + j,
               count);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace atto
HWY_AFTER_NAMESPACE();

#endif  // toggle
