#include "tools/cli/json.h"

#include <cstdio>

namespace atto::cli {

std::string DumpJson(const nlohmann::ordered_json& json) {
  constexpr int kOneLine = -1;
  constexpr bool kOnlyAscii = false;
  return json.dump(kOneLine, ' ', kOnlyAscii,
                   nlohmann::ordered_json::error_handler_t::replace);
}

void PutJson(const nlohmann::ordered_json& json) {
  std::puts(DumpJson(json).c_str());
}

}  // namespace atto::cli
