// atto_bench: how fast a model runs on this machine, and where its time goes.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench/op_profile.h"
#include "bench/peak.h"
#include "bench/revision.h"
#include "bench/support/clock.h"
#include "bench/support/linear.h"
#include "bench/support/memory.h"
#include "runtime/encoder.h"
#include "runtime/model/crc32.h"
#include "runtime/model/gguf.h"
#include "tools/cli/files.h"
#include "tools/cli/session.h"

#if ATTO_WITH_XSIMD
#include "runtime/float_encoder.h"
#endif

namespace atto::bench {
namespace {

struct Options {
  std::string model;
  std::string backend;
  std::vector<std::size_t> tokens;  // empty: the model's limit
  double seconds = 0.5;             // of measuring, for each number of tokens
  bool json = false;
  bool profile = true;
  bool roofs = false;
};

// What was measured with one number of tokens.
struct Figures {
  std::size_t tokens = 0;
  Latency latency;
  std::uint64_t multiply_adds = 0;  // of all matrix products
  std::string logits_crc32;         // of integer models, whose logits are exact
  std::vector<OpTime> ops;          // of integer models

  double gmacs() const {
    return static_cast<double>(multiply_adds) / latency.min;
  }
};

// The front end of an audio model.
struct FrontEnd {
  Latency frame;                 // of one frame's features
  double frames_per_second = 0;  // of audio; 0 for text
  double window_seconds = 0;     // of audio that one run of the encoder sees

  double nanoseconds_per_second() const {
    return frame.min * frames_per_second;
  }
};

// What was measured with a model.
struct Report {
  std::string backend;
  std::size_t arena_bytes = 0;
  std::size_t weight_bytes = 0;
  double peak_gmacs = 0;
  std::vector<std::pair<const char*, double>> read_gigabytes;  // per second
  double clock_nanoseconds = 0;  // removed from each call of an op
  FrontEnd front_end;
  std::vector<Figures> figures;
};

[[noreturn]] void FailWith(const std::string& sentence) {
  throw cli::Failure(sentence);
}

std::string Hex(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof(text), "%08x", value);
  return text;
}

// The processor by its own name; empty where the system does not tell.
std::string CpuName() {
  std::ifstream info("/proc/cpuinfo");
  const std::string key = "model name";
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.compare(0, key.size(), key) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "";
}

// What integer models and their float twins differ in.
struct IntegerKind {
  using Encoder = atto::Encoder;
  using Model = atto::Model;
  using Backend = atto::Backend;
  using Row = std::int8_t;
  using Logit = std::int16_t;
  static Span<const Backend* const> All() { return Backends(); }
  static const Backend* Default() { return DefaultBackend(); }
  static std::size_t Arena(const EncoderShape& shape, const Backend& backend) {
    return ArenaBytes(shape, backend.memory);
  }
};

#if ATTO_WITH_XSIMD
struct FloatKind {
  using Encoder = FloatEncoder;
  using Model = FloatModel;
  using Backend = FloatBackend;
  using Row = float;
  using Logit = float;
  static Span<const Backend* const> All() { return FloatBackends(); }
  static const Backend* Default() { return DefaultFloatBackend(); }
  static std::size_t Arena(const EncoderShape& shape, const Backend& backend) {
    return FloatArenaBytes(shape, backend.memory);
  }
};
#endif

// The backends that this CPU runs, slowest first.
template <typename Kind>
std::string RunnableNames(const std::string& separator) {
  std::string names;
  for (const auto* const backend : Kind::All()) {
    if (!backend->supported()) continue;
    names += (names.empty() ? "" : separator) + backend->name;
  }
  return names;
}

template <typename Kind>
const typename Kind::Backend& ChooseBackend(const std::string& name) {
  const typename Kind::Backend* chosen = nullptr;
  if (name.empty()) chosen = Kind::Default();
  for (const auto* const backend : Kind::All()) {
    if (backend->supported() && backend->name == name) chosen = backend;
  }
  if (chosen == nullptr) {
    FailWith("no such backend for this model; there are " +
             RunnableNames<Kind>(", "));
  }
  return *chosen;
}

// Multiply-adds that a run over `tokens` tokens takes, head included. Only row
// 0 of the last block reaches a class-token head: the others end at its keys
// and values.
std::uint64_t CountMultiplyAdds(const EncoderShape& shape,
                                std::uint64_t tokens) {
  const std::uint64_t d = shape.d_model;
  const bool pools_class = shape.pooling == Pooling::kClass;
  const std::uint64_t input_rows = tokens - (pools_class ? 1 : 0);
  const std::uint64_t one_row =
      2 * d * d + 2 * tokens * d + 2 * d * shape.d_ffn;
  std::uint64_t rows = tokens * shape.blocks;  // of all blocks together
  if (pools_class) rows -= tokens - 1;
  return input_rows * shape.d_input * d + tokens * shape.blocks * 2 * d * d +
         rows * one_row + d * shape.classes;
}

// A model in memory, with the same pseudo-random rows in every program and on
// every machine.
template <typename Kind>
class Subject {
 public:
  Subject(const std::string& path, const typename Kind::Backend& backend)
      : path_(path),
        file_(cli::ReadBytes(path)),
        shape_(ReadShape()),
        arena_(Kind::Arena(shape_, backend)),
        rows_(std::size_t{shape_.tokens} * shape_.d_input) {
    Noise().Fill(rows_.span(), 127);
    Use(backend);
  }

