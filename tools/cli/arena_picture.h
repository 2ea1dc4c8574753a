// The memory plan as text: who lives where, and when.
#ifndef ATTO_TOOLS_CLI_ARENA_PICTURE_H_
#define ATTO_TOOLS_CLI_ARENA_PICTURE_H_

#include <string>
#include <vector>

#include "ops/base/span.h"
#include "runtime/memory/plan.h"

namespace atto::cli {

// Addresses run down, steps run to the right; a letter fills where a buffer
// lives, a dot marks free bytes. Below, the letters are explained. Legal: at
// most 26 buffers that do not overlap; `names` names each, `steps` every step.
std::string DrawArena(Span<const Buffer> buffers, Span<const char* const> names,
                      std::size_t total_bytes,
                      const std::vector<std::string>& steps);

}  // namespace atto::cli

#endif  // ATTO_TOOLS_CLI_ARENA_PICTURE_H_
