// JSON as the command line prints it.
#ifndef ATTO_TOOLS_CLI_JSON_H_
#define ATTO_TOOLS_CLI_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

namespace atto::cli {

// On one line. File names may hold any bytes: what is not UTF-8 becomes U+FFFD.
std::string DumpJson(const nlohmann::ordered_json& json);

// The same, as a line of standard output.
void PutJson(const nlohmann::ordered_json& json);

}  // namespace atto::cli

#endif  // ATTO_TOOLS_CLI_JSON_H_
