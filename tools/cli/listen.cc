// atto listen: keywords in a stream.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/audio/keyword_spotter.h"
#include "tools/cli/audio_file.h"
#include "tools/cli/commands.h"
#include "tools/cli/format.h"
#include "tools/cli/json.h"
#include "tools/cli/session.h"

namespace atto::cli {
namespace {

class Listener {
 public:
  explicit Listener(const ListenOptions& options)
      : options_(options), file_(ReadModel(options.model)) {
    ErrorInfo error;
    EncoderShape shape;
    error.status = Model::ReadShape(file_.bytes(), &shape, &error);
    if (error.status != Status::kOk) Refuse(options.model, error);
    if (shape.input != Input::kAudio) {
      throw Failure(options.model + ": reads text and cannot listen");
    }
    const Backend* const backend = DefaultBackend();
    if (backend != nullptr) {
      arena_ = AlignedBytes(SpotterArenaBytes(shape, backend->memory));
    }
    rate_ = shape.audio.sample_rate;
    SpotterOptions spotter_options;
    spotter_options.context = this;
    spotter_options.hop = HopRows(shape.audio);
    spotter_options.on_event = [](void* context, const KeywordEvent& event) {
      static_cast<Listener*>(context)->Print(event);
    };
    if (options.looks) {
      spotter_options.on_look = [](void* context, const SpotterLook& look) {
        static_cast<Listener*>(context)->Print(look);
      };
    }
    error.status =
        spotter_.Init(file_.bytes(), arena_.bytes(), spotter_options, &error);
    if (error.status != Status::kOk) Refuse(options.model, error);
    labels_ = LabelsOf(spotter_.model());
    if (options.threshold) SetThresholds(*options.threshold);
  }

  void Run() {
    AudioReader reader(options_.file, rate_,
                       {options_.rate, options_.channels});
    if (!options_.json) {
      std::printf("%s: %s s a look, every %s ms\n", options_.model.c_str(),
                  Fixed(Seconds(spotter_.window()), 2).c_str(),
                  Fixed(1000 * Seconds(spotter_.hop()), 0).c_str());
      std::fflush(stdout);
    }
    std::vector<std::int16_t> pcm;
    while (reader.Read(&pcm)) Push(pcm);
    const std::uint64_t heard = spotter_.samples();
    // Silence, so that a word at the very end is seen whole.
    Push(std::vector<std::int16_t>(spotter_.window()));
    if (options_.json) return;
    std::printf("\n%s s heard, %s event%s", Fixed(Seconds(heard), 1).c_str(),
                Grouped(events_).c_str(), events_ == 1 ? "" : "s");
    if (busy_.count() > 0) {
      std::printf(", %s times faster than real time (%s kernels)",
                  Grouped(static_cast<std::uint64_t>(
                              Seconds(spotter_.samples()) / busy_.count()))
                      .c_str(),
                  spotter_.encoder().backend().name);
    }
    std::printf("\nmemory   arena %s bytes, no heap\n",
                Grouped(arena_.size()).c_str());
  }

 private:
  std::uint16_t HopRows(const AudioShape& audio) const {
    if (options_.hop_ms == 0) return 0;
    const double row_ms =
        1000.0 * audio.patch_stride * audio.hop_length / audio.sample_rate;
    const double rows = std::round(options_.hop_ms / row_ms);
    if (rows < 1 || rows > EncoderShape::kMaxTokens) {
      throw UsageError("--hop: must be " + Fixed(row_ms, 0) + " to " +
                       Fixed(row_ms * EncoderShape::kMaxTokens, 0) +
                       " for this model, not " +
                       std::to_string(options_.hop_ms));
    }
    return static_cast<std::uint16_t>(rows);
  }

  // What the model never reports stays so.
  void SetThresholds(double threshold) {
    const auto score =
        static_cast<std::uint16_t>(std::lrint(threshold * kScoreOne));
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      if (spotter_.threshold(i) > kScoreOne) continue;
      if (spotter_.set_threshold(i, score) != Status::kOk) {
        throw Failure("the threshold was refused");
      }
    }
  }

  void Push(const std::vector<std::int16_t>& pcm) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    const Status status = spotter_.Push({pcm.data(), pcm.size()});
    busy_ += Clock::now() - start;
    if (status != Status::kOk) {
      throw Failure(options_.model + ": " + StatusMessage(status));
    }
  }

  double Seconds(std::uint64_t samples) const {
    return static_cast<double>(samples) / rate_;
  }

  void Print(const KeywordEvent& event) {
    ++events_;
    const std::string& word = labels_[event.word];
    if (options_.json) {
      nlohmann::ordered_json json;
      json["word"] = word;
      json["score"] = ScoreToFloat(event.score);
      json["start"] = Seconds(event.start);
      json["end"] = Seconds(event.end);
      json["detected"] = Seconds(event.detected);
      json["start_sample"] = event.start;
      json["end_sample"] = event.end;
      json["detected_sample"] = event.detected;
      PutJson(json);
    } else {
      std::printf("%s s  %s  %s  (%s to %s s)\n",
                  PadLeft(Fixed(Seconds(event.detected), 2), 9).c_str(),
                  PadRight(word, 12).c_str(),
                  Fixed(ScoreToFloat(event.score), 3).c_str(),
                  Fixed(Seconds(event.start), 2).c_str(),
                  Fixed(Seconds(event.end), 2).c_str());
    }
    std::fflush(stdout);
  }

  void Print(const SpotterLook& look) const {
    nlohmann::ordered_json json;
    json["look"] = {look.start, look.end};
    for (const std::int16_t logit : look.logits) {
      json["logits"].push_back(logit);
    }
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      json["smoothed"][labels_[i]] = ScoreToFloat(look.smoothed[i]);
    }
    PutJson(json);
  }

  const ListenOptions& options_;
  AlignedBytes file_;
  AlignedBytes arena_;
  KeywordSpotter spotter_;
  std::vector<std::string> labels_;
  unsigned rate_ = 0;
  std::size_t events_ = 0;
  std::chrono::duration<double> busy_{0};
};

}  // namespace

void Listen(const ListenOptions& options) { Listener(options).Run(); }

}  // namespace atto::cli
