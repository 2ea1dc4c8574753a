// The float twin of a model, read in place from a file of its own. Format:
// docs/model_format.md, "Float models". Host builds only.
//
// Validated once, in Init, as Model is; after that every pointer and number
// here can be trusted.
#ifndef ATTO_RUNTIME_MODEL_FLOAT_MODEL_H_
#define ATTO_RUNTIME_MODEL_FLOAT_MODEL_H_

#include <cstddef>
#include <cstdint>

#include "ops/base/span.h"
#include "ops/base/status.h"
#include "ops/float_backend.h"
#include "ops/logmel/logmel.h"
#include "runtime/audio/spotter_params.h"
#include "runtime/error_info.h"
#include "runtime/model/gguf.h"
#include "runtime/model/shape.h"
#include "runtime/text/fold_table.h"
#include "runtime/text/tokenizer.h"

namespace atto {

namespace model_file {
class FloatModelReader;
}  // namespace model_file

// Weights of one encoder block; the arrays stay in the model file.
struct FloatBlockWeights {
  FloatLinear q, k, v, o;    // [d, d]
  FloatLinear up;            // [f, d]
  FloatLinear down;          // [d, f]
  FloatLayerNorm attn_norm;  // before (pre) or after (post) attention
  FloatLayerNorm ffn_norm;   // the same for the feed-forward layer
};

class FloatModel {
 public:
  // Alignment that the file's first byte must have.
  static constexpr std::size_t kAlignment = 16;
  // No parameter is larger: then no sum of the encoder leaves the range of
  // float, whatever the input (text, or audio rows in [-127, 127]).
  static constexpr std::int32_t kMaxParameter = 256;

  // Reads the shape alone; as Model::ReadShape.
  static Status ReadShape(Span<const std::uint8_t> file, EncoderShape* shape,
                          ErrorInfo* error = nullptr) noexcept;

  // Validates `file`, aligned to kAlignment, and keeps views into it: the file
  // must outlive the model. `blocks` is the caller's table of at least
  // shape.blocks entries, kept too. Statuses: as Model::Init.
  Status Init(Span<const std::uint8_t> file, Span<FloatBlockWeights> blocks,
              ErrorInfo* error = nullptr) noexcept;

  bool initialized() const noexcept { return !file_.empty(); }
  const EncoderShape& shape() const noexcept { return shape_; }
  // Printable UTF-8, 1..63 bytes, or empty: the file need not give one.
  StringView name() const noexcept { return name_; }
  std::uint32_t checksum() const noexcept { return checksum_; }
  Span<const std::uint8_t> file() const noexcept { return file_; }

  // Printable UTF-8, 1..63 bytes. Legal: i < shape().classes.
  StringView label(std::size_t i) const noexcept;

  // Packs every linear layer for the backend's kernels into `memory`, at least
  // PackedFloatWeightsSize floats, and keeps pointers to it.
  // Legal: Init has succeeded.
  void PackWeights(const FloatBackend& backend, float* memory) noexcept;

  Span<const FloatBlockWeights> blocks() const noexcept { return blocks_; }
  const FloatLinear& in_proj() const noexcept { return in_proj_; }
  const FloatLinear& head() const noexcept { return head_; }
  // Before the first block (post-norm) or after the last one (pre-norm).
  const FloatLayerNorm& outer_norm() const noexcept { return outer_norm_; }
  // [n_max, d] or empty.
  MatrixView<const float> positions() const noexcept { return positions_; }
  // [d] or empty.
  Span<const float> class_token() const noexcept { return class_token_; }

  // Text models only.
  const FloatEmbedding& embedding() const noexcept { return embedding_; }
  const TextParams& text_params() const noexcept { return text_params_; }
  const FoldTable& fold_table() const noexcept { return fold_table_; }

  // Audio models only.
  const LogMel& log_mel() const noexcept { return log_mel_; }
  const SpotterParams& spotter_params() const noexcept {
    return spotter_params_;
  }

 private:
  friend class model_file::FloatModelReader;

  Span<const std::uint8_t> file_;
  EncoderShape shape_;
  StringView name_;
  const std::uint8_t* labels_ = nullptr;  // c strings, each behind its size
  std::uint32_t checksum_ = 0;
  Span<FloatBlockWeights> blocks_;
  FloatLinear in_proj_;
  FloatLinear head_;
  FloatLayerNorm outer_norm_;
  MatrixView<const float> positions_;
  Span<const float> class_token_;
  FloatEmbedding embedding_;
  TextParams text_params_;
  FoldTable fold_table_;
  LogMel log_mel_;
  SpotterParams spotter_params_;
};

}  // namespace atto

#endif  // ATTO_RUNTIME_MODEL_FLOAT_MODEL_H_
