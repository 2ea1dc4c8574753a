// Reads a model as a device would, and prints what Model::Init found out as the
// C++ constants of an atto::EmbeddedModel. The last step of embed_model.py,
// which gives it the file and the name of the array that holds its bytes.
//
// Built for the computer that builds, not for the device: atto_embed_model.
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/error_info.h"
#include "runtime/model/crc32.h"
#include "runtime/model/model.h"

namespace {

using atto::ModelParts;

struct alignas(atto::Model::kAlignment) AlignedUnit {
  std::uint8_t bytes[atto::Model::kAlignment];
};

// Prints initializers, addresses as offsets into the array of that name.
class Printer {
 public:
  Printer(const ModelParts& parts, const char* name)
      : parts_(parts), name_(name) {}

  void PrintBlocks() const {
    std::printf("const atto::BlockWeights blocks[] = {\n");
    for (std::size_t i = 0; i < parts_.shape.blocks; ++i) {
      const atto::BlockWeights& block = parts_.blocks[i];
      std::printf("    {");
      for (const atto::Linear* linear :
           {&block.q, &block.k, &block.v, &block.o, &block.up, &block.down}) {
        Print(*linear);
      }
      Print(block.attn_norm);
      Print(block.ffn_norm);
      std::printf("{{%d, %d}, %d, %d}, %d},\n",
                  block.attention.softmax.multiplier,
                  block.attention.softmax.shift, block.attention.heads,
                  block.attention.d_head, block.gelu_fraction_bits);
    }
    std::printf("};\n");
  }

  // All of ModelParts, in its order.
  void PrintParts() const {
    std::printf("const atto::ModelParts parts =\n    {%s_bytes,\n     %" PRIu32
                ",\n     0x%08" PRIX32 ",\n     %s::Model::kShape,\n     ",
                name_, parts_.file_bytes, parts_.checksum, name_);
    Print(parts_.name);
    Print(parts_.labels);
    std::printf("blocks,\n     ");
    Print(parts_.in_proj);
    Print(parts_.head);
    Print(parts_.outer_norm);
    std::printf("%d, %d,\n     ", parts_.pooling_shift, parts_.position_shift);
    Print(parts_.positions);
    Print(parts_.class_token);
    std::printf("\n     {");
    Print(parts_.embedding.table);
    std::printf("%d, %d, %d},\n     ", parts_.embedding.rows,
                parts_.embedding.width, parts_.embedding.multiplier);
    const atto::TextParams& text = parts_.text_params;
    std::printf("{%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32
                ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32
                "},\n     ",
                text.version, text.buckets, text.features, text.ngram_min,
                text.ngram_max, text.max_word_chars, text.max_features,
                text.phone_min_digits, text.join_spaced_min,
                text.join_dotted_min);
    Print(parts_.fold_table);
    const atto::LogMel& mel = parts_.log_mel;
    std::printf("\n     {");
    Print(mel.window);
    Print(mel.filters);
    Print(mel.weights);
    std::printf("%d, %d, %d, %d, %" PRId32 "},\n     ", mel.frame_length,
                mel.fft_length, mel.bins, mel.multiplier, mel.offset);
    const atto::SpotterParams& spotter = parts_.spotter_params;
    std::printf("{%d, %d, %d, %d, %d, ", spotter.hop, spotter.smoothing,
                spotter.looks, spotter.votes, spotter.refractory);
    Print(spotter.thresholds);
    std::printf("}};\n");
  }

 private:
  std::ptrdiff_t Offset(const void* data) const {
    return static_cast<const std::uint8_t*>(data) - parts_.file;
  }
  void Print(const std::uint8_t* data) const {
    if (data == nullptr) return Print("nullptr");
    std::printf("%s_bytes + %td, ", name_, Offset(data));
  }
  void Print(const std::int8_t* data) const { Print("std::int8_t", data); }
  void Print(const std::int16_t* data) const { Print("std::int16_t", data); }
  void Print(const std::int32_t* data) const { Print("std::int32_t", data); }
  void Print(const char* text) const { std::printf("%s, ", text); }
  void Print(const char* type, const void* data) const {
    if (data == nullptr) return Print("nullptr");
    std::printf("ATTO_AT(%s, %td), ", type, Offset(data));
  }
  void Print(const atto::Linear& linear) const {
    std::printf("{");
    Print(linear.weights);
    Print(linear.bias);
    Print(linear.multiplier);
    std::printf("%d, %d, %d, nullptr},\n     ", linear.in, linear.out,
                linear.shift);
  }
  void Print(const atto::LayerNorm& norm) const {
    std::printf("{");
    Print(norm.gain);
    Print(norm.bias);
    std::printf("%d, %d, %d},\n     ", norm.d, norm.sqrt_d, norm.shift);
  }

  const ModelParts& parts_;
  const char* name_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: embed_parts MODEL NAME\n");
    return 2;
  }
  std::ifstream stream(argv[1], std::ios::binary);
  const std::string read((std::istreambuf_iterator<char>(stream)), {});
  if (!stream) {
    std::fprintf(stderr, "cannot be read\n");
    return 1;
  }
  std::vector<AlignedUnit> aligned(read.size() / sizeof(AlignedUnit) + 1);
  std::uint8_t* const bytes = aligned.data()->bytes;
  read.copy(reinterpret_cast<char*>(bytes), read.size());
  const atto::Span<const std::uint8_t> file(bytes, read.size());

  std::vector<atto::BlockWeights> blocks(atto::EncoderShape::kMaxBlocks);
  atto::Model model;
  atto::ErrorInfo error;
  if (model.Init(file, {blocks.data(), blocks.size()}, &error) !=
      atto::Status::kOk) {
    std::fprintf(stderr, "%s %s (found %" PRId64 ", expected %" PRId64 ")\n",
                 error.subject, error.expectation, error.found, error.expected);
    return 1;
  }
  const Printer printer(model.parts(), argv[2]);
  std::printf("namespace {\n\n");
  printer.PrintBlocks();
  printer.PrintParts();
  std::printf(
      "constexpr atto::ArenaLayout layout =\n"
      "    atto::LayOutArena(%s::Model::kShape);\n\n"
      "}  // namespace\n\n"
      "extern const atto_embedded_model %s_embedded = {\n"
      "    parts, 0x%08" PRIX32 ", &layout};\n",
      argv[2], argv[2], atto::Crc32(file));
  return 0;
}
