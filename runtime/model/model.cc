#include "runtime/model/model.h"

#include <cstring>

#include "runtime/model/model_reader.h"

namespace atto {
namespace model_file {
namespace {

Slot MatrixSlot(const std::int8_t** data, std::uint32_t rows,
                std::uint32_t cols) noexcept {
  return {data, TensorType::kI8, rows, cols, -127, 127};
}

Slot VectorSlot(const std::int16_t** data, std::uint32_t cols,
                std::int32_t min) noexcept {
  return {data, TensorType::kI16, 0, cols, min, 32767};
}

Slot LinearSlot(Linear* linear, std::uint8_t part) noexcept {
  switch (part) {
    case kWeight: return MatrixSlot(&linear->weights, linear->out, linear->in);
    case kMultiplier: return VectorSlot(&linear->multiplier, linear->out, 1);
    default:
      return {&linear->bias, TensorType::kI32,  0,
              linear->out,   -Linear::kMaxBias, Linear::kMaxBias};
  }
}

Slot NormSlot(LayerNorm* norm, std::uint8_t part) noexcept {
  return part == kGain ? VectorSlot(&norm->gain, norm->d, -32767)
                       : VectorSlot(&norm->bias, norm->d, -32768);
}

// Layers of a block, from kBlockLayers on: first the linear ones.
constexpr Linear BlockWeights::*kBlockLinears[] = {
    &BlockWeights::q, &BlockWeights::k,  &BlockWeights::v,
    &BlockWeights::o, &BlockWeights::up, &BlockWeights::down,
};
constexpr LayerNorm BlockWeights::*kBlockNorms[] = {
    &BlockWeights::attn_norm,
    &BlockWeights::ffn_norm,
};

void SetLinear(Linear* linear, std::uint16_t in, std::uint16_t out,
               std::uint8_t shift) noexcept {
  linear->in = in;
  linear->out = out;
  linear->shift = shift;
}

void SetNorm(LayerNorm* norm, std::uint16_t d, std::uint8_t shift) noexcept {
  norm->d = d;
  norm->sqrt_d = LayerNormSqrt(d);
  norm->shift = shift;
}

}  // namespace

// The reader of the integer format.
class IntegerModelReader : public ModelReader {
 public:
  IntegerModelReader(Span<const std::uint8_t> file, ErrorInfo* error) noexcept
      : ModelReader(kFormat, file, error) {}

  Status ReadModel(Model* model, Span<BlockWeights> blocks) noexcept;

 private:
  static Slot FindSlot(ModelReader* reader, const TensorId& id) noexcept {
    return static_cast<IntegerModelReader*>(reader)->SlotOf(id);
  }
  Slot SlotOf(const TensorId& id) noexcept;
  void SetParameters() noexcept;
  void SetBlock(std::size_t i) noexcept;
  Status SetViews() noexcept;

  static constexpr ModelFormat kFormat = {
      "atto-encoder", "must be 'atto-encoder'", true, &FindSlot, nullptr};