  // Packs the weights anew. Legal: the memory that the backend wants is that of
  // the first one.
  void Use(const typename Kind::Backend& backend) {
    ErrorInfo error;
    const Status status =
        encoder_.Init(file_.bytes(), arena_.span(), &error, &backend);
    if (status != Status::kOk) cli::Refuse(path_, error);
    logits_ = Span<const typename Kind::Logit>();
  }

  // One classification of `tokens` rows, a class token included.
  void Run(std::size_t tokens) {
    encoder_.Start();
    const std::size_t e = shape_.d_input;
    const typename Kind::Row* row = rows_.data();
    while (encoder_.rows() < tokens) {
      std::memcpy(encoder_.NextRow(), row, e * sizeof(*row));
      row += e;
    }
    const Status status = encoder_.Run(&logits_);
    if (status != Status::kOk) {
      FailWith(path_ + ": " + StatusMessage(status));
    }
  }

  // Of the last run.
  Span<const typename Kind::Logit> logits() const { return logits_; }

  // Throws Failure unless the model can run over `tokens` tokens.
  void CheckTokens(std::size_t tokens) const {
    const std::size_t fewest = encoder_.model().class_token().empty() ? 1 : 2;
    if (tokens >= fewest && tokens <= shape_.tokens) return;
    FailWith(path_ + ": takes " + std::to_string(fewest) + " to " +
             std::to_string(shape_.tokens) + " tokens, not " +
             std::to_string(tokens));
  }

  const typename Kind::Model& model() const { return encoder_.model(); }
  const EncoderShape& shape() const { return shape_; }
  std::size_t arena_bytes() const { return arena_.size(); }

 private:
  EncoderShape ReadShape() {
    ErrorInfo error;
    EncoderShape shape;
    if (Kind::Model::ReadShape(file_.bytes(), &shape, &error) != Status::kOk) {
      cli::Refuse(path_, error);
    }
    return shape;
  }

