#include "runtime/encoder.h"

#include <cstring>

#include "runtime/memory/caller_memory.h"

namespace atto {

// What an Init checks before it looks at the model.
Status Encoder::Prepare(Span<const std::uint8_t> file, Span<std::uint8_t> arena,
                        ErrorInfo* error, const Backend* backend) noexcept {
  arena_ = nullptr;
  EndSequence();
  if (backend == nullptr || !backend->supported()) {
    return Fail(error, Status::kUnsupported, "backend",
                "must be one that this build has and this CPU runs", 0, 0);
  }
  return CheckCallerMemory(file, arena, error);
}

Status Encoder::LayOut(const ArenaLayout& layout, Span<std::uint8_t> arena,
                       ErrorInfo* error) noexcept {
  const Status status = CheckArenaSize(arena.size(), layout.bytes, error);
  if (status != Status::kOk) return status;
  layout_ = layout;
  arena_ = arena.data();
  return Status::kOk;
}

// What an Init does once the model's own has given `status`.
Status Encoder::Finish(Status status, const Backend& backend) noexcept {
  if (status != Status::kOk) {
    arena_ = nullptr;
    return status;
  }
  backend_ = &backend;
  if (kBuildPacks && backend.pack_linear != nullptr) {
    model_.PackWeights(backend, buffer<BlockWeights>(kBlockTable),
                       buffer<std::uint8_t>(kPackedWeights));
  }
  tap_ = AttentionTap{};
  Start();
  return Status::kOk;
}

Status Encoder::Init(Span<const std::uint8_t> file, Span<std::uint8_t> arena,
                     ErrorInfo* error, const Backend* backend) noexcept {
  Status status = Prepare(file, arena, error, backend);
  if (status != Status::kOk) return status;
  EncoderShape shape;
  status = Model::ReadShape(file, &shape, error);
  if (status != Status::kOk) return status;
  status = LayOut(LayOutArena(shape, backend->memory), arena, error);
  if (status != Status::kOk) return status;
  return Finish(
      model_.Init(
          file,
          Span<BlockWeights>(buffer<BlockWeights>(kBlockTable), shape.blocks),
          error),
      *backend);
}

Status Encoder::Init(const EmbeddedModel& model, Span<std::uint8_t> arena,
                     ErrorInfo* error, const Backend* backend) noexcept {
  Status status = Prepare({model.parts.file, model.parts.file_bytes}, arena,
                          error, backend);
  if (status == Status::kOk) status = LayOut(*model.layout, arena, error);
  if (status != Status::kOk) return status;
  return Finish(model_.Init(model.parts, model.file_crc, error), *backend);
}

Status Encoder::set_tap(const AttentionTap& tap) noexcept {
  if (!initialized()) return Status::kNotInitialized;
  if (tap.on_row != nullptr && tap.buffer.data() == nullptr) {
    return Status::kNullPointer;
  }
  if (tap.on_row != nullptr &&
      tap.buffer.size() < AttentionTapBytes(model_.shape())) {
    return Status::kBufferTooSmall;
  }
  tap_ = tap;
  return Status::kOk;
}

MatrixView<std::int16_t> Encoder::residual() noexcept {
  return {buffer<std::int16_t>(kResidual), rows_, model_.shape().d_model};
}

MatrixView<std::int8_t> Encoder::tile(EncoderBuffer which, std::size_t rows,
                                      std::size_t cols) noexcept {
  return {buffer<std::int8_t>(which), rows, cols};
}

void Encoder::EndSequence() noexcept {
  rows_ = 0;
  projected_ = 0;
  row_limit_ = 0;
}

void Encoder::Start() noexcept {
  if (!initialized()) return;
  row_limit_ = model_.shape().tokens;
  rows_ = 0;
  projected_ = 0;
  if (!model_.class_token().empty()) {
    rows_ = 1;
    projected_ = 1;
    const std::size_t d = model_.shape().d_model;
    std::memcpy(buffer<std::int16_t>(kResidual), model_.class_token().data(),
                d * sizeof(std::int16_t));
  }
}

std::int8_t* Encoder::NextRow() noexcept {
  if (rows_ == row_limit_) return nullptr;
  if (rows_ - projected_ == backend_->memory.tile_rows) ProjectPendingRows();
  const std::size_t pending = rows_ - projected_;
  ++rows_;
  return buffer<std::int8_t>(kTileInput) + pending * model_.shape().d_input;
}

// tile input [pending, e] -> residual stream.
void Encoder::ProjectPendingRows() noexcept {
  const std::size_t pending = rows_ - projected_;
  if (pending == 0) return;
  backend_->matmul_s16(model_.in_proj(),
                       tile(kTileInput, pending, model_.shape().d_input),
                       residual().row_range(projected_, pending));
  projected_ = rows_;
}

// The int8 view of the residual stream that a block's layers read.
void Encoder::QuantiseRows(MatrixView<const std::int16_t> x,
                           const LayerNorm& norm,
                           MatrixView<std::int8_t> y) noexcept {
  if (model_.shape().norm == Norm::kPre) {
    backend_->layernorm_s8(norm, x, y);
  } else {
    backend_->quantise_s8(
        norm.shift, Span<const std::int16_t>(x.data(), x.rows() * x.cols()),
        y.data());
  }
}

void Encoder::KeysAndValues(const BlockWeights& block,
                            const LayerNorm& norm) noexcept {
  const std::size_t d = model_.shape().d_model;
  const MatrixView<std::int8_t> keys = tile(kKeys, rows_, d);
  const MatrixView<std::int8_t> values = tile(kValues, rows_, d);
  const std::size_t tile_rows = backend_->memory.tile_rows;
  for (std::size_t first = 0; first < rows_; first += tile_rows) {
    const std::size_t left = rows_ - first;
    const std::size_t count = left < tile_rows ? left : tile_rows;
    const MatrixView<std::int8_t> y = tile(kTileNorm, count, d);
    QuantiseRows(residual().row_range(first, count), norm, y);
    backend_->matmul_s8(block.k, y, keys.row_range(first, count));
    backend_->matmul_s8(block.v, y, values.row_range(first, count));
  }
}

void Encoder::AttendTile(std::size_t block_index, const LayerNorm& norm,
                         std::size_t first, std::size_t count) noexcept {
  const BlockWeights& block = model_.blocks()[block_index];
  const EncoderShape& shape = model_.shape();
  const std::size_t d = shape.d_model;
  const MatrixView<std::int16_t> x = residual().row_range(first, count);
  const MatrixView<std::int8_t> y = tile(kTileNorm, count, d);
  const MatrixView<std::int8_t> query = tile(kTileQuery, count, d);
  // With a single tile, KeysAndValues has just left the same rows in `y`.
  if (rows_ > backend_->memory.tile_rows) QuantiseRows(x, norm, y);
  backend_->matmul_s8(block.q, y, query);
  std::int8_t* const weights =
      tap_.on_row != nullptr ? tap_.buffer.data() : nullptr;
  backend_->attention_s8(block.attention, query, tile(kKeys, rows_, d),
                         tile(kValues, rows_, d), query,
                         buffer<std::uint8_t>(kScores), weights);
  backend_->matmul_add_s16(block.o, query, x);
  if (weights == nullptr) return;
  for (std::size_t i = 0; i < count * shape.heads; ++i) {
    AttentionRow row;
    row.block = block_index;
    row.head = i % shape.heads;
    row.query = first + i / shape.heads;
    row.weights = Span<const std::int8_t>(weights + i * rows_, rows_);
    row.sum = 0;
    for (const std::int8_t weight : row.weights) row.sum += weight;
    tap_.on_row(tap_.context, row);
  }
}

void Encoder::FeedForwardTile(const BlockWeights& block, std::size_t first,
                              std::size_t count) noexcept {
  const EncoderShape& shape = model_.shape();
  const MatrixView<std::int16_t> x = residual().row_range(first, count);
  const MatrixView<std::int8_t> y = tile(kTileNorm, count, shape.d_model);
  const MatrixView<std::int8_t> hidden = tile(kTileHidden, count, shape.d_ffn);
  const Span<std::int8_t> flat(hidden.data(), count * shape.d_ffn);
  const bool post = shape.norm == Norm::kPost;
  if (post) backend_->layernorm_s16(block.attn_norm, x, x);
  QuantiseRows(x, post ? block.attn_norm : block.ffn_norm, y);
  backend_->matmul_s8(block.up, y, hidden);
  if (shape.activation == Activation::kGelu) {
    backend_->gelu_s8(block.gelu_fraction_bits, flat);
  } else {
    backend_->relu_s8(flat);
  }
  backend_->matmul_add_s16(block.down, hidden, x);
  if (post) backend_->layernorm_s16(block.ffn_norm, x, x);
}

// Residual stream -> pooled [d] int8. `norm`: the one that the int8 view uses.
void Encoder::Pool(const LayerNorm& norm) noexcept {
  const EncoderShape& shape = model_.shape();
  const std::size_t d = shape.d_model;
  std::int8_t* const pooled = buffer<std::int8_t>(kPooled);
  if (shape.pooling == Pooling::kClass) {
    QuantiseRows(residual().row_range(0, 1), norm, tile(kPooled, 1, d));
    return;
  }
  std::int32_t* const sums = buffer<std::int32_t>(kPoolSums);
  std::memset(sums, 0, d * sizeof(std::int32_t));
  const std::size_t tile_rows = backend_->memory.tile_rows;
  for (std::size_t first = 0; first < rows_; first += tile_rows) {
    const std::size_t left = rows_ - first;
    const std::size_t count = left < tile_rows ? left : tile_rows;
    const MatrixView<std::int8_t> y = tile(kTileNorm, count, d);
    QuantiseRows(residual().row_range(first, count), norm, y);
    backend_->sum_rows_s8(y, sums);
  }
  backend_->mean_s8(Span<const std::int32_t>(sums, d), rows_,
                    model_.pooling_shift(), pooled);
}

Status Encoder::Run(Span<const std::int16_t>* logits) noexcept {
  if (!initialized()) return Status::kNotInitialized;
  if (logits == nullptr) return Status::kNullPointer;
  const EncoderShape& shape = model_.shape();
  const std::size_t own_rows = model_.class_token().empty() ? 0 : 1;
  if (rows_ <= own_rows) return Status::kEmptyInput;
  ProjectPendingRows();
  const MatrixView<const std::int8_t> positions = model_.positions();
  if (positions.rows() != 0) {
    backend_->add_shifted_s8(
        model_.position_shift(),
        Span<const std::int8_t>(positions.data(), rows_ * shape.d_model),
        residual().data());
  }
  const bool post = shape.norm == Norm::kPost;
  if (post) {
    backend_->layernorm_s16(model_.outer_norm(), residual(), residual());
  }
  // Post-norm reads x through the shift of the norm that wrote it last.
  const LayerNorm* last_norm = &model_.outer_norm();
  for (std::size_t i = 0; i < shape.blocks; ++i) {
    const BlockWeights& block = model_.blocks()[i];
    const LayerNorm& norm = post ? *last_norm : block.attn_norm;
    KeysAndValues(block, norm);
    // Only row 0 of the last block reaches a class-token head.
    const bool only_class =
        shape.pooling == Pooling::kClass && i + 1U == shape.blocks;
    const std::size_t rows = only_class ? 1 : rows_;
    const std::size_t tile_rows = backend_->memory.tile_rows;
    for (std::size_t first = 0; first < rows; first += tile_rows) {
      const std::size_t left = rows - first;
      const std::size_t count = left < tile_rows ? left : tile_rows;
      AttendTile(i, norm, first, count);
      FeedForwardTile(block, first, count);
    }
    if (post) last_norm = &block.ffn_norm;
  }
  Pool(*last_norm);
  std::int16_t* const result = buffer<std::int16_t>(kLogits);
  backend_->matmul_s16(model_.head(), tile(kPooled, 1, shape.d_model),
                       MatrixView<std::int16_t>(result, 1, shape.classes));
  *logits = Span<const std::int16_t>(result, shape.classes);
  // The residual stream is spent: running again needs a new sequence.
  EndSequence();
  return Status::kOk;
}

}  // namespace atto
