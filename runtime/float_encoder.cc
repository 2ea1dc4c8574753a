#include "runtime/float_encoder.h"

#include <cmath>
#include <cstring>

#include "runtime/memory/caller_memory.h"

namespace atto {
namespace {

// Calls work(first, count) for every tile of rows.
template <typename Work>
void ForTiles(std::size_t rows, std::size_t tile_rows, const Work& work) {
  for (std::size_t first = 0; first < rows; first += tile_rows) {
    const std::size_t left = rows - first;
    work(first, left < tile_rows ? left : tile_rows);
  }
}

}  // namespace

Status FloatEncoder::Init(Span<const std::uint8_t> file,
                          Span<std::uint8_t> arena, ErrorInfo* error,
                          const FloatBackend* backend) noexcept {
  // Nothing of an earlier model stays behind: its memory may be gone.
  arena_ = nullptr;
  model_ = FloatModel();
  EndSequence();
  if (backend == nullptr || !backend->supported()) {
    return Fail(error, Status::kUnsupported, "backend",
                "must be one that this build has and this CPU runs", 0, 0);
  }
  Status status = CheckCallerMemory(file, arena, error);
  if (status != Status::kOk) return status;
  EncoderShape shape;
  status = FloatModel::ReadShape(file, &shape, error);
  if (status != Status::kOk) return status;
  const FloatEncoderPlan plan = PlanFloatEncoder(shape, backend->memory);
  status = CheckArenaSize(arena.size(), plan.bytes, error);
  if (status != Status::kOk) return status;
  for (std::size_t i = 0; i < kFloatEncoderBuffers; ++i) {
    offsets_[i] = plan.buffers[i].offset;
  }
  arena_ = arena.data();
  status = model_.Init(
      file,
      Span<FloatBlockWeights>(buffer<FloatBlockWeights>(kFloatBlockTable),
                              shape.blocks),
      error);
  if (status != Status::kOk) {
    arena_ = nullptr;
    return status;
  }
  backend_ = backend;
  void* const packed = AlignPack(buffer<std::uint8_t>(kFloatPackedWeights));
  model_.PackWeights(*backend, static_cast<float*>(packed));
  attention_.heads = shape.heads;
  attention_.d_head = static_cast<std::uint16_t>(shape.d_model / shape.heads);
  attention_.scale = 1 / std::sqrt(static_cast<float>(attention_.d_head));
  Start();
  return Status::kOk;
}

MatrixView<float> FloatEncoder::residual() noexcept {
  return {buffer<float>(kFloatResidual), rows_, model_.shape().d_model};
}

MatrixView<float> FloatEncoder::tile(FloatEncoderBuffer which, std::size_t rows,
                                     std::size_t cols) noexcept {
  return {buffer<float>(which), rows, cols};
}

void FloatEncoder::EndSequence() noexcept {
  rows_ = 0;
  projected_ = 0;
  row_limit_ = 0;
}

void FloatEncoder::Start() noexcept {
  if (!initialized()) return;
  row_limit_ = model_.shape().tokens;
  rows_ = 0;
  projected_ = 0;
  if (!model_.class_token().empty()) {
    rows_ = 1;
    projected_ = 1;
    std::memcpy(buffer<float>(kFloatResidual), model_.class_token().data(),
                model_.shape().d_model * sizeof(float));
  }
}

float* FloatEncoder::NextRow() noexcept {
  if (rows_ == row_limit_) return nullptr;
  if (rows_ - projected_ == backend_->memory.tile_rows) ProjectPendingRows();
  const std::size_t pending = rows_ - projected_;
  ++rows_;
  return buffer<float>(kFloatTileInput) + pending * model_.shape().d_input;
}

bool FloatEncoder::AddToken(Span<const std::uint16_t> rows) noexcept {
  float* const row = NextRow();
  if (row == nullptr) return false;
  backend_->embedding_sum(model_.embedding(), rows, row);
  return true;
}

// tile input [pending, e] -> residual stream.
void FloatEncoder::ProjectPendingRows() noexcept {
  const std::size_t pending = rows_ - projected_;
  if (pending == 0) return;
  backend_->matmul(model_.in_proj(),
                   tile(kFloatTileInput, pending, model_.shape().d_input),
                   residual().row_range(projected_, pending));
  projected_ = rows_;
}

MatrixView<const float> FloatEncoder::LayerInput(
    const FloatLayerNorm& norm, MatrixView<const float> x) noexcept {
  if (model_.shape().norm == Norm::kPost) return x;
  const MatrixView<float> y = tile(kFloatTileNorm, x.rows(), x.cols());
  backend_->layernorm(norm, x, y);
  return y;
}

void FloatEncoder::KeysAndValues(const FloatBlockWeights& block) noexcept {
  const std::size_t d = model_.shape().d_model;
  ForTiles(rows_, backend_->memory.tile_rows,
           [&](std::size_t first, std::size_t count) {
             const MatrixView<const float> y = LayerInput(
                 block.attn_norm, residual().row_range(first, count));
             const MatrixView<float> keys = tile(kFloatTileKeys, count, d);
             const MatrixView<float> values = tile(kFloatTileValues, count, d);
             backend_->matmul(block.k, y, keys);
             backend_->matmul(block.v, y, values);
             backend_->pack_keys_values(attention_, rows_, first, keys, values,
                                        buffer<float>(kFloatKeysValues));
           });
}

void FloatEncoder::AttendTile(const FloatBlockWeights& block, std::size_t first,
                              std::size_t count) noexcept {
  const std::size_t d = model_.shape().d_model;
  const MatrixView<float> x = residual().row_range(first, count);
  const MatrixView<float> query = tile(kFloatTileKeys, count, d);
  // With a single tile, KeysAndValues has just left the same rows.
  const bool reuse =
      model_.shape().norm == Norm::kPre && rows_ <= backend_->memory.tile_rows;
  backend_->matmul(
      block.q,
      reuse ? tile(kFloatTileNorm, count, d) : LayerInput(block.attn_norm, x),
      query);
  backend_->attention(attention_, rows_, query, buffer<float>(kFloatKeysValues),
                      query, buffer<float>(kFloatScores));
  backend_->matmul_add(block.o, query, x);
  if (model_.shape().norm == Norm::kPost) {
    backend_->layernorm(block.attn_norm, x, x);
  }
}

void FloatEncoder::FeedForwardTile(const FloatBlockWeights& block,
                                   std::size_t first,
                                   std::size_t count) noexcept {
  const EncoderShape& shape = model_.shape();
  const MatrixView<float> x = residual().row_range(first, count);
  const MatrixView<float> hidden = tile(kFloatTileHidden, count, shape.d_ffn);
  const Span<float> flat(hidden.data(), count * shape.d_ffn);
  backend_->matmul(block.up, LayerInput(block.ffn_norm, x), hidden);
  if (shape.activation == Activation::kGelu) {
    backend_->gelu(flat);
  } else {
    backend_->relu(flat);
  }
  backend_->matmul_add(block.down, hidden, x);
  if (shape.norm == Norm::kPost) backend_->layernorm(block.ffn_norm, x, x);
}

// Residual stream -> pooled [d].
void FloatEncoder::Pool() noexcept {
  const std::size_t d = model_.shape().d_model;
  float* const pooled = buffer<float>(kFloatPooled);
  if (model_.shape().pooling == Pooling::kClass) {
    std::memcpy(
        pooled,
        LayerInput(model_.outer_norm(), residual().row_range(0, 1)).data(),
        d * sizeof(float));
    return;
  }
  std::memset(pooled, 0, d * sizeof(float));
  ForTiles(rows_, backend_->memory.tile_rows,
           [&](std::size_t first, std::size_t count) {
             backend_->sum_rows(LayerInput(model_.outer_norm(),
                                           residual().row_range(first, count)),
                                pooled);
           });
  backend_->mean(Span<const float>(pooled, d), rows_, pooled);
}

Status FloatEncoder::Run(Span<const float>* logits) noexcept {
  if (!initialized()) return Status::kNotInitialized;
  if (logits == nullptr) return Status::kNullPointer;
  const EncoderShape& shape = model_.shape();
  const std::size_t own_rows = model_.class_token().empty() ? 0 : 1;
  if (rows_ <= own_rows) return Status::kEmptyInput;
  ProjectPendingRows();
  const MatrixView<const float> positions = model_.positions();
  if (positions.rows() != 0) {
    backend_->add(Span<const float>(positions.data(), rows_ * shape.d_model),
                  residual().data());
  }
  if (shape.norm == Norm::kPost) {
    backend_->layernorm(model_.outer_norm(), residual(), residual());
  }
  for (std::size_t i = 0; i < shape.blocks; ++i) {
    const FloatBlockWeights& block = model_.blocks()[i];
    KeysAndValues(block);
    // Only row 0 of the last block reaches a class-token head.
    const bool only_class =
        shape.pooling == Pooling::kClass && i + 1U == shape.blocks;
    ForTiles(only_class ? 1 : rows_, backend_->memory.tile_rows,
             [&](std::size_t first, std::size_t count) {
               AttendTile(block, first, count);
               FeedForwardTile(block, first, count);
             });
  }
  Pool();
  float* const result = buffer<float>(kFloatLogits);
  backend_->matmul(model_.head(), tile(kFloatPooled, 1, shape.d_model),
                   MatrixView<float>(result, 1, shape.classes));
  *logits = Span<const float>(result, shape.classes);
  // The residual stream is spent: running again needs a new sequence.
  EndSequence();
  return Status::kOk;
}

}  // namespace atto
