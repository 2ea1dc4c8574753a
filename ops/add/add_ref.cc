#include "ops/add/add.h"
#include "ops/base/fixed_point.h"

namespace atto {

void AddS16Ref(Span<const std::int16_t> x, std::int16_t* r) noexcept {
  for (std::size_t i = 0; i < x.size(); ++i) r[i] = Sat16(r[i] + x[i]);
}

void AddShiftedS8Ref(unsigned shift, Span<const std::int8_t> x,
                     std::int16_t* r) noexcept {
  for (std::size_t i = 0; i < x.size(); ++i) {
    r[i] = Sat16(r[i] + x[i] * (std::int32_t{1} << shift));
  }
}

}  // namespace atto
