// atto classify: a label for every message.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/commands.h"
#include "tools/cli/format.h"
#include "tools/cli/json.h"
#include "tools/cli/session.h"

namespace atto::cli {
namespace {

// Whether a lone argument is a file to read and not a message. What looks like
// a path but is none is a mistake rather than a message.
bool NamesFile(const std::string& argument) {
  if (IsFile(argument)) return true;
  const auto ends_with = [&argument](std::string_view end) {
    return argument.size() > end.size() &&
           argument.compare(argument.size() - end.size(), end.size(), end) == 0;
  };
  const bool looks_like_path =
      argument.find(' ') == std::string::npos &&
      (argument.find('/') != std::string::npos || ends_with(".txt") ||
       ends_with(".tsv") || ends_with(".csv"));
  if (!looks_like_path) return false;
  throw Failure(argument +
                ": no such file (to classify this text itself, give it on "
                "standard input)");
}

class Classifier {
 public:
  explicit Classifier(const ClassifyOptions& options)
      : options_(options),
        session_(options.model),
        positive_(session_.LabelIndex(options.decision.positive)),
        counts_(session_.labels().size()) {
    label_columns_ = Columns("label");
    for (const std::string& label : session_.labels()) {
      label_columns_ = std::max(label_columns_, Columns(label));
    }
  }

  void PrintHeader() const {
    if (options_.json) return;
    std::printf("%s  score  tokens  us/token  message\n",
                PadRight("label", label_columns_).c_str());
  }

  // Classifies one message and prints its line.
  void Add(std::string_view text) {
    using Clock = std::chrono::steady_clock;
    Classification result;
    bool has_tokens = false;
    double microseconds = 0;
    for (unsigned i = 0; i < options_.repeat; ++i) {
      const Clock::time_point start = Clock::now();
      has_tokens = session_.Classify(text, &result);
      const std::chrono::duration<double, std::micro> took =
          Clock::now() - start;
      microseconds =
          i == 0 ? took.count() : std::min(microseconds, took.count());
    }
    ++messages_;
    const std::size_t label =
        has_tokens ? Decide(result, positive_, options_.decision.threshold) : 0;
    if (!has_tokens) {
      ++without_tokens_;
    } else {
      ++counts_[label];
      tokens_ += result.tokens;
      microseconds_ += microseconds;
    }
    if (options_.json) {
      PrintJson(result, has_tokens, label, microseconds);
    } else {
      PrintLine(text, result, has_tokens, label, microseconds);
    }
    std::fflush(stdout);
  }

  void PrintSummary() {
    if (options_.json) return;
    std::string parts;
    const auto add = [&](std::size_t count, const std::string& what) {
      if (count == 0) return;
      parts += (parts.empty() ? ": " : ", ") + Grouped(count) + ' ' + what;
    };
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      add(counts_[i], session_.labels()[i]);
    }
    add(without_tokens_, "without a token");
    std::printf("\n%s message%s%s\n", Grouped(messages_).c_str(),
                messages_ == 1 ? "" : "s", parts.c_str());
    if (tokens_ > 0) {
      std::printf(
          "latency  %s us per token, %s us per message (%s kernels)\n",
          Fixed(microseconds_ / static_cast<double>(tokens_), 2).c_str(),
          Fixed(
              microseconds_ / static_cast<double>(messages_ - without_tokens_),
              1)
              .c_str(),
          session_.backend());
    }
    std::printf(
        "memory   arena %s bytes, no heap; model %s bytes, read in place\n",
        Grouped(session_.arena_bytes()).c_str(),
        Grouped(session_.file_bytes()).c_str());
  }

 private:
  void PrintJson(const Classification& result, bool has_tokens,
                 std::size_t label, double microseconds) const {
    nlohmann::ordered_json line;
    line["label"] = nullptr;
    line["score"] = nullptr;
    if (has_tokens) {
      line["label"] = session_.labels()[label];
      line["score"] = ScoreToFloat(result.scores[label]);
      for (std::size_t i = 0; i < result.scores.size(); ++i) {
        line["scores"][session_.labels()[i]] = ScoreToFloat(result.scores[i]);
        line["logits"][session_.labels()[i]] = result.logits[i];
      }
    } else {
      line["error"] = StatusName(Status::kEmptyInput);
    }
    line["tokens"] = result.tokens;
    line["cut_tokens"] = result.cut_tokens;
    line["cut_features"] = result.cut_features;
    line["cut_chars"] = result.cut_chars;
    line["invalid_utf8"] = result.invalid_utf8;
    line["microseconds"] = microseconds;
    PutJson(line);
  }

  void PrintLine(std::string_view text, const Classification& result,
                 bool has_tokens, std::size_t label,
                 double microseconds) const {
    std::string notes;
    if (result.cut_tokens > 0) {
      notes += " [" + Grouped(result.cut_tokens) + " tokens cut off]";
    }
    if (result.invalid_utf8 > 0) {
      notes += " [" + Grouped(result.invalid_utf8) + " bad UTF-8 sequences]";
    }
    const std::size_t used = label_columns_ + 2 + 5 + 2 + 6 + 2 + 8 + 2;
    const std::size_t width = std::max<std::size_t>(TerminalColumns(), 60);
    const std::size_t columns =
        width > used + notes.size() + 10 ? width - used - notes.size() : 10;
    const double per_token =
        microseconds /
        static_cast<double>(std::max<std::size_t>(result.tokens, 1));
    std::printf(
        "%s  %s  %s  %s  %s%s\n",
        PadRight(has_tokens ? session_.labels()[label] : "-", label_columns_)
            .c_str(),
        PadLeft(has_tokens ? Fixed(ScoreToFloat(result.scores[label]), 3) : "-",
                5)
            .c_str(),
        PadLeft(std::to_string(result.tokens), 6).c_str(),
        PadLeft(has_tokens ? Fixed(per_token, 2) : "-", 8).c_str(),
        CutToColumns(Printable(text), columns).c_str(), notes.c_str());
  }

  const ClassifyOptions& options_;
  Session session_;
  std::size_t positive_;
  std::size_t label_columns_;
  std::size_t messages_ = 0;
  std::size_t without_tokens_ = 0;   // messages
  std::vector<std::size_t> counts_;  // of messages, by label
  std::size_t tokens_ = 0;
  double microseconds_ = 0;
};

}  // namespace

void Classify(const ClassifyOptions& options) {
  if (InputOf(options.model) == Input::kAudio) return ClassifyAudio(options);
  Classifier classifier(options);
  classifier.PrintHeader();
  const std::vector<std::string>& inputs = options.inputs;
  if (inputs.empty() || (inputs.size() == 1 && inputs[0] == "-")) {
    if (isatty(STDIN_FILENO) == 1) {
      std::fputs("Type one message per line; Ctrl-D ends.\n", stderr);
    }
    std::string line;
    while (ReadLine(&std::cin, &line)) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      classifier.Add(line);
    }
  } else if (inputs.size() == 1 && NamesFile(inputs[0])) {
    const std::string content = ReadText(inputs[0]);
    std::string_view rest = content;
    std::string_view line;
    while (NextLine(&rest, &line)) classifier.Add(line);
  } else {
    for (const std::string& text : inputs) classifier.Add(text);
  }
  classifier.PrintSummary();
}

}  // namespace atto::cli
