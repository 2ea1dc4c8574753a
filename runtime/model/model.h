// A model file, read in place. Format: docs/model_format.md.
//
// The file is validated once, in Init: container, checksum, keys, shapes, value
// ranges. After that every pointer and number here can be trusted.
#ifndef ATTO_RUNTIME_MODEL_MODEL_H_
#define ATTO_RUNTIME_MODEL_MODEL_H_

#include <cstddef>
#include <cstdint>

#include "ops/attention/attention.h"
#include "ops/backend.h"
#include "ops/base/span.h"
#include "ops/base/status.h"
#include "ops/embedding/embedding.h"
#include "ops/layernorm/layernorm.h"
#include "ops/logmel/logmel.h"
#include "ops/matmul/matmul.h"
#include "runtime/audio/spotter_params.h"
#include "runtime/error_info.h"
#include "runtime/model/gguf.h"
#include "runtime/model/shape.h"
#include "runtime/text/fold_table.h"
#include "runtime/text/tokenizer.h"

namespace atto {

namespace model_file {
class IntegerModelReader;
struct ModelFormat;
}  // namespace model_file

// The kinds of models that a call takes: text and audio, or text alone. A
// program that names kTextModel only is linked without what reads the others.
using ModelKinds = model_file::ModelFormat;
extern const ModelKinds kAnyModel;
extern const ModelKinds kTextModel;

// Weights of one encoder block; the arrays stay in the model file.
struct BlockWeights {
  Linear q, k, v, o;    // [d, d]
  Linear up;            // [f, d]
  Linear down;          // [d, f]
  LayerNorm attn_norm;  // before (pre) or after (post) attention
  LayerNorm ffn_norm;   // before (pre) or after (post) the feed-forward layer
  Attention attention;
  std::uint8_t gelu_fraction_bits = 0;  // 3..6 with GELU
};

// What a checked model says: addresses in its file, and numbers. Plain, so that
// a generated source can hold one as a constant; all zero at first, so that
// classifiers cost no flash for what they begin with.
struct ModelParts {
  const std::uint8_t* file = nullptr;  // null: no model
  std::uint32_t file_bytes = 0;
  std::uint32_t checksum = 0;  // as the file gives it
  EncoderShape shape;
  const std::uint8_t* name = nullptr;    // a string behind its size; optional
  const std::uint8_t* labels = nullptr;  // c of them
  const BlockWeights* blocks = nullptr;  // [shape.blocks]
  Linear in_proj;                        // [d, e]
  Linear head;                           // [c, d]
  LayerNorm outer_norm;
  std::uint8_t pooling_shift = 0;
  std::uint8_t position_shift = 0;
  const std::int8_t* positions = nullptr;     // [n_max, d], optional
  const std::int16_t* class_token = nullptr;  // [d], optional
  // Text.
  Embedding embedding = {nullptr, 0, 0, 0};
  TextParams text_params = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const std::uint8_t* fold_table = nullptr;
  // Audio.
  LogMel log_mel = {nullptr, nullptr, nullptr, 0, 0, 0, 0, 0};
  SpotterParams spotter_params = {0, 0, 0, 0, 0, nullptr};
};

class Model {
 public:
  // Alignment that the file's first byte must have.
  static constexpr std::size_t kAlignment = 16;

  // Reads the shape alone, to size memory before Init. Checks the form of all
  // keys and the values of those that the shape is made of, not that labels
  // differ, nor the checksum or the tensors. `shape` is written on success
  // only.
  static Status ReadShape(Span<const std::uint8_t> file, EncoderShape* shape,
                          ErrorInfo* error = nullptr,
                          const ModelKinds& kinds = kAnyModel) noexcept;

  // Validates `file`, aligned to kAlignment, and keeps views into it: the file
  // must outlive the model. `blocks` is the caller's table of at least
  // shape.blocks entries, kept too.
  // Time is linear in the file's size, but for labels, of which every pair is
  // compared: structure and keys first, then the checksum, then the values of
  // the tensors.
  // On failure the model is empty and `error`, if given, says which key or
  // tensor is wrong, what was found and what was expected. Every status but
  // kNotInitialized, kInvalidArgument and kEmptyInput can occur.
  Status Init(Span<const std::uint8_t> file, Span<BlockWeights> blocks,
              ErrorInfo* error = nullptr,
              const ModelKinds& kinds = kAnyModel) noexcept;

  // Takes a model whose parts the reader has proved before, if `file_crc` is
  // the CRC-32 of its file as it stands: one pass over the bytes instead of all
  // checks. Legal: parts that Init left, or that atto_embed_model wrote.
  // kBadChecksum: the bytes are not those that were proved; the model is empty.
  Status Init(const ModelParts& parts, std::uint32_t file_crc,
              ErrorInfo* error = nullptr) noexcept;

  bool initialized() const noexcept { return parts_.file != nullptr; }
  const ModelParts& parts() const noexcept { return parts_; }
  const EncoderShape& shape() const noexcept { return parts_.shape; }
  // Printable UTF-8, 1..63 bytes, or empty: the file need not give one.
  StringView name() const noexcept;
  std::uint32_t checksum() const noexcept { return parts_.checksum; }
  Span<const std::uint8_t> file() const noexcept {
    return {parts_.file, parts_.file_bytes};
  }

  // Printable UTF-8, 1..63 bytes. Legal: i < shape().classes. Walks the list
  // of labels.
  StringView label(std::size_t i) const noexcept;

  // Packs every linear layer for the backend's kernels into `memory`, at least
  // PackedWeightBytes, and keeps pointers to it, those of the blocks in
  // `blocks`, which has shape().blocks entries and may be the table that Init
  // was given. Legal: Init has succeeded.
  void PackWeights(const Backend& backend, BlockWeights* blocks,
                   std::uint8_t* memory) noexcept;

  Span<const BlockWeights> blocks() const noexcept {
    return {parts_.blocks, parts_.shape.blocks};
  }
  const Linear& in_proj() const noexcept { return parts_.in_proj; }
  const Linear& head() const noexcept { return parts_.head; }
  // Before the first block (post-norm) or after the last one (pre-norm).
  const LayerNorm& outer_norm() const noexcept { return parts_.outer_norm; }
  unsigned pooling_shift() const noexcept { return parts_.pooling_shift; }

  // [n_max, d] or empty.
  MatrixView<const std::int8_t> positions() const noexcept {
    if (parts_.positions == nullptr) return {};
    return {parts_.positions, parts_.shape.tokens, parts_.shape.d_model};
  }
  unsigned position_shift() const noexcept { return parts_.position_shift; }
  // [d] or empty.
  Span<const std::int16_t> class_token() const noexcept {
    if (parts_.class_token == nullptr) return {};
    return {parts_.class_token, parts_.shape.d_model};
  }

  // Text models only.
  const Embedding& embedding() const noexcept { return parts_.embedding; }
  const TextParams& text_params() const noexcept { return parts_.text_params; }
  const FoldTable& fold_table() const noexcept { return fold_table_; }

  // Audio models only.
  const LogMel& log_mel() const noexcept { return parts_.log_mel; }
  const SpotterParams& spotter_params() const noexcept {
    return parts_.spotter_params;
  }

 private:
  friend class model_file::IntegerModelReader;

  ModelParts parts_;
  FoldTable fold_table_;
};

}  // namespace atto

#endif  // ATTO_RUNTIME_MODEL_MODEL_H_
