#include "ops/helium/vector.h"
#include "ops/pooling/pooling.h"

namespace atto {

void SumRowsS8Helium(MatrixView<const std::int8_t> x,
                     std::int32_t* sums) noexcept {
  for (std::size_t j = 0; j < x.cols(); j += 4) {
    const mve_pred16_t lanes = helium::Lanes32(x.cols() - j);
    int32x4_t sum = vldrwq_z_s32(sums + j, lanes);
    for (std::size_t row = 0; row < x.rows(); ++row) {
      sum = vaddq_s32(sum, vldrbq_z_s32(x.row(row) + j, lanes));
    }
    vstrwq_p_s32(sums + j, sum, lanes);
  }
}

}  // namespace atto
