// atto inspect: what is in a model file, and what it costs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/audio/keyword_spotter.h"
#include "runtime/model/tensor_iterator.h"
#include "tools/cli/arena_picture.h"
#include "tools/cli/commands.h"
#include "tools/cli/format.h"
#include "tools/cli/json.h"
#include "tools/cli/session.h"

namespace atto::cli {
namespace {

// Tensors that belong together.
struct Group {
  std::string name;
  std::size_t parameters = 0;  // learned numbers: weights, biases, gains
  std::size_t bytes = 0;       // with the multipliers that scale them
};

bool Contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

std::string GroupOf(const std::string& tensor) {
  if (Contains(tensor, "_norm.")) return "norms";
  if (Contains(tensor, ".attn_")) return "attention";
  if (Contains(tensor, ".ffn_")) return "feed-forward";
  if (Contains(tensor, "text.")) return "text tables";
  return tensor.substr(0, tensor.find('.'));
}

std::vector<Group> TensorGroups(const Model& model) {
  std::vector<Group> groups;
  std::size_t metadata = model.file().size();
  GgufTensor tensor;
  for (TensorIterator tensors(model); tensors.Next(&tensor);) {
    const std::string name(tensor.name.data(), tensor.name.size());
    const std::string group_name = GroupOf(name);
    auto group = std::find_if(
        groups.begin(), groups.end(),
        [&](const Group& known) { return known.name == group_name; });
    if (group == groups.end()) {
      group = groups.insert(groups.end(), Group{group_name, 0, 0});
    }
    group->bytes += tensor.bytes;
    metadata -= tensor.bytes;
    if (Contains(name, ".multiplier") || Contains(name, "text.")) continue;
    std::size_t elements = 1;
    for (std::uint32_t i = 0; i < tensor.dims; ++i) elements *= tensor.shape[i];
    group->parameters += elements;
  }
  groups.push_back({"metadata and padding", 0, metadata});
  return groups;
}

std::size_t Parameters(const std::vector<Group>& groups) {
  std::size_t parameters = 0;
  for (const Group& group : groups) parameters += group.parameters;
  return parameters;
}

const char* InputName(Input input) {
  return input == Input::kText ? "text" : "audio";
}
const char* NormName(Norm norm) { return norm == Norm::kPre ? "pre" : "post"; }
const char* ActivationName(Activation activation) {
  return activation == Activation::kGelu ? "gelu" : "relu";
}
const char* PoolingName(Pooling pooling) {
  return pooling == Pooling::kMean ? "mean" : "class";
}

std::string ChecksumText(std::uint32_t checksum) {
  char text[16];
  std::snprintf(text, sizeof(text), "%08x", checksum);
  return text;
}

nlohmann::ordered_json AudioJson(const EncoderShape& shape) {
  const AudioShape& audio = shape.audio;
  return {{"sample_rate", audio.sample_rate},
          {"frame_length", audio.frame_length},
          {"hop_length", audio.hop_length},
          {"fft_length", audio.fft_length},
          {"bins", audio.bins},
          {"patch_frames", audio.patch_frames},
          {"patch_stride", audio.patch_stride},
          {"window_samples", WindowSamples(shape)},
          {"spotter_arena_bytes", SpotterArenaBytes(shape, kRefMemory)}};
}

void PrintAudio(const EncoderShape& shape) {
  const AudioShape& audio = shape.audio;
  const double rate = audio.sample_rate;
  std::printf(
      "hears       %u Hz: %u bins of %u samples every %u, FFT %u; a row is %u "
      "frames, every %u\n            a look sees %s s; a keyword spotter takes "
      "%s bytes of memory in all\n",
      audio.sample_rate, audio.bins, audio.frame_length, audio.hop_length,
      audio.fft_length, audio.patch_frames, audio.patch_stride,
      Fixed(static_cast<double>(WindowSamples(shape)) / rate, 2).c_str(),
      Grouped(SpotterArenaBytes(shape, kRefMemory)).c_str());
}

void PrintJson(const Model& model, const std::vector<Group>& groups) {
  const EncoderShape& shape = model.shape();
  nlohmann::ordered_json json;
  json["name"] = ToString(model.name());
  json["input"] = InputName(shape.input);
  json["labels"] = LabelsOf(model);
  json["shape"] = {{"tokens", shape.tokens},
                   {"d_model", shape.d_model},
                   {"heads", shape.heads},
                   {"d_ffn", shape.d_ffn},
                   {"blocks", shape.blocks},
                   {"d_input", shape.d_input},
                   {"classes", shape.classes},
                   {"norm", NormName(shape.norm)},
                   {"activation", ActivationName(shape.activation)},
                   {"pooling", PoolingName(shape.pooling)}};
  if (shape.input == Input::kAudio) json["audio"] = AudioJson(shape);
  json["parameters"] = Parameters(groups);
  json["macs_per_token"] = MultiplyAdds(shape, shape.tokens) / shape.tokens;
  json["file_bytes"] = model.file().size();
  // The plan of a microcontroller: scalar kernels, weights read in place.
  json["arena_bytes"] = ArenaBytes(shape, kRefMemory);
  json["arena_bytes_of_this_build"] = ArenaBytes(shape);
  json["checksum"] = ChecksumText(model.checksum());
  for (const Group& group : groups) {
    json["tensor_bytes"][group.name] = group.bytes;
  }
  const EncoderPlan plan = PlanEncoder(shape, kRefMemory);
  for (std::size_t i = 0; i < kEncoderBuffers; ++i) {
    const Buffer& buffer = plan.buffers[i];
    if (buffer.bytes == 0) continue;
    json["arena"].push_back({{"name", kEncoderBufferNames[i]},
                             {"offset", buffer.offset},
                             {"bytes", buffer.bytes},
                             {"first_use", buffer.first_use},
                             {"last_use", buffer.last_use}});
  }
  PutJson(json);
}

void PrintText(const Model& model, const std::vector<Group>& groups) {
  const EncoderShape& shape = model.shape();
  std::string labels;
  for (const std::string& label : LabelsOf(model)) {
    labels += (labels.empty() ? "" : ", ") + label;
  }
  std::printf("%s: %s in, one of %u labels out: %s\n\n",
              ToString(model.name()).c_str(), InputName(shape.input),
              shape.classes, labels.c_str());
  std::printf(
      "shape       %u block%s, d_model %u, %u head%s of %u, d_ffn %u, up to %u "
      "tokens\n",
      shape.blocks, shape.blocks == 1 ? "" : "s", shape.d_model, shape.heads,
      shape.heads == 1 ? "" : "s", shape.d_model / shape.heads, shape.d_ffn,
      shape.tokens);
  std::printf("            %s-norm, %s, %s pooling, input rows of %u\n",
              NormName(shape.norm), ActivationName(shape.activation),
              PoolingName(shape.pooling), shape.d_input);
  if (shape.input == Input::kAudio) PrintAudio(shape);
  std::printf("parameters  %s\n", Grouped(Parameters(groups)).c_str());
  std::printf("work        %s multiply-adds a token at %u tokens, %s at 1\n",
              Grouped(MultiplyAdds(shape, shape.tokens) / shape.tokens).c_str(),
              shape.tokens, Grouped(MultiplyAdds(shape, 1)).c_str());
  std::printf("checksum    %s, matches\n\n",
              ChecksumText(model.checksum()).c_str());

  std::printf("File: %s bytes, read in place\n\n",
              Grouped(model.file().size()).c_str());
  for (const Group& group : groups) {
    const double share = static_cast<double>(group.bytes) /
                         static_cast<double>(model.file().size());
    std::printf(
        "  %-26s %9s  %5s %%  %s\n", group.name.c_str(),
        Grouped(group.bytes).c_str(), Fixed(100 * share, 1).c_str(),
        std::string(static_cast<std::size_t>(std::lround(30 * share)), '#')
            .c_str());
  }

  // PlanEncoder's steps, in order.
  static_assert(kEncoderSteps == 6, "name every step");
  const std::vector<std::string> steps = {"embed",    "keys/val", "attend",
                                          "feed-fwd", "pool",     "head"};
  const EncoderPlan plan = PlanEncoder(shape, kRefMemory);
  std::printf(
      "\nArena: %s bytes of caller's memory, shared over time (%s where SIMD "
      "kernels of\nthis build pack the weights)\n\n%s",
      Grouped(plan.bytes).c_str(), Grouped(ArenaBytes(shape)).c_str(),
      DrawArena(plan.buffers, kEncoderBufferNames, plan.bytes, steps).c_str());
}

}  // namespace

void Inspect(const InspectOptions& options) {
  AlignedBytes file = ReadModel(options.model);
  ErrorInfo error;
  EncoderShape shape;
  error.status = Model::ReadShape(file.bytes(), &shape, &error);
  if (error.status != Status::kOk) Refuse(options.model, error);
  std::vector<BlockWeights> blocks(shape.blocks);
  Model model;
  error.status =
      model.Init(file.bytes(), {blocks.data(), blocks.size()}, &error);
  if (error.status != Status::kOk) Refuse(options.model, error);
  const std::vector<Group> groups = TensorGroups(model);
  if (options.json) {
    PrintJson(model, groups);
  } else {
    PrintText(model, groups);
  }
}

}  // namespace atto::cli