  std::string path_;
  cli::AlignedBytes file_;
  EncoderShape shape_;
  PageArray<std::uint8_t> arena_;
  PageArray<typename Kind::Row> rows_;
  typename Kind::Encoder encoder_;
  Span<const typename Kind::Logit> logits_;
};

// Bytes of a valid model's tensors, without the text tables.
std::size_t WeightBytes(Span<const std::uint8_t> file) {
  GgufReader reader;
  Status status = reader.Open(file, nullptr);
  GgufKey key;
  for (std::uint32_t i = 0; status == Status::kOk && i < reader.key_count();
       ++i) {
    status = reader.NextKey(&key);
  }
  if (status == Status::kOk) status = reader.OpenTensors();
  std::size_t bytes = 0;
  for (std::uint32_t i = 0; status == Status::kOk && i < reader.tensor_count();
       ++i) {
    const GgufTensor tensor = reader.NextTensor();
    const std::string name(tensor.name.data(), tensor.name.size());
    if (name.compare(0, 5, "text.") != 0) bytes += tensor.bytes;
  }
  return bytes;
}

// CRC-32 of the logits as little-endian 16-bit numbers.
std::uint32_t LogitsCrc32(Span<const std::int16_t> logits) {
  std::vector<std::uint8_t> bytes;
  for (const std::int16_t logit : logits) {
    bytes.push_back(static_cast<std::uint8_t>(logit));
    bytes.push_back(static_cast<std::uint8_t>(logit >> 8));
  }
  return Crc32(Span<const std::uint8_t>(bytes.data(), bytes.size()));
}

// Nanoseconds that remain of a call when there is nothing left to multiply:
// run(size) takes a size + b, and b is wanted. Both sizes take turns.
template <typename Body>
double Intercept(std::size_t size, const Body& run) {
  double once = 1e300;
  double twice = 1e300;
  for (int turn = 0; turn < 20; ++turn) {
    once = std::min(once, run(size));
    twice = std::min(twice, run(2 * size));
  }
  return std::max(0.0, 2 * once - twice);
}

// The fastest of a millisecond of calls.
template <typename Body>
double Fastest(const Body& body) {
  return Measure(0.001, 20000, body).min;
}

// Of a matrix product, by the number of inputs: requantisation, storing, and
// starting the sums.
double BesidesMatmul(const Backend& backend, const OpTime& op) {
  const std::size_t in =
      2 * op.in <= Linear::kMaxIn ? op.in : std::size_t{Linear::kMaxIn} / 2;
  const PageArray<std::int8_t> x(op.rows * 2 * in);
  const PageArray<std::int8_t> y(op.rows * op.out);
  const PageArray<std::int16_t> r(op.rows * op.out);
  Noise().Fill(x.span(), 127);
  const std::string name = op.op;
  return Intercept(in, [&](std::size_t size) {
    const RandomLinear layer(size, op.out, Pairs::kBounded, backend);
    const MatrixView<const std::int8_t> rows = x.matrix(op.rows, size);
    return Fastest([&] {
      if (name == "matmul_s8") {
        backend.matmul_s8(layer.linear(), rows, y.matrix(op.rows, op.out));
      } else if (name == "matmul_s16") {
        backend.matmul_s16(layer.linear(), rows, r.matrix(op.rows, op.out));
      } else {
        backend.matmul_add_s16(layer.linear(), rows, r.matrix(op.rows, op.out));
      }
    });
  });
}

// Of attention, by the width of a head: softmax, and starting the sums.
double BesidesAttention(const Backend& backend, const Model& model,
                        const OpTime& op) {
  Attention attention = model.blocks()[0].attention;
  const std::size_t d_head =
      attention.d_head <= 256 ? attention.d_head : std::size_t{256};
  const std::size_t most = 2 * d_head * attention.heads;
  const PageArray<std::int8_t> q(op.rows * most), k(op.in * most),
      v(op.in * most), y(op.rows * most);
  Noise noise;
  noise.Fill(q.span(), 127);
  noise.Fill(k.span(), 127);
  noise.Fill(v.span(), 127);
  const PageArray<std::uint8_t> scratch(
      AttentionScratchBytes(backend.memory, op.in, 2 * d_head));
  return Intercept(d_head, [&](std::size_t size) {
    attention.d_head = static_cast<std::uint16_t>(size);
    const std::size_t d = size * attention.heads;
    return Fastest([&] {
      backend.attention_s8(attention, q.matrix(op.rows, d), k.matrix(op.in, d),
                           v.matrix(op.in, d), y.matrix(op.rows, d),
                           scratch.data(), nullptr);
    });
  });
}

// What each op does besides multiplying matrices; all of it where it multiplies
// none.
void FindBesides(const Backend& backend, const Model& model,
                 std::vector<OpTime>* ops) {
  for (OpTime& op : *ops) {
    op.besides_products = op.nanoseconds;
    if (op.multiply_adds == 0) continue;
    const double call = std::strcmp(op.op, "attention_s8") == 0
                            ? BesidesAttention(backend, model, op)
                            : BesidesMatmul(backend, op);
    op.besides_products =
        std::min(op.nanoseconds, call * static_cast<double>(op.calls));
  }
}

// The shares of the ops, into `figures`.
void Profile(Subject<IntegerKind>* subject, const Backend& backend,
             const Options& options, Report* report, Figures* figures) {
  OpProfile profile(backend);
  subject->Use(profile.backend());
  Measure(options.seconds, 0, [&] {
    subject->Run(figures->tokens);
    profile.EndRun();
  });
  subject->Use(backend);
  figures->ops = profile.Result();
  FindBesides(backend, subject->model(), &figures->ops);
  report->clock_nanoseconds = profile.clock_nanoseconds();
}

// Features of frames of noise, one after the other.
FrontEnd MeasureFrontEnd(const Model& model, const Backend& backend,
                         double seconds) {
  FrontEnd front_end;
  const AudioShape& audio = model.shape().audio;
  if (model.shape().input != Input::kAudio) return front_end;
  const PageArray<std::int16_t> pcm(audio.frame_length);
  const PageArray<std::int8_t> features(audio.bins);
  const PageArray<std::uint8_t> scratch(
      LogMelScratchBytes(backend.memory, audio.fft_length));
  Noise().Fill(pcm.span(), 5000);
  front_end.frame = Measure(seconds, 0, [&] {
    LogMelKernel(backend)(model.log_mel(), pcm.data(), features.data(),
                          scratch.data());
  });
  const double rate = audio.sample_rate;
  front_end.frames_per_second = rate / audio.hop_length;
  front_end.window_seconds =
      static_cast<double>(WindowSamples(model.shape())) / rate;
  return front_end;
}

// Buffers that lie in a level of the memory of today's processors.
struct MemoryLevel {
  const char* name;
  std::size_t bytes;
};
constexpr MemoryLevel kMemoryLevels[] = {
    {"L1", 16 << 10}, {"L2", 256 << 10}, {"memory", 128 << 20}};

template <typename Kind>
Report MeasureModel(const Options& options) {
  constexpr bool kInteger = std::is_same_v<Kind, IntegerKind>;
  const typename Kind::Backend& backend = ChooseBackend<Kind>(options.backend);
  Subject<Kind> subject(options.model, backend);
  std::vector<std::size_t> counts = options.tokens;
  if (counts.empty()) counts.push_back(subject.shape().tokens);
  for (const std::size_t tokens : counts) subject.CheckTokens(tokens);
  Report report;
  report.backend = backend.name;
  report.arena_bytes = subject.arena_bytes();
  report.weight_bytes = WeightBytes(subject.model().file());
  report.peak_gmacs = PeakGmacs(backend.name);
  if constexpr (kInteger) {
    report.front_end =
        MeasureFrontEnd(subject.model(), backend, options.seconds);
  }
  for (const std::size_t tokens : counts) {
    Figures figures;
    figures.tokens = tokens;
    figures.multiply_adds = CountMultiplyAdds(subject.shape(), tokens);
    figures.latency = Measure(options.seconds, 0, [&] { subject.Run(tokens); });
    if constexpr (kInteger) {
      figures.logits_crc32 = Hex(LogitsCrc32(subject.logits()));
      if (options.profile) {
        Profile(&subject, backend, options, &report, &figures);
      }
    }
    report.figures.push_back(std::move(figures));
  }
  if (options.roofs) {
    for (const MemoryLevel& level : kMemoryLevels) {
      report.read_gigabytes.emplace_back(
          level.name, ReadGigabytes(backend.name, level.bytes));
    }
  }
  report.peak_gmacs = std::max(report.peak_gmacs, PeakGmacs(backend.name));
  return report;
}

nlohmann::ordered_json ToJson(const Options& options, const Report& report,
                              const Figures& figures) {
  const auto n = static_cast<double>(figures.tokens);
  nlohmann::ordered_json json;
  json["model"] = options.model;
  json["backend"] = report.backend;
  json["tokens"] = figures.tokens;
  json["ns_per_token_min"] = figures.latency.min / n;
  json["ns_per_token_median"] = figures.latency.median / n;
  json["ns_per_token_p99"] = figures.latency.p99 / n;
  json["runs"] = figures.latency.samples;
  json["multiply_adds"] = figures.multiply_adds;
  json["gmacs"] = figures.gmacs();
  json["peak_gmacs"] = nullptr;
  if (report.peak_gmacs > 0) json["peak_gmacs"] = report.peak_gmacs;
  for (const auto& [level, rate] : report.read_gigabytes) {
    json["read_gigabytes_per_second"][level] = rate;
  }
  json["arena_bytes"] = report.arena_bytes;
  json["weight_bytes"] = report.weight_bytes;
  json["logits_crc32"] = nullptr;
  if (!figures.logits_crc32.empty()) {
    json["logits_crc32"] = figures.logits_crc32;
  }
  json["ops"] = nlohmann::ordered_json::array();
  for (const OpTime& op : figures.ops) {
    json["ops"].push_back({{"op", op.op},
                           {"shape", op.shape()},
                           {"calls", op.calls},
                           {"ns", op.nanoseconds},
                           {"share", op.nanoseconds / figures.latency.min},
                           {"besides_products_ns", op.besides_products},
                           {"multiply_adds", op.multiply_adds},
                           {"bytes", op.bytes}});
  }
  if (report.front_end.frames_per_second > 0) {
    const FrontEnd& front_end = report.front_end;
    json["front_end"] = {
        {"ns_per_frame_min", front_end.frame.min},
        {"ns_per_frame_median", front_end.frame.median},
        {"frames_per_second", front_end.frames_per_second},
        {"ns_per_second_of_audio", front_end.nanoseconds_per_second()},
        {"window_seconds", front_end.window_seconds}};
  }
  json["cpu"] = CpuName();
  json["compiler"] = ATTO_COMPILER;
  json["revision"] = ATTO_REVISION;
  return json;
}

void PrintOps(const Figures& figures, double clock_nanoseconds) {
  std::printf("  %-18s %-14s %6s %10s %7s %8s %8s\n", "op", "shape", "calls",
              "us", "share", "GMAC/s", "besides");
  const auto share = [&](double nanoseconds) {
    return 100 * nanoseconds / figures.latency.min;
  };
  double sum = 0;
  double in_products = 0;   // besides multiplying
  double in_attention = 0;  // the same
  double other = 0;
  for (const OpTime& op : figures.ops) {
    std::printf("  %-18s %-14s %6llu %10.2f %6.1f%%", op.op, op.shape().c_str(),
                static_cast<unsigned long long>(op.calls), op.nanoseconds / 1e3,
                share(op.nanoseconds));
    sum += op.nanoseconds;
    double* kind = &other;
    if (op.multiply_adds != 0) {
      std::printf(" %8.1f %7.1f%%",
                  static_cast<double>(op.multiply_adds) / op.nanoseconds,
                  share(op.besides_products));
      kind = op.op[0] == 'm' ? &in_products : &in_attention;
    }
    *kind += op.besides_products;
    std::printf("\n");
  }
  const double between = figures.latency.min - sum;
  std::printf(
      "  not multiplying matrices: %.1f%% (requantisation %.1f%%, in attention "
      "%.1f%%, other ops %.1f%%, between ops %.1f%%)\n"
      "  (least time of each op; the clock's own %.0f ns a call removed. "
      "besides: what is left of an op, extrapolated from twice the inputs, or "
      "twice the width of a head, to none)\n",
      share(in_products + in_attention + other + between), share(in_products),
      share(in_attention), share(other), share(between), clock_nanoseconds);
}

void PrintFigures(const Figures& figures, double peak) {
  const auto n = static_cast<double>(figures.tokens);
  const Latency& latency = figures.latency;
  std::printf(
      "\n%zu tokens: %.2f us (median %.2f, 99 %% within %.2f, %zu runs); "
      "%.1f ns a token (median %.1f, 99 %% within %.1f)\n",
      figures.tokens, latency.min / 1e3, latency.median / 1e3,
      latency.p99 / 1e3, latency.samples, latency.min / n, latency.median / n,
      latency.p99 / n);
  std::printf("  %.3f MMAC, %.1f GMAC/s",
              static_cast<double>(figures.multiply_adds) / 1e6,
              figures.gmacs());
  if (peak > 0) {
    std::printf(", %.1f%% of the peak of %.1f", 100 * figures.gmacs() / peak,
                peak);
  }
  if (!figures.logits_crc32.empty()) {
    std::printf("; CRC-32 of the logits %s", figures.logits_crc32.c_str());
  }
  std::printf("\n");
}

// The front end's cost, next to that of the longest run.
void PrintFrontEnd(const Report& report) {
  const FrontEnd& front_end = report.front_end;
  if (front_end.frames_per_second == 0) return;
  const double second = front_end.nanoseconds_per_second();
  double run = 0;
  for (const Figures& figures : report.figures) {
    run = std::max(run, figures.latency.min);
  }
  std::printf(
      "front end: %.2f us a frame, %.1f us a second of audio; a look at %.2f s "
      "takes the encoder %.1f us, %.1f times that\n",
      front_end.frame.min / 1e3, second / 1e3, front_end.window_seconds,
      run / 1e3, run / second);
}

Report MeasureAnyModel(const Options& options) {
#if ATTO_WITH_XSIMD
  cli::AlignedBytes file = cli::ReadBytes(options.model);
  EncoderShape shape;
  if (FloatModel::ReadShape(file.bytes(), &shape) == Status::kOk) {
    return MeasureModel<FloatKind>(options);
  }
#endif
  return MeasureModel<IntegerKind>(options);
}

void Run(const Options& options) {
  const Report report = MeasureAnyModel(options);
  if (options.json) {
    nlohmann::ordered_json json;
    for (const Figures& figures : report.figures) {
      json.push_back(ToJson(options, report, figures));
    }
    std::puts((options.tokens.size() > 1 ? json : json[0]).dump().c_str());
    return;
  }
  std::printf(
      "%s on %s, backend %s\n%s, revision %s; weights %zu bytes, arena %zu "
      "bytes\n",
      options.model.c_str(), CpuName().c_str(), report.backend.c_str(),
      ATTO_COMPILER, ATTO_REVISION, report.weight_bytes, report.arena_bytes);
  PrintFrontEnd(report);
  for (const Figures& figures : report.figures) {
    PrintFigures(figures, report.peak_gmacs);
    if (!figures.ops.empty()) PrintOps(figures, report.clock_nanoseconds);
  }
}

// The backends of this build that this CPU runs, one a line.
void PrintBackends() {
  std::puts(RunnableNames<IntegerKind>("\n").c_str());
#if ATTO_WITH_XSIMD
  std::puts(RunnableNames<FloatKind>("\n").c_str());
#endif
}

// The whole program: options, measuring, output. Returns the exit status.
int Main(int argc, char** argv) {
  CLI::App app(
      "Measures how fast a model runs on this machine, and where its time "
      "goes. Input is pseudo-random and always the same, so that the checksum "
      "of the logits compares between backends and machines.");
  Options options;
  app.name("atto_bench");
  app.add_option("model", options.model, "a model file (.gguf)")->required();
  app.add_option("--tokens", options.tokens,
                 "numbers of tokens to measure with, a class token included "
                 "(default: as many as the model takes)")
      ->delimiter(',');
  app.add_option("--backend", options.backend,
                 "kernels to run (default: the fastest, or "
                 "ATTO_FORCE_BACKEND)");
  app.add_option("--seconds", options.seconds,
                 "time to spend on each number of tokens, and again on the "
                 "shares of the ops")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--json", options.json,
               "print an object; with several numbers of tokens, a list");
  app.add_flag("!--no-ops", options.profile, "leave out the shares of the ops");
  app.add_flag("--roofs", options.roofs,
               "with --json: also how fast caches and memory can be read");
  app.add_flag_callback(
      "--list-backends",
      [] {
        PrintBackends();
        throw CLI::Success();
      },
      "print the kernels that this CPU runs, slowest first, and after "
      "them those of float models");
  app.footer("Exit status: 0 success, 1 failure, 2 wrong usage.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  Run(options);
  return 0;
}

}  // namespace
}  // namespace atto::bench

int main(int argc, char** argv) {
  try {
    return atto::bench::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "atto_bench: %s\n", error.what());
    return 1;
  }
}
