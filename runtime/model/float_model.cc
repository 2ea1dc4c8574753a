#include "runtime/model/float_model.h"

#include "runtime/model/model_reader.h"

namespace atto {
namespace model_file {
namespace {

Slot FloatSlot(const float** data, std::uint32_t rows,
               std::uint32_t cols) noexcept {
  return {data, TensorType::kF32,           rows,
          cols, -FloatModel::kMaxParameter, FloatModel::kMaxParameter};
}

Slot LinearSlot(FloatLinear* linear, std::uint8_t part) noexcept {
  return part == kWeight ? FloatSlot(&linear->weights, linear->out, linear->in)
                         : FloatSlot(&linear->bias, 0, linear->out);
}

Slot NormSlot(FloatLayerNorm* norm, std::uint8_t part) noexcept {
  return FloatSlot(part == kGain ? &norm->gain : &norm->bias, 0, norm->d);
}

// Layers of a block, from kBlockLayers on: first the linear ones.
constexpr FloatLinear FloatBlockWeights::*kBlockLinears[] = {
    &FloatBlockWeights::q, &FloatBlockWeights::k,  &FloatBlockWeights::v,
    &FloatBlockWeights::o, &FloatBlockWeights::up, &FloatBlockWeights::down,
};
constexpr FloatLayerNorm FloatBlockWeights::*kBlockNorms[] = {
    &FloatBlockWeights::attn_norm,
    &FloatBlockWeights::ffn_norm,
};

// In the integers that reports are made of: rounded away from zero, at most
// 2^30. NaN counts as too large.
std::int32_t FirstIllegalFloat(const Slot& slot, std::uint32_t count) noexcept {
  constexpr std::int32_t kReported = std::int32_t{1} << 30;
  const float largest = static_cast<float>(slot.max);
  const float* p = static_cast<const float*>(Data(slot));
  for (const float* const end = p + count; p != end; ++p) {
    const float magnitude = *p < 0 ? -*p : *p;
    if (magnitude <= largest) continue;
    const std::int32_t whole = magnitude < static_cast<float>(kReported)
                                   ? static_cast<std::int32_t>(magnitude) + 1
                                   : kReported;
    return *p < 0 ? -whole : whole;
  }
  return slot.min;
}

void SetLinear(FloatLinear* linear, std::uint16_t in,
               std::uint16_t out) noexcept {
  linear->in = in;
  linear->out = out;
}

}  // namespace

// The reader of the float format.
class FloatModelReader : public ModelReader {
 public:
  FloatModelReader(Span<const std::uint8_t> file, ErrorInfo* error) noexcept
      : ModelReader(kFormat, file, error) {}

  Status ReadModel(FloatModel* model, Span<FloatBlockWeights> blocks) noexcept;

 private:
  static Slot FindSlot(ModelReader* reader, const TensorId& id) noexcept {
    return static_cast<FloatModelReader*>(reader)->SlotOf(id);
  }
  Slot SlotOf(const TensorId& id) noexcept;
  void SetParameters() noexcept;

  static constexpr ModelFormat kFormat = {
      "atto-encoder-f32", "must be 'atto-encoder-f32'", false,
      &FindSlot,          &FirstIllegalFloat,           &kAudioSteps};

