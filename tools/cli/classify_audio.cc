// atto classify with an audio model: a label for every sound file.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/cli/audio_file.h"
#include "tools/cli/commands.h"
#include "tools/cli/format.h"
#include "tools/cli/json.h"
#include "tools/cli/session.h"

namespace atto::cli {
namespace {

struct Line {
  std::string file;
  double seconds = 0;      // of the file
  double cut_seconds = 0;  // of it, not looked at
  bool has_samples = false;
  std::size_t label = 0;
  Classification result;
  double microseconds = 0;
};

void PrintJson(const Line& line, const std::vector<std::string>& labels) {
  nlohmann::ordered_json json;
  json["file"] = line.file;
  json["label"] = nullptr;
  json["score"] = nullptr;
  if (line.has_samples) {
    json["label"] = labels[line.label];
    json["score"] = ScoreToFloat(line.result.scores[line.label]);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      json["scores"][labels[i]] = ScoreToFloat(line.result.scores[i]);
      json["logits"][labels[i]] = line.result.logits[i];
    }
  } else {
    json["error"] = StatusName(Status::kEmptyInput);
  }
  json["seconds"] = line.seconds;
  json["cut_seconds"] = line.cut_seconds;
  json["microseconds"] = line.microseconds;
  PutJson(json);
}

void PrintLine(const Line& line, const std::vector<std::string>& labels,
               std::size_t label_columns) {
  std::string notes;
  if (!line.has_samples) notes = " [no samples]";
  if (line.cut_seconds > 0) {
    notes = " [only the first " + Fixed(line.seconds - line.cut_seconds, 2) +
            " s; atto listen hears all]";
  }
  std::printf(
      "%s  %s  %s  %s  %s%s\n",
      PadRight(line.has_samples ? labels[line.label] : "-", label_columns)
          .c_str(),
      PadLeft(line.has_samples
                  ? Fixed(ScoreToFloat(line.result.scores[line.label]), 3)
                  : "-",
              5)
          .c_str(),
      PadLeft(Fixed(line.seconds, 2), 7).c_str(),
      PadLeft(line.has_samples ? Fixed(line.microseconds / 1000, 3) : "-", 7)
          .c_str(),
      Printable(line.file).c_str(), notes.c_str());
}

}  // namespace

void ClassifyAudio(const ClassifyOptions& options) {
  AudioSession session(options.model);
  if (options.inputs.empty()) {
    throw UsageError(options.model +
                     " hears: name sound files, or use 'atto listen' for "
                     "standard input");
  }
  const std::size_t positive = session.LabelIndex(options.decision.positive);
  const std::vector<std::string>& labels = session.labels();
  std::size_t label_columns = Columns("label");
  for (const std::string& label : labels) {
    label_columns = std::max(label_columns, Columns(label));
  }
  if (!options.json) {
    std::printf("%s  score  seconds       ms  file\n",
                PadRight("label", label_columns).c_str());
  }
  double fastest = 0;
  for (const std::string& file : options.inputs) {
    using Clock = std::chrono::steady_clock;
    Line line;
    line.file = file;
    std::uint64_t total = 0;
    const std::vector<std::int16_t> pcm =
        ReadClip(file, session.sample_rate(), session.window(), &total);
    const double rate = session.sample_rate();
    line.seconds = static_cast<double>(total) / rate;
    line.cut_seconds = static_cast<double>(total - pcm.size()) / rate;
    for (unsigned i = 0; i < options.repeat; ++i) {
      const Clock::time_point start = Clock::now();
      line.has_samples = session.Classify(pcm, &line.result);
      const std::chrono::duration<double, std::micro> took =
          Clock::now() - start;
      line.microseconds =
          i == 0 ? took.count() : std::min(line.microseconds, took.count());
    }
    if (line.has_samples) {
      line.label = Decide(line.result, positive, options.decision.threshold);
      fastest = fastest == 0 ? line.microseconds
                             : std::min(fastest, line.microseconds);
    }
    if (options.json) {
      PrintJson(line, labels);
    } else {
      PrintLine(line, labels, label_columns);
    }
    std::fflush(stdout);
  }
  if (options.json) return;
  if (fastest > 0) {
    const double window_us =
        1e6 * static_cast<double>(session.window()) / session.sample_rate();
    std::printf(
        "\nlatency  %s ms a clip, %s times faster than real time (%s "
        "kernels)\n",
        Fixed(fastest / 1000, 3).c_str(),
        Grouped(static_cast<std::uint64_t>(window_us / fastest)).c_str(),
        session.backend());
  }
  std::printf(
      "memory   arena %s bytes, no heap; model %s bytes, read in place\n",
      Grouped(session.arena_bytes()).c_str(),
      Grouped(session.file_bytes()).c_str());
}

}  // namespace atto::cli
