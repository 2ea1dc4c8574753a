// The `atto` command line: reads the options and runs the subcommand. Exit
// status: 0 success, 1 failure, 2 wrong usage.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "runtime/classifier.h"
#include "runtime/version.h"
#include "tools/cli/commands.h"
#include "tools/cli/files.h"

namespace atto::cli {
namespace {

void AddModel(CLI::App* command, std::string* model) {
  command->add_option("MODEL", *model, "Model file (.gguf)")
      ->required()
      ->type_name("");
}

void AddDecision(CLI::App* command, DecisionOptions* decision) {
  command
      ->add_option(
          "--threshold", decision->threshold,
          "Give the positive label if its score is at least X, 0 to 1, 0 to 1")
      ->type_name("X")
      ->check(CLI::Range(0.0, 1.0).description(""));
  command
      ->add_option("--positive", decision->positive,
                   "The positive label (default: the model's last)")
      ->type_name("LABEL");
}

void AddClassify(CLI::App* app, ClassifyOptions* options) {
  CLI::App* const command = app->add_subcommand(
      "classify", "Label messages: arguments, a file, or standard input");
  AddModel(command, &options->model);
  command
      ->add_option(
          "TEXT", options->inputs,
          "Messages; or one file, or - for standard input (the default), with "
          "a message a line")
      ->type_name("");
  command->add_flag("--json", options->json, "Print one JSON object a message");
  AddDecision(command, &options->decision);
  command
      ->add_option("--repeat", options->repeat,
                   "Run each message N times and report the fastest time")
      ->type_name("N")
      ->check(CLI::Range(1U, 1000000U).description(""));
  command->callback([options] { Classify(*options); });
}

void AddEval(CLI::App* app, EvalOptions* options) {
  CLI::App* const command =
      app->add_subcommand("eval", "Measure a model on labelled messages");
  AddModel(command, &options->model);
  command->add_option("FILE", options->file, "File of 'label TAB text' lines")
      ->required()
      ->type_name("");
  command->add_flag("--json", options->json, "Print one JSON object");
  AddDecision(command, &options->decision);
  command->callback([options] { Eval(*options); });
}

void AddInspect(CLI::App* app, InspectOptions* options) {
  CLI::App* const command = app->add_subcommand(
      "inspect", "Show a model's shape, size, work and memory plan");
  AddModel(command, &options->model);
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options] { Inspect(*options); });
}

void AddAttention(CLI::App* app, AttentionOptions* options) {
  CLI::App* const command = app->add_subcommand(
      "attention", "Show which words a model looks at in a message");
  AddModel(command, &options->model);
  command->add_option("TEXT", options->text, "The message")
      ->required()
      ->type_name("");
  command
      ->add_option("--html", options->html,
                   "Write a page with all heads side by side instead")
      ->type_name("FILE");
  command
      ->add_option("--block", options->block,
                   "Block to draw in the terminal, from 1 (default: the last)")
      ->type_name("N");
  command
      ->add_option("--head", options->head,
                   "Head to draw in the terminal, from 1 (default: all, and "
                   "their mean)")
      ->type_name("N");
  command->callback([options] { ShowAttention(*options); });
}

int Main(int argc, char** argv) try {
  CLI::App app(
      "Runs tiny transformer encoders in integer arithmetic, as a "
      "microcontroller would.");
  app.name("atto");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("atto ") + version() +
                                        " (kernels: " + backend_name() + ")");
  app.footer("Exit status: 0 success, 1 failure, 2 wrong usage.");
  ClassifyOptions classify;
  AddClassify(&app, &classify);
  EvalOptions eval;
  AddEval(&app, &eval);
  InspectOptions inspect;
  AddInspect(&app, &inspect);
  AttentionOptions attention;
  AddAttention(&app, &attention);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return 0;
} catch (const UsageError& error) {
  std::fprintf(stderr, "atto: %s\n", error.what());
  return 2;
} catch (const std::exception& error) {
  std::fflush(stdout);
  std::fprintf(stderr, "atto: %s\n", error.what());
  return 1;
}

}  // namespace
}  // namespace atto::cli

int main(int argc, char** argv) { return atto::cli::Main(argc, argv); }
