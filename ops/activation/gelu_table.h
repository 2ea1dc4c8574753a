// The values of GELU on a core without vectors.
#ifndef ATTO_OPS_ACTIVATION_GELU_TABLE_H_
#define ATTO_OPS_ACTIVATION_GELU_TABLE_H_

#include <cstdint>

namespace atto {

// relu(q) - gelu(q) by |q|, [128]: it is even in q, and 0 or more.
// Legal: fraction_bits 3..6.
const std::int8_t* GeluBelowRelu(unsigned fraction_bits) noexcept;

}  // namespace atto

#endif  // ATTO_OPS_ACTIVATION_GELU_TABLE_H_
