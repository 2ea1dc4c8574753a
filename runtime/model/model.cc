#include "runtime/model/model.h"

#include <cstring>

#include "runtime/model/crc32.h"
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
  using ModelReader::ModelReader;

  static constexpr ModelFormat Format(const AudioSteps* audio) noexcept {
    return {"atto-encoder", "must be 'atto-encoder'", true, &FindSlot, nullptr,
            audio};
  }

  Status ReadModel(Model* model, Span<BlockWeights> blocks) noexcept;

 private:
  static Slot FindSlot(ModelReader* reader, const TensorId& id) noexcept {
    return static_cast<IntegerModelReader*>(reader)->SlotOf(id);
  }
  Slot SlotOf(const TensorId& id) noexcept;
  void SetParameters() noexcept;
  void SetBlock(std::size_t i) noexcept;
  Status SetViews() noexcept;

  Model* model_ = nullptr;
  ModelParts* parts_ = nullptr;     // the model's
  BlockWeights* blocks_ = nullptr;  // the caller's table
};

// Copies checked keys into the model; the tensors' addresses are still null.
void IntegerModelReader::SetParameters() noexcept {
  const EncoderShape& shape = this->shape();
  const std::uint16_t d = shape.d_model;
  parts_->shape = shape;
  parts_->labels = labels();
  parts_->name = sized_name();
  parts_->checksum = checksum();
  if (shape.pooling == Pooling::kMean) {
    parts_->pooling_shift = Number8(kPoolingShift);
  }
  SetLinear(&parts_->in_proj, shape.d_input, d, Number8(kInProjShift));
  SetLinear(&parts_->head, d, shape.classes, Number8(kHeadShift));
  SetNorm(
      &parts_->outer_norm, d,
      Number8(shape.norm == Norm::kPost ? kInputNormShift : kOutputNormShift));
  for (std::size_t i = 0; i < shape.blocks; ++i) SetBlock(i);
}

void IntegerModelReader::SetBlock(std::size_t i) noexcept {
  const std::uint16_t d = shape().d_model;
  const std::uint16_t f = shape().d_ffn;
  BlockWeights& block = blocks_[i];
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
      return MatrixSlot(&parts_->embedding.table, parts_->embedding.rows,
                        shape().d_input);
    case kPositionEmbd:
      return MatrixSlot(&parts_->positions, shape().tokens, shape().d_model);
    case kClassEmbd:
      return VectorSlot(&parts_->class_token, shape().d_model, -32768);
    case kInProj: return LinearSlot(&parts_->in_proj, id.part);
    case kHead: return LinearSlot(&parts_->head, id.part);
    case kInputNorm:
    case kOutputNorm: return NormSlot(&parts_->outer_norm, id.part);
    default: break;
  }
  BlockWeights& block = blocks_[id.block];
  return id.layer >= kAttnNorm
             ? NormSlot(&(block.*kBlockNorms[id.layer - kAttnNorm]), id.part)
             : LinearSlot(&(block.*kBlockLinears[id.layer - kBlockLayers]),
                          id.part);
}
Status IntegerModelReader::SetViews() noexcept {
  if (parts_->positions != nullptr) {
    parts_->position_shift = Number8(kPositionShift);
  }
  const Status status = ReadFoldTable(&model_->fold_table_);
  if (status != Status::kOk) return status;
  return ReadAudio(&parts_->log_mel, &parts_->spotter_params);
}

Status IntegerModelReader::ReadModel(Model* model,
                                     Span<BlockWeights> blocks) noexcept {
  Status status = ReadKeys(blocks.data(), blocks.size());
  if (status != Status::kOk) return status;
  model_ = model;
  parts_ = &model->parts_;
  blocks_ = blocks.data();
  parts_->blocks = blocks_;
  SetParameters();
  status = ReadTextParams();
  if (status != Status::kOk) return status;
  if (shape().input == Input::kText) {
    parts_->text_params = text_params();
    Embedding& embedding = parts_->embedding;
    embedding.rows = static_cast<std::uint16_t>(text_params().buckets);
    embedding.width = shape().d_input;
    embedding.multiplier =
        static_cast<std::int16_t>(Number(kTokenEmbdMultiplier));
  }
  status = ReadTensors();
  if (status == Status::kOk) status = SetViews();
  if (status != Status::kOk) return status;
  parts_->fold_table = fold_table_bytes().data();
  parts_->file = file().data();
  parts_->file_bytes = static_cast<std::uint32_t>(file().size());
  return Status::kOk;
}

}  // namespace model_file

const ModelKinds kAnyModel = model_file::IntegerModelReader::Format(
    &model_file::ModelReader::kAudioSteps);
const ModelKinds kTextModel = model_file::IntegerModelReader::Format(nullptr);

Status Model::ReadShape(Span<const std::uint8_t> file, EncoderShape* shape,
                        ErrorInfo* error, const ModelKinds& kinds) noexcept {
  if (shape == nullptr) {
    return Fail(error, Status::kNullPointer, "shape", "must not be null", 0, 0);
  }
  model_file::IntegerModelReader reader(kinds, file, error);
  const Status status = reader.ReadShape();
  if (status == Status::kOk) *shape = reader.shape();
  return status;
}

Status Model::Init(Span<const std::uint8_t> file, Span<BlockWeights> blocks,
                   ErrorInfo* error, const ModelKinds& kinds) noexcept {
  *this = Model();
  model_file::IntegerModelReader reader(kinds, file, error);
  const Status status = reader.ReadModel(this, blocks);
  if (status != Status::kOk) *this = Model();
  return status;
}

Status Model::Init(const ModelParts& parts, std::uint32_t file_crc,
                   ErrorInfo* error) noexcept {
  *this = Model();
  const std::uint32_t found = Crc32({parts.file, parts.file_bytes});
  if (found != file_crc) {
    return Fail(error, Status::kBadChecksum, "embedded model",
                "must have the CRC-32 of the file that was embedded", found,
                file_crc);
  }
  parts_ = parts;
  if (parts.fold_table != nullptr) fold_table_ = FoldTable(parts.fold_table);
  return Status::kOk;
}

void Model::PackWeights(const Backend& backend, BlockWeights* blocks,
                        std::uint8_t* memory) noexcept {
  std::uint8_t* next = AlignPack(memory);
  const auto pack = [&](Linear* linear) noexcept {
    linear->packed = next;
    next += backend.pack_linear(*linear, next);
  };
  pack(&parts_.in_proj);
  for (std::size_t i = 0; i < parts_.shape.blocks; ++i) {
    blocks[i] = parts_.blocks[i];
    pack(&blocks[i].q);
    pack(&blocks[i].k);
    pack(&blocks[i].v);
    pack(&blocks[i].o);
    pack(&blocks[i].up);
    pack(&blocks[i].down);
  }
  parts_.blocks = blocks;
  pack(&parts_.head);
}

StringView Model::name() const noexcept {
  return parts_.name != nullptr ? model_file::StringAt(parts_.name)
                                : StringView();
}

StringView Model::label(std::size_t i) const noexcept {
  const std::uint8_t* p = parts_.labels;
  for (; i > 0; --i) p += 8 + model_file::StringAt(p).size();
  return model_file::StringAt(p);
}

}  // namespace atto
