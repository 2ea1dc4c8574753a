// The `atto` command line. Exit status: 0 success, 1 failure, 2 wrong usage.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "runtime/classifier.h"
#include "runtime/version.h"
#include "tools/cli/commands.h"

int main(int argc, char** argv) {
  CLI::App app(
      "Runs tiny transformer encoders in integer arithmetic, as a "
      "microcontroller would.");
  app.name("atto");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("atto ") + atto::version() +
                                        " (kernels: " + atto::backend_name() +
                                        ")");
  app.footer("Exit status: 0 success, 1 failure, 2 wrong usage.");
  atto::cli::AddClassify(&app);
  atto::cli::AddEval(&app);
  atto::cli::AddInspect(&app);
  atto::cli::AddAttention(&app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "atto: %s\n", error.what());
    return 1;
  }
  return 0;
}
