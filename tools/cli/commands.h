// The subcommands: each adds its options to the command line and, when chosen,
// runs. A run that fails throws Failure.
#ifndef ATTO_TOOLS_CLI_COMMANDS_H_
#define ATTO_TOOLS_CLI_COMMANDS_H_

namespace CLI {
class App;
}

namespace atto::cli {

void AddClassify(CLI::App* app);
void AddEval(CLI::App* app);
void AddInspect(CLI::App* app);
void AddAttention(CLI::App* app);

}  // namespace atto::cli

#endif  // ATTO_TOOLS_CLI_COMMANDS_H_
