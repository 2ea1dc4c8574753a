// The subcommands of the command line. Each throws Failure if it fails.
#ifndef ATTO_TOOLS_CLI_COMMANDS_H_
#define ATTO_TOOLS_CLI_COMMANDS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace atto::cli {

// How a label follows from scores.
struct DecisionOptions {
  std::optional<double> threshold;      // of the positive label, 0 to 1
  std::optional<std::string> positive;  // the model's last label without it
};

// A label for every message.
struct ClassifyOptions {
  std::string model;
  // Messages; or one file; or nothing or "-" for standard input.
  std::vector<std::string> inputs;
  bool json = false;
  DecisionOptions decision;
  unsigned repeat = 1;  // runs of a message, of which the fastest counts
};
void Classify(const ClassifyOptions& options);

// The figures of a model on labelled messages.
struct EvalOptions {
  std::string model;
  std::string file;  // of `label TAB text` lines
  bool json = false;
  DecisionOptions decision;
};
void Eval(const EvalOptions& options);

// What is in a model file, and what it costs.
struct InspectOptions {
  std::string model;
  bool json = false;
};
void Inspect(const InspectOptions& options);

// Which words the model looked at.
struct AttentionOptions {
  std::string model;
  std::string text;
  std::optional<std::string> html;   // page to write instead of drawing
  std::optional<std::size_t> block;  // from 1; the last one without it
  std::optional<std::size_t> head;   // from 1; all without it
};
void ShowAttention(const AttentionOptions& options);

}  // namespace atto::cli

#endif  // ATTO_TOOLS_CLI_COMMANDS_H_