  Model* model_ = nullptr;
  // Tensors that the model keeps in another form than their address.
  const std::int8_t* positions_ = nullptr;
  const std::int16_t* class_token_ = nullptr;
};

// Copies checked keys into the model; the tensors' addresses are still null.
void IntegerModelReader::SetParameters() noexcept {
  const EncoderShape& shape = this->shape();
  const std::uint16_t d = shape.d_model;
  model_->shape_ = shape;
  model_->labels_ = labels();
  model_->name_ = name();
  model_->checksum_ = checksum();
  if (shape.pooling == Pooling::kMean) {
    model_->pooling_shift_ = Number8(kPoolingShift);
  }
  SetLinear(&model_->in_proj_, shape.d_input, d, Number8(kInProjShift));
  SetLinear(&model_->head_, d, shape.classes, Number8(kHeadShift));
  SetNorm(
      &model_->outer_norm_, d,
      Number8(shape.norm == Norm::kPost ? kInputNormShift : kOutputNormShift));
  for (std::size_t i = 0; i < shape.blocks; ++i) SetBlock(i);
}

void IntegerModelReader::SetBlock(std::size_t i) noexcept {
  const std::uint16_t d = shape().d_model;
  const std::uint16_t f = shape().d_ffn;
  BlockWeights& block = model_->blocks_[i];
  block = BlockWeights();
  for (std::uint8_t layer = kBlockLayers; layer < kLayerCount; ++layer) {
    const std::uint8_t shift =
        Number8(kBlockLayerShifts + (layer - std::size_t{kBlockLayers}), i);
    if (layer >= kAttnNorm) {
      SetNorm(&(block.*kBlockNorms[layer - kAttnNorm]), d, shift);
    } else {
      SetLinear(&(block.*kBlockLinears[layer - kBlockLayers]),
                layer == kFfnDown ? f : d, layer == kFfnUp ? f : d, shift);
    }
  }
  Attention& attention = block.attention;
  attention.softmax.shift =
      static_cast<std::int8_t>(Number(kAttnScoreShift, i));
  attention.softmax.multiplier =
      static_cast<std::int16_t>(Number(kAttnScoreMultiplier, i));
  attention.heads = shape().heads;
  attention.d_head = static_cast<std::uint16_t>(d / shape().heads);
  if (shape().activation == Activation::kGelu) {
    block.gelu_fraction_bits = Number8(kGeluFractionBits, i);
  }
}
Slot IntegerModelReader::SlotOf(const TensorId& id) noexcept {
  switch (id.layer) {
    case kTokenEmbd:
      return MatrixSlot(&model_->embedding_.table, model_->embedding_.rows,
                        shape().d_input);
    case kPositionEmbd:
      return MatrixSlot(&positions_, shape().tokens, shape().d_model);
    case kClassEmbd: return VectorSlot(&class_token_, shape().d_model, -32768);
    case kInProj: return LinearSlot(&model_->in_proj_, id.part);
    case kHead: return LinearSlot(&model_->head_, id.part);
    case kInputNorm:
    case kOutputNorm: return NormSlot(&model_->outer_norm_, id.part);
    default: break;
  }
  BlockWeights& block = model_->blocks_[id.block];
  return id.layer >= kAttnNorm
             ? NormSlot(&(block.*kBlockNorms[id.layer - kAttnNorm]), id.part)
             : LinearSlot(&(block.*kBlockLinears[id.layer - kBlockLayers]),
                          id.part);
}
Status IntegerModelReader::SetViews() noexcept {
  const std::size_t d = shape().d_model;
  if (positions_ != nullptr) {
    model_->positions_ =
        MatrixView<const std::int8_t>(positions_, shape().tokens, d);
    model_->position_shift_ = Number8(kPositionShift);
  }
  if (class_token_ != nullptr) {
    model_->class_token_ = Span<const std::int16_t>(class_token_, d);
  }
  const Status status = ReadFoldTable(&model_->fold_table_);
  if (status != Status::kOk) return status;
  return ReadAudio(&model_->log_mel_, &model_->spotter_params_);
}

Status IntegerModelReader::ReadModel(Model* model,
                                     Span<BlockWeights> blocks) noexcept {
  Status status = ReadKeys(blocks.data(), blocks.size());
  if (status != Status::kOk) return status;
  model_ = model;
  model_->blocks_ = blocks.subspan(0, shape().blocks);
  SetParameters();
  status = ReadTextParams();
  if (status != Status::kOk) return status;
  if (shape().input == Input::kText) {
    model_->text_params_ = text_params();
    Embedding& embedding = model_->embedding_;
    embedding.rows = static_cast<std::uint16_t>(text_params().buckets);
    embedding.width = shape().d_input;
    embedding.multiplier =
        static_cast<std::int16_t>(Number(kTokenEmbdMultiplier));
  }
  status = ReadTensors();
  if (status == Status::kOk) status = SetViews();
  if (status == Status::kOk) model_->file_ = file();
  return status;
}

}  // namespace model_file

Status Model::ReadShape(Span<const std::uint8_t> file, EncoderShape* shape,
                        ErrorInfo* error) noexcept {
  if (shape == nullptr) {
    return Fail(error, Status::kNullPointer, "shape", "must not be null", 0, 0);
  }
  model_file::IntegerModelReader reader(file, error);
  const Status status = reader.ReadShape();
  if (status == Status::kOk) *shape = reader.shape();
  return status;
}

Status Model::Init(Span<const std::uint8_t> file, Span<BlockWeights> blocks,
                   ErrorInfo* error) noexcept {
  *this = Model();
  model_file::IntegerModelReader reader(file, error);
  const Status status = reader.ReadModel(this, blocks);
  if (status != Status::kOk) *this = Model();
  return status;
}

void Model::PackWeights(const Backend& backend, std::uint8_t* memory) noexcept {
  std::uint8_t* next = AlignPack(memory);
  const auto pack = [&](Linear* linear) noexcept {
    linear->packed = next;
    next += backend.pack_linear(*linear, next);
  };
  pack(&in_proj_);
  for (BlockWeights& block : blocks_) {
    pack(&block.q);
    pack(&block.k);
    pack(&block.v);
    pack(&block.o);
    pack(&block.up);
    pack(&block.down);
  }
  pack(&head_);
}

StringView Model::label(std::size_t i) const noexcept {
  const std::uint8_t* p = labels_;
  for (; i > 0; --i) p += 8 + model_file::StringAt(p).size();
  return model_file::StringAt(p);
}

}  // namespace atto