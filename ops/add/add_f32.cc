#include "ops/add/add_f32.h"

#include <cstddef>

namespace atto {

void AddF32Ref(Span<const float> x, float* r) noexcept {
  for (std::size_t i = 0; i < x.size(); ++i) r[i] += x[i];
}

}  // namespace atto
