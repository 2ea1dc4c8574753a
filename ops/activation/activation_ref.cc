#include "ops/activation/activation.h"
#include "ops/activation/gelu_table.h"

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

const std::int8_t* GeluBelowRelu(unsigned fraction_bits) noexcept {
  return kGeluTables[fraction_bits - kGeluMinFractionBits].below_relu;
}

void GeluS8Ref(unsigned fraction_bits, Span<std::int8_t> x) noexcept {
  const std::int8_t* const below_relu = GeluBelowRelu(fraction_bits);
  for (std::int8_t& value : x) {
    const std::int32_t q = value;
    const std::int32_t relu = q > 0 ? q : 0;
    value = static_cast<std::int8_t>(relu - below_relu[q < 0 ? -q : q]);
  }
}

void ReluS8Ref(Span<std::int8_t> x) noexcept {
  for (std::int8_t& value : x) value = value > 0 ? value : std::int8_t{0};
}

}  // namespace atto