  FloatModel* model_ = nullptr;
  // Tensors that the model keeps in another form than their address.
  const float* positions_ = nullptr;
  const float* class_token_ = nullptr;
};

// Copies checked keys into the model; the tensors' addresses are still null.
void FloatModelReader::SetParameters() noexcept {
  const std::uint16_t d = shape().d_model;
  const std::uint16_t f = shape().d_ffn;
  model_->shape_ = shape();
  model_->labels_ = labels();
  model_->name_ = name();
  model_->checksum_ = checksum();
  SetLinear(&model_->in_proj_, shape().d_input, d);
  SetLinear(&model_->head_, d, shape().classes);
  model_->outer_norm_.d = d;
  for (FloatBlockWeights& block : model_->blocks_) {
    block = FloatBlockWeights();
    for (FloatLinear FloatBlockWeights::*const linear : kBlockLinears) {
      SetLinear(&(block.*linear), d, d);
    }
    SetLinear(&block.up, d, f);
    SetLinear(&block.down, f, d);
    block.attn_norm.d = d;
    block.ffn_norm.d = d;
  }
  if (shape().input == Input::kText) {
    model_->text_params_ = text_params();
    model_->embedding_.rows = static_cast<std::uint16_t>(text_params().buckets);
    model_->embedding_.width = shape().d_input;
  }
}

Slot FloatModelReader::SlotOf(const TensorId& id) noexcept {
  switch (id.layer) {
    case kTokenEmbd:
      return FloatSlot(&model_->embedding_.table, model_->embedding_.rows,
                       shape().d_input);
    case kPositionEmbd:
      return FloatSlot(&positions_, shape().tokens, shape().d_model);
    case kClassEmbd: return FloatSlot(&class_token_, 0, shape().d_model);
    case kInProj: return LinearSlot(&model_->in_proj_, id.part);
    case kHead: return LinearSlot(&model_->head_, id.part);
    case kInputNorm:
    case kOutputNorm: return NormSlot(&model_->outer_norm_, id.part);
    default: break;
  }
  FloatBlockWeights& block = model_->blocks_[id.block];
  return id.layer >= kAttnNorm
             ? NormSlot(&(block.*kBlockNorms[id.layer - kAttnNorm]), id.part)
             : LinearSlot(&(block.*kBlockLinears[id.layer - kBlockLayers]),
                          id.part);
}

Status FloatModelReader::ReadModel(FloatModel* model,
                                   Span<FloatBlockWeights> blocks) noexcept {
  Status status = ReadKeys(blocks.data(), blocks.size());
  if (status == Status::kOk) status = ReadTextParams();
  if (status != Status::kOk) return status;
  model_ = model;
  model_->blocks_ = blocks.subspan(0, shape().blocks);
  SetParameters();
  status = ReadTensors();
  if (status == Status::kOk) status = ReadFoldTable(&model_->fold_table_);
  if (status == Status::kOk) {
    status = ReadAudio(&model_->log_mel_, &model_->spotter_params_);
  }
  if (status != Status::kOk) return status;
  if (positions_ != nullptr) {
    model_->positions_ =
        MatrixView<const float>(positions_, shape().tokens, shape().d_model);
  }
  if (class_token_ != nullptr) {
    model_->class_token_ = Span<const float>(class_token_, shape().d_model);
  }
  model_->file_ = file();
  return Status::kOk;
}

}  // namespace model_file

Status FloatModel::ReadShape(Span<const std::uint8_t> file, EncoderShape* shape,
                             ErrorInfo* error) noexcept {
  if (shape == nullptr) {
    return Fail(error, Status::kNullPointer, "shape", "must not be null", 0, 0);
  }
  model_file::FloatModelReader reader(file, error);
  const Status status = reader.ReadShape();
  if (status == Status::kOk) *shape = reader.shape();
  return status;
}

Status FloatModel::Init(Span<const std::uint8_t> file,
                        Span<FloatBlockWeights> blocks,
                        ErrorInfo* error) noexcept {
  *this = FloatModel();
  model_file::FloatModelReader reader(file, error);
  const Status status = reader.ReadModel(this, blocks);
  if (status != Status::kOk) *this = FloatModel();
  return status;
}

void FloatModel::PackWeights(const FloatBackend& backend,
                             float* memory) noexcept {
  float* next = memory;
  const auto pack = [&](FloatLinear* linear) noexcept {
    linear->packed = next;
    next +=
        RoundUpFloats(backend.pack_linear(*linear, next), kFloatPackAlignment);
  };
  pack(&in_proj_);
  for (FloatBlockWeights& block : blocks_) {
    pack(&block.q);
    pack(&block.k);
    pack(&block.v);
    pack(&block.o);
    pack(&block.up);
    pack(&block.down);
  }
  pack(&head_);
}

StringView FloatModel::label(std::size_t i) const noexcept {
  const std::uint8_t* p = labels_;
  for (; i > 0; --i) p += 8 + model_file::StringAt(p).size();
  return model_file::StringAt(p);
}

}  // namespace atto
