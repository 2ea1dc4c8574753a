// Highway kernels of the residual additions. Contract: add.h.
#if defined(ATTO_OPS_ADD_ADD_HWY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTO_OPS_ADD_ADD_HWY_INL_H_
#undef ATTO_OPS_ADD_ADD_HWY_INL_H_
#else
#define ATTO_OPS_ADD_ADD_HWY_INL_H_
#endif

#include "ops/add/add.h"
#include "ops/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace atto {
namespace HWY_NAMESPACE {

inline void AddS16(Span<const std::int16_t> x, std::int16_t* r) noexcept {
  ForEach16(x.size(), [&](std::size_t i, std::size_t count) HWY_ATTR {
    const V16 sum = hn::SaturatedAdd(LoadSome16(x.data() + i, count),
                                     LoadSome16(r + i, count));
    StoreSome16(sum, r + i, count);
  });
}

inline void AddShiftedS8(unsigned shift, Span<const std::int8_t> x,
                         std::int16_t* r) noexcept {
  // 127 * 2^8 fits 16 bits.
  ForEach16(x.size(), [&](std::size_t i, std::size_t count) HWY_ATTR {
    const V16 wide = hn::ShiftLeftSame(LoadSome8(x.data() + i, count),
                                       static_cast<int>(shift));
    StoreSome16(hn::SaturatedAdd(wide, LoadSome16(r + i, count)), r + i, count);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace atto
HWY_AFTER_NAMESPACE();

#endif  // toggle
