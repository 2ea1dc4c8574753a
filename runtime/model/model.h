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
}  // namespace model_file

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

class Model {
 public:
  // Alignment that the file's first byte must have.
  static constexpr std::size_t kAlignment = 16;

  // Reads the shape alone, to size memory before Init. Checks the form of all
  // keys and the values of those that the shape is made of, not the checksum
  // or the tensors. `shape` is written on success only.
  static Status ReadShape(Span<const std::uint8_t> file, EncoderShape* shape,
                          ErrorInfo* error = nullptr) noexcept;

  // Validates `file`, aligned to kAlignment, and keeps views into it: the file
  // must outlive the model. `blocks` is the caller's table of at least
  // shape.blocks entries, kept too.
  // Time is linear in the file's size: structure and keys first, then the
  // checksum, then the values of the tensors.
  // On failure the model is empty and `error`, if given, says which key or
  // tensor is wrong, what was found and what was expected. Every status but
  // kNotInitialized, kInvalidArgument and kEmptyInput can occur.
  Status Init(Span<const std::uint8_t> file, Span<BlockWeights> blocks,
              ErrorInfo* error = nullptr) noexcept;

  bool initialized() const noexcept { return !file_.empty(); }
  const EncoderShape& shape() const noexcept { return shape_; }
  // Printable UTF-8, 1..63 bytes, or empty: the file need not give one.
  StringView name() const noexcept { return name_; }
  std::uint32_t checksum() const noexcept { return checksum_; }
  Span<const std::uint8_t> file() const noexcept { return file_; }

  // Printable UTF-8, 1..63 bytes. Legal: i < shape().classes. Walks the list
  // of labels.
  StringView label(std::size_t i) const noexcept;

  // Packs every linear layer for the backend's kernels into `memory`, at least
  // PackedWeightBytes, and keeps pointers to it. Legal: Init has succeeded.
  void PackWeights(const Backend& backend, std::uint8_t* memory) noexcept;

  Span<const BlockWeights> blocks() const noexcept { return blocks_; }
  const Linear& in_proj() const noexcept { return in_proj_; }
  const Linear& head() const noexcept { return head_; }
  // Before the first block (post-norm) or after the last one (pre-norm).
  const LayerNorm& outer_norm() const noexcept { return outer_norm_; }
  unsigned pooling_shift() const noexcept { return pooling_shift_; }

  // [n_max, d] or empty.
  MatrixView<const std::int8_t> positions() const noexcept {
    return positions_;
  }
  unsigned position_shift() const noexcept { return position_shift_; }
  // [d] or empty.
  Span<const std::int16_t> class_token() const noexcept { return class_token_; }

  // Text models only.
  const Embedding& embedding() const noexcept { return embedding_; }
  const TextParams& text_params() const noexcept { return text_params_; }
  const FoldTable& fold_table() const noexcept { return fold_table_; }

  // Audio models only.
  const LogMel& log_mel() const noexcept { return log_mel_; }
  const SpotterParams& spotter_params() const noexcept {
    return spotter_params_;
  }

 private:
  friend class model_file::IntegerModelReader;

  Span<const std::uint8_t> file_;
  EncoderShape shape_;
  StringView name_;
  const std::uint8_t* labels_ = nullptr;  // c strings, each behind its size
  std::uint32_t checksum_ = 0;
  Span<BlockWeights> blocks_;
  Linear in_proj_;
  Linear head_;
  LayerNorm outer_norm_;
  std::uint8_t pooling_shift_ = 0;
  std::uint8_t position_shift_ = 0;
  MatrixView<const std::int8_t> positions_;
  Span<const std::int16_t> class_token_;
  Embedding embedding_;
  TextParams text_params_;
  FoldTable fold_table_;
  LogMel log_mel_;
  SpotterParams spotter_params_;
};

}  // namespace atto

#endif  // ATTO_RUNTIME_MODEL_MODEL_H_
