// The `atto` command line: reads the options and runs the subcommand. Exit
// status: 0 success, 1 failure, 2 wrong usage.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "runtime/classifier.h"
#include "runtime/version.h"
#include "tools/cli/commands.h"
#include "tools/cli/files.h"
#include "tools/cli/format.h"

namespace atto::cli {
namespace {

// What is wrong with a number from 0 to 1; CLI::Range lets NaN pass.
std::string CheckShare(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end != text.c_str() && *end == '\0' && value >= 0 && value <= 1)
    return "";
  return "must be a number from 0 to 1, not " + text;
}

void AddModel(CLI::App* command, std::string* model) {
  command->add_option("MODEL", *model, "Model file (.gguf)")
      ->required()
      ->type_name("");
}

void AddDecision(CLI::App* command, DecisionOptions* decision) {
  command
      ->add_option("--threshold", decision->threshold,
                   "Give the positive label if its score is at least X, 0 to 1")
      ->type_name("X")
      ->check(CheckShare);
  command
      ->add_option("--positive", decision->positive,
                   "The positive label (default: the model's last)")
      ->type_name("LABEL");
}

void AddClassify(CLI::App* app, ClassifyOptions* options) {
  CLI::App* const command = app->add_subcommand(
      "classify",
      "Label messages (arguments, a file, standard input) or sound files");
  AddModel(command, &options->model);
  command
      ->add_option(
          "TEXT", options->inputs,
          "Messages; or one file, or - for standard input (the default), with "
          "a message a line. Of an audio model: sound files")
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
  CLI::App* const command = app->add_subcommand(
      "eval", "Measure a model on labelled messages or sound files");
  AddModel(command, &options->model);
  command
      ->add_option("FILE", options->file,
                   "File of 'label TAB text' lines; of an audio model: folder "
                   "of WORD/*.wav, flac, opus, ogg or mp3")
      ->required()
      ->type_name("");
  command
      ->add_option("--apart", options->apart,
                   "Audio: words that are counted apart, such as words that "
                   "training never saw")
      ->delimiter(',')
      ->type_name("WORD,...");
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
      "attention",
      "Show which words of a message, or times of a clip, a model looks at");
  AddModel(command, &options->model);
  command->add_option("TEXT", options->text, "The message, or sound file")
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

void AddListen(CLI::App* app, ListenOptions* options) {
  CLI::App* const command = app->add_subcommand(
      "listen",
      "Report keywords in a long sound file, or in raw 16-bit samples on "
      "standard input");
  AddModel(command, &options->model);
  command
      ->add_option("FILE", options->file,
                   "Sound file; - for signed 16-bit little-endian samples on "
                   "standard input (the default)")
      ->type_name("");
  command->add_flag("--json", options->json, "Print one JSON object an event");
  command->add_flag(
      "--looks", options->looks,
      "Print every look as JSON as well: its samples, logits, smoothed "
      "scores");
  command
      ->add_option("--threshold", options->threshold,
                   "Score that a keyword must reach, 0 to 1 (default: the "
                   "model's, one a word)")
      ->type_name("X")
      ->check(CheckShare);
  command
      ->add_option("--hop", options->hop_ms,
                   "Look every N milliseconds (default: what the model says)")
      ->type_name("N")
      ->check(CLI::Range(1U, 1000000U).description(""));
  command
      ->add_option("--rate", options->rate,
                   "Samples a second on standard input (default: the model's)")
      ->type_name("HZ")
      ->check(CLI::Range(1000U, 768000U).description(""));
  command
      ->add_option("--channels", options->channels,
                   "Channels on standard input (1)")
      ->type_name("N")
      ->check(CLI::Range(1U, 16U).description(""));
  command->callback([options] { Listen(*options); });
}

void AddFeatures(CLI::App* app, FeaturesOptions* options) {
  CLI::App* const command = app->add_subcommand(
      "features", "Draw the log-mel features that a model hears in a file");
  command->add_option("FILE", options->file, "Sound file")
      ->required()
      ->type_name("");
  command->add_option("--png", options->png, "Picture to write")
      ->required()
      ->type_name("OUT");
  command
      ->add_option("--model", options->model,
                   "Model whose front end it is (models/keywords.gguf)")
      ->type_name("MODEL");
  command->callback([options] { DrawFeatures(*options); });
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
  ListenOptions listen;
  AddListen(&app, &listen);
  FeaturesOptions features;
  AddFeatures(&app, &features);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return 0;
} catch (const UsageError& error) {
  std::fprintf(stderr, "atto: %s\n", Printable(error.what()).c_str());
  return 2;
} catch (const std::exception& error) {
  std::fflush(stdout);
  std::fprintf(stderr, "atto: %s\n", Printable(error.what()).c_str());
  return 1;
}

}  // namespace
}  // namespace atto::cli

int main(int argc, char** argv) { return atto::cli::Main(argc, argv); }
