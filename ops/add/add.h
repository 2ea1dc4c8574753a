// Saturating addition into the int16 residual stream.
#ifndef ATTO_OPS_ADD_ADD_H_
#define ATTO_OPS_ADD_ADD_H_

#include <cstdint>

#include "ops/base/span.h"

namespace atto {

// r[i] = sat16(r[i] + x[i]). x and r have one size.
void AddS16Ref(Span<const std::int16_t> x, std::int16_t* r) noexcept;

// r[i] = sat16(r[i] + x[i] * 2^shift): learned positions. 0 <= shift <= 8.
void AddShiftedS8Ref(unsigned shift, Span<const std::int8_t> x,
                     std::int16_t* r) noexcept;

// The same on other cores.
decltype(AddS16Ref) AddS16Dsp, AddS16Helium;
decltype(AddShiftedS8Ref) AddShiftedS8Dsp, AddShiftedS8Helium;

}  // namespace atto

#endif  // ATTO_OPS_ADD_ADD_H_
