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

// A label for every message or sound file.
struct ClassifyOptions {
  std::string model;
  // Messages; or one file; or nothing or "-" for standard input. Of an audio
  // model: sound files.
  std::vector<std::string> inputs;
  bool json = false;
  DecisionOptions decision;
  unsigned repeat = 1;  // runs of a message, of which the fastest counts
};
void Classify(const ClassifyOptions& options);
void ClassifyAudio(const ClassifyOptions& options);

// Keywords in a stream.
struct ListenOptions {
  std::string model;
  std::string file = "-";  // or a sound file
  bool json = false;
  bool looks = false;               // print every look as well
  std::optional<double> threshold;  // of every word that has one, 0 to 1
  unsigned hop_ms = 0;              // from look to look; 0: the model's
  unsigned rate = 0;                // of raw samples; 0: the model's
  unsigned channels = 1;            // of raw samples
};
void Listen(const ListenOptions& options);

// A picture of what a model hears.
struct FeaturesOptions {
  std::string model = "models/keywords.gguf";
  std::string file;
  std::string png;
};
void DrawFeatures(const FeaturesOptions& options);

// The figures of a model on labelled messages.
struct EvalOptions {
  std::string model;
  std::string file;  // of `label TAB text` lines; audio: folder of folders
  bool json = false;
  DecisionOptions decision;
  std::vector<std::string> apart;  // audio: words that are counted apart
};
void Eval(const EvalOptions& options);
void EvalAudio(const EvalOptions& options);

// What is in a model file, and what it costs.
struct InspectOptions {
  std::string model;
  bool json = false;
};
void Inspect(const InspectOptions& options);

// Which words the model looked at.
struct AttentionOptions {
  std::string model;
  std::string text;                  // or a sound file
  std::optional<std::string> html;   // page to write instead of drawing
  std::optional<std::size_t> block;  // from 1; the last one without it
  std::optional<std::size_t> head;   // from 1; all without it
};
void ShowAttention(const AttentionOptions& options);

}  // namespace atto::cli

#endif  // ATTO_TOOLS_CLI_COMMANDS_H_
