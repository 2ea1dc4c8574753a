// The transformer encoder: int8 rows in, logits out.
//
// Depth-first: a tile of rows passes through attention and feed-forward layer
// before the next tile starts, so only the residual stream, keys and values
// exist for all tokens. Arithmetic: docs/quantization.md, "The encoder".
#ifndef ATTO_RUNTIME_ENCODER_H_
#define ATTO_RUNTIME_ENCODER_H_

#include <cstddef>
#include <cstdint>

#include "ops/backend.h"
#include "ops/base/span.h"
#include "ops/base/status.h"
#include "runtime/embedded_model.h"
#include "runtime/error_info.h"
#include "runtime/memory/encoder_plan.h"
#include "runtime/model/model.h"

namespace atto {

// One row of attention: what one query token of one head looked at.
struct AttentionRow {
  std::size_t block;
  std::size_t head;
  std::size_t query;                // row of the query token
  Span<const std::int8_t> weights;  // [n] in [0, 127], relative to the largest
  std::int32_t sum;  // of the weights: probability = weight / sum
};

// Hands out the attention rows of every block and head while the encoder runs.
struct AttentionTap {
  // Called once a row, in the order of the work: block, query, head.
  void (*on_row)(void* context, const AttentionRow& row) = nullptr;
  void* context = nullptr;
  // Caller's memory of at least AttentionTapBytes(shape).
  Span<std::int8_t> buffer;
};

constexpr std::size_t AttentionTapBytes(const EncoderShape& shape) noexcept {
  return std::size_t{kBuildMemory.tile_rows} * shape.heads * shape.tokens;
}

class Encoder {
 public:
  // `file`: the model, kept and read in place; aligned to Model::kAlignment.
  // `arena`: at least ArenaBytes(shape, backend->memory) bytes aligned to
  // kArenaAlignment; kept. `backend`: what runs; null is kUnsupported.
  // On failure nothing may be run and `error`, if given, names the culprit.
  Status Init(Span<const std::uint8_t> file, Span<std::uint8_t> arena,
              ErrorInfo* error = nullptr,
              const Backend* backend = DefaultBackend(),
              const ModelKinds& kinds = kAnyModel) noexcept;

  // The same for a model that atto_embed_model has proved: checks its bytes'
  // CRC-32 alone, and needs no reader. `arena`: at least ArenaBytes(shape).
  Status Init(const EmbeddedModel& model, Span<std::uint8_t> arena,
              ErrorInfo* error = nullptr,
              const Backend* backend = DefaultBackend()) noexcept;

  // Legal: Init has succeeded.
  const Backend& backend() const noexcept { return *backend_; }

  // Kept until changed or until the next Init; a default tap switches it off.
  // kNullPointer, kBufferTooSmall: the buffer is not there or too small.
  Status set_tap(const AttentionTap& tap) noexcept;

  bool initialized() const noexcept { return arena_ != nullptr; }
  // Of the arena, that are in use: the rest is the caller's.
  std::size_t arena_bytes() const noexcept { return layout_.bytes; }
  const Model& model() const noexcept { return model_; }

  // A sequence: Start (Init starts the first one), then rows, then Run.
  void Start() noexcept;

  // Where the next input row, [e] int8 in [-127, 127], is to be written; null
  // when the sequence is full or none has been started since Run. The row
  // counts as soon as it was handed out.
  std::int8_t* NextRow() noexcept;

  // Rows so far, a class token included.
  std::size_t rows() const noexcept { return rows_; }

  // Runs the encoder over the rows since Start. The result [c], logits in units
  // of 1/256 nat, stays valid until the next Start.
  // kNotInitialized, kNullPointer; kEmptyInput: no input row since Start.
  Status Run(Span<const std::int16_t>* logits) noexcept;

  // Memory of the arena for the owner of this encoder: valid as the plan says.
  template <typename T>
  T* buffer(EncoderBuffer which) noexcept {
    // Every buffer is aligned to kArenaAlignment.
    return static_cast<T*>(static_cast<void*>(arena_ + layout_.offsets[which]));
  }

 private:
  Status Prepare(Span<const std::uint8_t> file, Span<std::uint8_t> arena,
                 ErrorInfo* error, const Backend* backend) noexcept;
  Status LayOut(const ArenaLayout& layout, Span<std::uint8_t> arena,
                ErrorInfo* error) noexcept;
  Status Finish(Status status, const Backend& backend) noexcept;
  void Clear() noexcept;
  void EndSequence() noexcept;
  void ProjectPendingRows() noexcept;
  void Multiply(const Linear& linear, const std::int8_t* x, std::size_t rows,
                std::int8_t* y) const noexcept;
  void Multiply(const Linear& linear, const std::int8_t* x, std::size_t rows,
                std::int16_t* y) const noexcept;
  void MultiplyAdd(const Linear& linear, const std::int8_t* x, std::size_t rows,
                   std::int16_t* r) const noexcept;
  void Normalise(const LayerNorm& norm, std::int16_t* x,
                 std::size_t rows) const noexcept;
  std::int16_t* residual(std::size_t row) noexcept;
  std::size_t TileRows(std::size_t first, std::size_t rows) const noexcept;
  void QuantiseRows(const LayerNorm& norm, const std::int16_t* x,
                    std::size_t rows, std::int8_t* y) noexcept;
  void KeysAndValues(const BlockWeights& block, const LayerNorm& norm) noexcept;
  void AttendTile(std::size_t block_index, const LayerNorm& norm,
                  std::size_t first, std::size_t count) noexcept;
  void ShowRows(std::size_t block_index, std::size_t first,
                std::size_t count) noexcept;
  void FeedForwardTile(const BlockWeights& block, std::size_t first,
                       std::size_t count) noexcept;
  void Pool(const LayerNorm& norm) noexcept;

  Model model_;
  ArenaLayout layout_;
  const Backend* backend_ = nullptr;
  AttentionTap tap_;
  // Set with the tap: a program that sets none is linked without ShowRows.
  void (Encoder::*show_rows_)(std::size_t block_index, std::size_t first,
                              std::size_t count) noexcept = nullptr;
  std::uint8_t* arena_ = nullptr;
  std::size_t row_limit_ = 0;  // of this sequence; 0 outside of one
  std::size_t rows_ = 0;       // handed out, class token included
  std::size_t projected_ = 0;  // of these, already in the residual stream
};

}  // namespace atto

#endif  // ATTO_RUNTIME_ENCODER_H_
