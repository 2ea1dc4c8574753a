#include "ops/activation/activation.h"

namespace atto {
namespace {

// relu(x) - gelu(x) is even in x: 128 entries serve all inputs.
struct GeluTable {
  std::int8_t below_relu[128] = {};
};

constexpr GeluTable MakeGeluTable(unsigned fraction_bits) noexcept {
  GeluTable table;
  for (int q = 0; q < 128; ++q) {
    table.below_relu[q] =
        static_cast<std::int8_t>(q - GeluOne(q, fraction_bits));
  }
  return table;
}

constexpr GeluTable kGeluTables[] = {MakeGeluTable(3), MakeGeluTable(4),
                                     MakeGeluTable(5), MakeGeluTable(6)};
static_assert(kGeluMinFractionBits == 3 && kGeluMaxFractionBits == 6);

}  // namespace

void GeluS8Ref(unsigned fraction_bits, Span<std::int8_t> x) noexcept {
  const std::int8_t* const below_relu =
      kGeluTables[fraction_bits - kGeluMinFractionBits].below_relu;
  for (std::int8_t& value : x) {
    const std::int32_t q = value;
    value =
        static_cast<std::int8_t>(q > 0 ? q - below_relu[q] : -below_relu[-q]);
  }
}

void ReluS8Ref(Span<std::int8_t> x) noexcept {
  for (std::int8_t& value : x) value = value > 0 ? value : std::int8_t{0};
}

}  // namespace atto
