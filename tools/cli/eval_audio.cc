// atto eval with an audio model: its figures on a folder of WORD/*.wav.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/audio/spotter_params.h"
#include "tools/cli/audio_file.h"
#include "tools/cli/commands.h"
#include "tools/cli/format.h"
#include "tools/cli/json.h"
#include "tools/cli/metrics.h"
#include "tools/cli/session.h"

namespace atto::cli {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

// What became of the clips of one folder.
struct Word {
  std::string folder;
  std::size_t truth = kNone;  // class, or none: counted apart
  std::size_t clips = 0;
  std::size_t right = 0;
  std::size_t keyword = 0;   // called a keyword
  std::size_t accepted = 0;  // the same, at the model's thresholds
  std::size_t heard = 0;     // called its keyword, at the model's thresholds
};

struct AudioEvaluation {
  std::vector<Word> words;
  Confusion confusion;
  std::size_t empty = 0;  // clips without a sample
  std::size_t cut = 0;    // clips longer than the model's window
};

std::size_t IndexOf(const std::vector<std::string>& labels,
                    const std::string& label) {
  const auto at = std::find(labels.begin(), labels.end(), label);
  return at == labels.end() ? kNone
                            : static_cast<std::size_t>(at - labels.begin());
}

bool IsSilence(const std::string& folder) {
  return folder == "silence" || folder == "_silence_" ||
         folder == "background_noise" || folder == "_background_noise_";
}

// Names of the entries of a folder, sorted; only folders or only sound files.
std::vector<std::string> Entries(const std::string& folder, bool folders) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end;
       !error && at != end; at.increment(error)) {
    std::error_code ignored;
    const std::string name = at->path().filename().string();
    if (at->is_directory(ignored) == folders &&
        (folders || LooksLikeAudio(name))) {
      names.push_back(name);
    }
  }
  if (error) throw Failure(folder + ": " + error.message());
  std::sort(names.begin(), names.end());
  return names;
}

class Evaluator {
 public:
  explicit Evaluator(const EvalOptions& options)
      : options_(options), session_(options.model) {
    const std::uint8_t* const given =
        session_.model().spotter_params().thresholds;
    for (std::size_t i = 0; i < labels().size(); ++i) {
      is_keyword_.push_back(labels()[i] != "unknown" &&
                            labels()[i] != "silence");
      thresholds_.push_back(given != nullptr
                                ? LoadU16(given + 2 * i)
                                : SpotterParams::kDefaultThreshold);
    }
    found_.confusion.assign(labels().size(),
                            std::vector<std::size_t>(labels().size()));
  }

  void Run() {
    for (const std::string& folder : Entries(options_.file, true)) {
      const std::vector<std::string> files =
          Entries(options_.file + "/" + folder, false);
      if (files.empty()) continue;
      found_.words.push_back({folder, ClassOf(folder), 0, 0, 0, 0, 0});
      for (const std::string& file : files) {
        std::string path = options_.file;
        path.append("/").append(folder).append("/").append(file);
        Add(path, &found_.words.back());
      }
    }
    if (found_.words.empty()) {
      throw Failure(options_.file +
                    ": holds no folder WORD with sound files in it");
    }
    if (options_.json) {
      PrintJson();
    } else {
      PrintText();
    }
  }

 private:
  const std::vector<std::string>& labels() const { return session_.labels(); }

  std::size_t ClassOf(const std::string& folder) const {
    if (std::find(options_.apart.begin(), options_.apart.end(), folder) !=
        options_.apart.end()) {
      return kNone;
    }
    std::size_t index = IndexOf(labels(), folder);
    if (index == kNone) {
      index = IndexOf(labels(), IsSilence(folder) ? "silence" : "unknown");
    }
    if (index == kNone) {
      throw Failure(options_.file + "/" + folder +
                    ": the model has neither this label nor '" +
                    (IsSilence(folder) ? "silence'" : "unknown'"));
    }
    return index;
  }

  void Add(const std::string& file, Word* word) {
    std::uint64_t total = 0;
    const std::vector<std::int16_t> pcm =
        ReadClip(file, session_.sample_rate(), session_.window(), &total);
    if (total > pcm.size()) ++found_.cut;
    Classification result;
    if (!session_.Classify(pcm, &result)) {
      ++found_.empty;
      return;
    }
    ++word->clips;
    if (is_keyword_[result.label]) {
      ++word->keyword;
      if (result.score >= thresholds_[result.label]) {
        ++word->accepted;
        if (result.label == word->truth) ++word->heard;
      }
    }
    if (word->truth == kNone) return;
    if (result.label == word->truth) ++word->right;
    ++found_.confusion[word->truth][result.label];
  }

  // Sum over the words that `counts` of a number of theirs.
  template <class Counts>
  std::size_t Sum(std::size_t Word::*number, const Counts& counts) const {
    std::size_t sum = 0;
    for (const Word& word : found_.words) {
      if (counts(word)) sum += word.*number;
    }
    return sum;
  }

  struct Share {
    std::size_t part;
    std::size_t whole;
    double value() const {
      return whole == 0
                 ? std::numeric_limits<double>::quiet_NaN()
                 : static_cast<double>(part) / static_cast<double>(whole);
    }
  };

  template <class Counts>
  Share ShareOf(std::size_t Word::*number, const Counts& counts) const {
    return {Sum(number, counts), Sum(&Word::clips, counts)};
  }

