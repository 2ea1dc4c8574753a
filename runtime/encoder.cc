#include "runtime/encoder.h"

#include <cstring>

#include "runtime/memory/caller_memory.h"

namespace atto {

// Nothing of an earlier model stays behind: its memory may be gone.
void Encoder::Clear() noexcept {
  arena_ = nullptr;
  model_ = Model();
  layout_ = ArenaLayout();
  EndSequence();
}

// What an Init checks before it looks at the model.
Status Encoder::Prepare(Span<const std::uint8_t> file, Span<std::uint8_t> arena,
                        ErrorInfo* error, const Backend* backend) noexcept {
  Clear();
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
    Clear();
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
                     ErrorInfo* error, const Backend* backend,
                     const ModelKinds& kinds) noexcept {
  Status status = Prepare(file, arena, error, backend);
  if (status != Status::kOk) return status;
  EncoderShape shape;
  status = Model::ReadShape(file, &shape, error, kinds);
  if (status != Status::kOk) return status;
  status = LayOut(LayOutArena(shape, backend->memory), arena, error);
  if (status != Status::kOk) return status;
  return Finish(
      model_.Init(
          file,
          Span<BlockWeights>(buffer<BlockWeights>(kBlockTable), shape.blocks),
          error, kinds),
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
  show_rows_ = &Encoder::ShowRows;
  return Status::kOk;
}

// Kernels on rows that lie one behind the other. The views of a call are made
// here and not where it is needed: a view is three words, and a dozen calls
// that pass two of them are a good part of an encoder.
void Encoder::Multiply(const Linear& linear, const std::int8_t* x,
                       std::size_t rows, std::int8_t* y) const noexcept {
  backend_->matmul_s8(linear, {x, rows, linear.in}, {y, rows, linear.out});
}

void Encoder::Multiply(const Linear& linear, const std::int8_t* x,
                       std::size_t rows, std::int16_t* y) const noexcept {
  backend_->matmul_s16(linear, {x, rows, linear.in}, {y, rows, linear.out});
}

void Encoder::MultiplyAdd(const Linear& linear, const std::int8_t* x,
                          std::size_t rows, std::int16_t* r) const noexcept {
  backend_->matmul_add_s16(linear, {x, rows, linear.in}, {r, rows, linear.out});
}

void Encoder::Normalise(const LayerNorm& norm, std::int16_t* x,
                        std::size_t rows) const noexcept {
  const MatrixView<std::int16_t> view(x, rows, norm.d);
  backend_->layernorm_s16(norm, view, view);
}

std::int16_t* Encoder::residual(std::size_t row) noexcept {
  return buffer<std::int16_t>(kResidual) + row * model_.shape().d_model;
}

// Rows of the tile that begins with row `first` of `rows`.
std::size_t Encoder::TileRows(std::size_t first,
                              std::size_t rows) const noexcept {
  const std::size_t left = rows - first;
  const std::size_t most = backend_->memory.tile_rows;
  return left < most ? left : most;
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
  Multiply(model_.in_proj(), buffer<std::int8_t>(kTileInput), pending,
           residual(projected_));
  projected_ = rows_;
}

// The int8 view of the residual stream that a block's layers read.
void Encoder::QuantiseRows(const LayerNorm& norm, const std::int16_t* x,
                           std::size_t rows, std::int8_t* y) noexcept {
  const std::size_t d = norm.d;
  if (model_.shape().norm == Norm::kPre) {
    backend_->layernorm_s8(norm, {x, rows, d}, {y, rows, d});
  } else {
    backend_->quantise_s8(norm.shift, {x, rows * d}, y);
  }
}

void Encoder::KeysAndValues(const BlockWeights& block,
                            const LayerNorm& norm) noexcept {
  const std::size_t d = model_.shape().d_model;
  std::int8_t* const y = buffer<std::int8_t>(kTileNorm);
  std::size_t count;
  for (std::size_t first = 0; first < rows_; first += count) {
    count = TileRows(first, rows_);
    QuantiseRows(norm, residual(first), count, y);
    Multiply(block.k, y, count, buffer<std::int8_t>(kKeys) + first * d);
    Multiply(block.v, y, count, buffer<std::int8_t>(kValues) + first * d);
  }
}

void Encoder::AttendTile(std::size_t block_index, const LayerNorm& norm,
                         std::size_t first, std::size_t count) noexcept {
  const BlockWeights& block = model_.blocks()[block_index];
  const std::size_t d = model_.shape().d_model;
  std::int16_t* const x = residual(first);
  std::int8_t* const y = buffer<std::int8_t>(kTileNorm);
  std::int8_t* const query = buffer<std::int8_t>(kTileQuery);
  // With a single tile, KeysAndValues has just left the same rows in `y`.
  if (rows_ > backend_->memory.tile_rows) QuantiseRows(norm, x, count, y);
  Multiply(block.q, y, count, query);
  std::int8_t* const weights =
      tap_.on_row != nullptr ? tap_.buffer.data() : nullptr;
  const MatrixView<std::int8_t> queries(query, count, d);
  backend_->attention_s8(block.attention, queries,
                         {buffer<std::int8_t>(kKeys), rows_, d},
                         {buffer<std::int8_t>(kValues), rows_, d}, queries,
                         buffer<std::uint8_t>(kScores), weights);
  MultiplyAdd(block.o, query, count, x);
  if (weights != nullptr) (this->*show_rows_)(block_index, first, count);
}

// Hands the rows of attention of a tile to the tap.
void Encoder::ShowRows(std::size_t block_index, std::size_t first,
                       std::size_t count) noexcept {
  const std::size_t heads = model_.shape().heads;
  const std::int8_t* const weights = tap_.buffer.data();
  for (std::size_t i = 0; i < count * heads; ++i) {
    AttentionRow row;
    row.block = block_index;
    row.head = i % heads;
    row.query = first + i / heads;
    row.weights = Span<const std::int8_t>(weights + i * rows_, rows_);
    row.sum = 0;
    for (const std::int8_t weight : row.weights) row.sum += weight;
    tap_.on_row(tap_.context, row);
  }
}

void Encoder::FeedForwardTile(const BlockWeights& block, std::size_t first,
                              std::size_t count) noexcept {
  const EncoderShape& shape = model_.shape();
  std::int16_t* const x = residual(first);
  std::int8_t* const y = buffer<std::int8_t>(kTileNorm);
  std::int8_t* const hidden = buffer<std::int8_t>(kTileHidden);
  const Span<std::int8_t> flat(hidden, count * shape.d_ffn);
  const bool post = shape.norm == Norm::kPost;
  if (post) Normalise(block.attn_norm, x, count);
  QuantiseRows(post ? block.attn_norm : block.ffn_norm, x, count, y);
  Multiply(block.up, y, count, hidden);
  if (shape.activation == Activation::kGelu) {
    backend_->gelu_s8(block.gelu_fraction_bits, flat);
  } else {
    backend_->relu_s8(flat);
  }
  MultiplyAdd(block.down, hidden, count, x);
  if (post) Normalise(block.ffn_norm, x, count);
}

// Residual stream -> pooled [d] int8. `norm`: the one that the int8 view uses.
void Encoder::Pool(const LayerNorm& norm) noexcept {
  std::int8_t* const pooled = buffer<std::int8_t>(kPooled);
  if (model_.shape().pooling == Pooling::kClass) {
    QuantiseRows(norm, residual(0), 1, pooled);
    return;
  }
  const std::size_t d = norm.d;
  std::int32_t* const sums = buffer<std::int32_t>(kPoolSums);
  std::memset(sums, 0, d * sizeof(std::int32_t));
  std::int8_t* const y = buffer<std::int8_t>(kTileNorm);
  std::size_t count;
  for (std::size_t first = 0; first < rows_; first += count) {
    count = TileRows(first, rows_);
    QuantiseRows(norm, residual(first), count, y);
    backend_->sum_rows_s8({y, count, d}, sums);
  }
  backend_->mean_s8({sums, d}, rows_, model_.pooling_shift(), pooled);
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
    backend_->add_shifted_s8(model_.position_shift(),
                             {positions.data(), rows_ * shape.d_model},
                             residual(0));
  }
  const bool post = shape.norm == Norm::kPost;
  if (post) Normalise(model_.outer_norm(), residual(0), rows_);
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
    std::size_t count;
    for (std::size_t first = 0; first < rows; first += count) {
      count = TileRows(first, rows);
      AttendTile(i, norm, first, count);
      FeedForwardTile(block, first, count);
    }
    if (post) last_norm = &block.ffn_norm;
  }
  Pool(*last_norm);
  std::int16_t* const result = buffer<std::int16_t>(kLogits);
  Multiply(model_.head(), buffer<std::int8_t>(kPooled), 1, result);
  *logits = Span<const std::int16_t>(result, shape.classes);
  // The residual stream is spent: running again needs a new sequence.
  EndSequence();
  return Status::kOk;
}

}  // namespace atto
