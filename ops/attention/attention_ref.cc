#include <cstring>

#include "ops/attention/attention.h"
#include "ops/base/fixed_point.h"

namespace atto {

void AttentionS8Ref(const Attention& attention, MatrixView<const std::int8_t> q,
                    MatrixView<const std::int8_t> k,
                    MatrixView<const std::int8_t> v, MatrixView<std::int8_t> y,
                    void* scratch, std::int8_t* tap) noexcept {
  const std::size_t tokens = k.rows();
  const std::size_t d = k.cols();
  const std::size_t d_head = attention.d_head;
  auto* const scores = static_cast<std::int32_t*>(scratch);  // [n]
  auto* const weights = static_cast<std::int8_t*>(scratch) +
                        tokens * sizeof(std::int32_t);  // [n]
  for (std::size_t row = 0; row < q.rows(); ++row) {
    for (std::size_t head = 0; head < attention.heads; ++head) {
      const std::size_t first = head * d_head;
      const std::int8_t* const query = q.row(row) + first;
      const std::int8_t* key = k.data() + first;
      for (std::size_t j = 0; j < tokens; ++j, key += d) {
        std::int32_t acc = 0;
        for (std::size_t i = 0; i < d_head; ++i) acc += query[i] * key[i];
        scores[j] = acc;
      }
      const std::int32_t sum = SoftmaxS8Ref(
          attention.softmax, Span<const std::int32_t>(scores, tokens), weights);
      const MeanReciprocal reciprocal =
          MakeMeanReciprocal(static_cast<std::uint32_t>(sum));
      for (std::size_t i = 0; i < d_head; ++i) {
        const std::int8_t* value = v.data() + first + i;
        std::int32_t acc = 0;
        for (std::size_t j = 0; j < tokens; ++j, value += d) {
          acc += weights[j] * *value;
        }
        y.row(row)[first + i] = WeightedMean8(acc, reciprocal, 6);
      }
      if (tap != nullptr) {
        std::memcpy(tap, weights, tokens);
        tap += tokens;
      }
    }
  }
}

}  // namespace atto