  std::vector<std::pair<std::string, Share>> Figures() const {
    const auto counted = [](const Word& w) { return w.truth != kNone; };
    const auto keyword = [this](const Word& w) {
      return w.truth != kNone && is_keyword_[w.truth];
    };
    const auto other = [this](const Word& w) {
      return w.truth != kNone && !is_keyword_[w.truth] && !IsSilence(w.folder);
    };
    const auto silence = [](const Word& w) { return IsSilence(w.folder); };
    const auto apart = [](const Word& w) { return w.truth == kNone; };
    return {
        {"accuracy", ShareOf(&Word::right, counted)},
        {"keywords", ShareOf(&Word::right, keyword)},
        {"other words", ShareOf(&Word::right, other)},
        {"silence", ShareOf(&Word::right, silence)},
        {"keywords heard", ShareOf(&Word::heard, keyword)},
        {"other words called a keyword", ShareOf(&Word::accepted, other)},
        {"silence called a keyword", ShareOf(&Word::accepted, silence)},
        {"words apart called a keyword", ShareOf(&Word::accepted, apart)},
    };
  }

  // Mean over the classes of the share that is right.
  double MeanOfClasses() const {
    double sum = 0;
    std::size_t classes = 0;
    for (std::size_t i = 0; i < labels().size(); ++i) {
      std::size_t clips = 0;
      for (const std::size_t count : found_.confusion[i]) clips += count;
      if (clips == 0) continue;
      sum += static_cast<double>(found_.confusion[i][i]) /
             static_cast<double>(clips);
      ++classes;
    }
    return classes == 0 ? 0 : sum / static_cast<double>(classes);
  }

  void PrintJson() const {
    nlohmann::ordered_json json;
    for (const auto& [name, share] : Figures()) {
      if (share.whole == 0) continue;
      json[name] = {
          {"share", share.value()}, {"count", share.part}, {"n", share.whole}};
    }
    json["mean of classes"] = MeanOfClasses();
    for (const Word& word : found_.words) {
      json["words"][word.folder] = {
          {"class", word.truth == kNone ? nlohmann::json(nullptr)
                                        : nlohmann::json(labels()[word.truth])},
          {"clips", word.clips},
          {"right", word.right},
          {"called_keyword", word.keyword},
          {"accepted_as_keyword", word.accepted},
          {"heard", word.heard}};
    }
    json["confusion"] = found_.confusion;
    json["labels"] = labels();
    json["empty_clips"] = found_.empty;
    json["cut_clips"] = found_.cut;
    PutJson(json);
  }

  void PrintText() const {
    std::printf(
        "%s on %s: %s clips\n\n", options_.model.c_str(), options_.file.c_str(),
        Grouped(Sum(&Word::clips, [](const Word&) { return true; })).c_str());
    for (const auto& [name, share] : Figures()) {
      if (share.whole == 0) continue;
      std::printf("  %-34s %s  (%s of %s)\n", name.c_str(),
                  Fixed(share.value(), 4).c_str(), Grouped(share.part).c_str(),
                  Grouped(share.whole).c_str());
    }
    std::printf("  %-34s %s\n", "mean of the classes",
                Fixed(MeanOfClasses(), 4).c_str());
    std::printf(
        "\n  heard, called: the best class is the keyword, or any, and its "
        "score "
        "reaches the model's threshold\n");
    PrintConfusion();
    PrintOthers();
    if (found_.empty > 0) {
      std::printf("\n  %s clips hold no sample and are not counted\n",
                  Grouped(found_.empty).c_str());
    }
    if (found_.cut > 0) {
      std::printf(
          "\n  %s clips are longer than the model's window and were "
          "cut\n",
          Grouped(found_.cut).c_str());
    }
  }

  void PrintConfusion() const {
    std::size_t columns = 6;
    for (const std::string& label : labels()) {
      columns = std::max(columns, Columns(label) + 1);
    }
    std::printf("\n  confusion (row: truth, column: what the model says)\n  %s",
                std::string(columns, ' ').c_str());
    for (const std::string& label : labels()) {
      std::printf("%s", PadLeft(label, columns).c_str());
    }
    std::printf("\n");
    for (std::size_t truth = 0; truth < labels().size(); ++truth) {
      std::printf("  %s", PadLeft(labels()[truth], columns).c_str());
      for (const std::size_t count : found_.confusion[truth]) {
        std::printf("%s", PadLeft(Grouped(count), columns).c_str());
      }
      std::printf("\n");
    }
  }

  // Other words, those most often taken for a keyword first.
  void PrintOthers() const {
    std::vector<const Word*> others;
    for (const Word& word : found_.words) {
      if (word.truth == kNone || !is_keyword_[word.truth]) {
        others.push_back(&word);
      }
    }
    if (others.empty()) return;
    // Without clips the share is 0: the order must be one.
    const auto clips = [](const Word* word) {
      return std::max<std::size_t>(word->clips, 1);
    };
    std::stable_sort(others.begin(), others.end(),
                     [&](const Word* a, const Word* b) {
                       return a->accepted * clips(b) > b->accepted * clips(a);
                     });
    std::printf("\n  other words      clips  called a keyword\n");
    for (const Word* const word : others) {
      const Share share{word->accepted, word->clips};
      std::printf("  %s  %s  %s%s\n",
                  PadRight(Printable(word->folder), 14).c_str(),
                  PadLeft(Grouped(word->clips), 6).c_str(),
                  Fixed(share.value(), 4).c_str(),
                  word->truth == kNone ? "  apart" : "");
    }
  }

  const EvalOptions& options_;
  AudioSession session_;
  std::vector<bool> is_keyword_;           // by class
  std::vector<std::uint16_t> thresholds_;  // by class
  AudioEvaluation found_;
};

}  // namespace

void EvalAudio(const EvalOptions& options) { Evaluator(options).Run(); }

}  // namespace atto::cli
