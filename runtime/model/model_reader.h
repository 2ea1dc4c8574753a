// Reads a model file step by step: what the integer and the float format have
// in common. Keys, tensors and their ranges stand in tables; a format adds
// where its tensors go. Not for users: see model.h and float_model.h.
#ifndef ATTO_RUNTIME_MODEL_MODEL_READER_H_
#define ATTO_RUNTIME_MODEL_MODEL_READER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ops/base/span.h"
#include "ops/base/status.h"
#include "ops/logmel/logmel.h"
#include "runtime/audio/spotter_params.h"
#include "runtime/error_info.h"
#include "runtime/model/gguf.h"
#include "runtime/model/shape.h"
#include "runtime/text/fold_table.h"
#include "runtime/text/tokenizer.h"

namespace atto::model_file {

// Alignment that the file's first byte must have.
constexpr std::size_t kFileAlignment = 16;

// Index into the table of keys, in its order.
enum KeyId : std::uint8_t {
  // What the shape is made of.
  kArchitecture,
  kVersion,
  kChoices,                      // the first of kShapeChoices
  kShapeNumbers = kChoices + 4,  // the first of kShapeMembers
  kContextLength = kShapeNumbers,
  kEmbeddingLength,
  kInputLength,
  kBlockCount,
  kHeadCount,
  kFeedForwardLength,
  kLabels,
  kShapeKeys,
  // The rest.
  kName = kShapeKeys,
  kChecksum,
  kIntegerKeys,  // from here to kTextKeys: the integer format's
  kPoolingShift = kIntegerKeys,
  kPositionShift,
  kTokenEmbdMultiplier,
  kInProjShift,
  kHeadShift,
  kInputNormShift,
  kOutputNormShift,
  kBlockLayerShifts,  // one a layer of a block, in the order of LayerId
  kAttnScoreShift = kBlockLayerShifts + 8,
  kAttnScoreMultiplier,
  kGeluFractionBits,
  kTextKeys,                     // the first of kTextParams
  kAudioShape = kTextKeys + 10,  // the first of kAudioMembers
  kAudioSampleRate = kAudioShape,
  kAudioFrameLength,
  kAudioHopLength,
  kAudioFftLength,
  kAudioBins,
  kAudioPatchFrames,
  kAudioPatchStride,
  kAudioVersion,
  kAudioLogMultiplier,
  kAudioLogOffset,
  kSpotHop,
  kSpotSmoothing,
  kSpotLooks,
  kSpotVotes,
  kSpotRefractory,
  kSpotThresholds,
  kKeyCount,
};

// Tensors are named <layer>.<part>, those of block N blk.N.<layer>.<part>.
// Index into the table of layers, in its order.
enum LayerId : std::uint8_t {
  kTokenEmbd,
  kTextTable,
  kAudioTables,
  kPositionEmbd,
  kClassEmbd,
  kInProj,
  kHead,
  kInputNorm,
  kOutputNorm,
  kBlockLayers,  // from here on one a block
  kAttnQ = kBlockLayers,
  kAttnK,
  kAttnV,
  kAttnO,
  kFfnUp,
  kFfnDown,
  kAttnNorm,
  kFfnNorm,
  kLayerCount,
};

enum PartId : std::uint8_t {
  kWeight,
  kBias,
  kMultiplier,
  kGain,
  kFoldTable,
  kWindow,
  kMelFilters,
  kMelWeights,
  kPartCount,
};

// Which tensor: its layer, part and, for layers of blocks, block.
struct TensorId {
  std::uint8_t layer = 0;
  std::uint8_t part = 0;
  std::uint8_t block = 0;
};

// What the format demands of one tensor and where the model keeps it.
struct Slot {
  void* address = nullptr;  // of the pointer that is to hold the data's address
  TensorType type = TensorType::kI8;
  std::uint32_t rows = 0;  // 0: a vector [cols]
  std::uint32_t cols = 0;  // 0: of any length
  std::int32_t min = 0;    // legal values
  std::int32_t max = 0;
  std::uint32_t* length = nullptr;  // where a length that is free goes
};

// Object pointers of all types look alike on every target; copying their bytes
// keeps to the aliasing rules.
static_assert(sizeof(const void*) == sizeof(const std::int32_t*));

inline const void* Data(const Slot& slot) noexcept {
  const void* data;
  std::memcpy(&data, slot.address, sizeof(data));
  return data;
}

inline void SetData(const Slot& slot, const void* data) noexcept {
  std::memcpy(slot.address, &data, sizeof(data));
}

// The string at `p`, whose size (u64) the reader has checked.
inline StringView StringAt(const std::uint8_t* p) noexcept {
  return StringView(reinterpret_cast<const char*>(p + 8), LoadSize(p));
}

enum class When : std::uint8_t;  // in model_reader.cc
class ModelReader;

// The steps of the reader that audio models alone need.
struct AudioSteps {
  Status (ModelReader::*read_shape)() noexcept;
  Status (ModelReader::*check_spotter)() const noexcept;
  Slot (ModelReader::*slot)(std::uint8_t part) noexcept;
  Status (ModelReader::*read)(LogMel* mel,
                              SpotterParams* spotter) const noexcept;
};

// What tells one format from another.
struct ModelFormat {
  const char* architecture;  // general.architecture
  Sentence expectation;      // "must be ..."
  bool integer;              // shifts, multipliers
  // Where the tensor of that id goes and what it must be. All but those of the
  // front ends.
  Slot (*slot)(ModelReader* reader, const TensorId& id) noexcept;
  // The first of `count` floats outside [min, max], or `min` if there is none.
  // Null in a format without floats.
  std::int32_t (*first_illegal_f32)(const Slot& slot,
                                    std::uint32_t count) noexcept;
  // Null where audio models are refused: a program that names no format with
  // these steps is linked without them.
  const AudioSteps* audio;
};

// A step relies on those before it; each fails with the culprit's name.
class ModelReader {
 public:
  ModelReader(const ModelFormat& format, Span<const std::uint8_t> file,
              ErrorInfo* error) noexcept
      : file_(file), error_(error), format_(format) {}

  static const AudioSteps kAudioSteps;

  // The shape alone: keys, no tensors.
  Status ReadShape() noexcept;
  const EncoderShape& shape() const noexcept { return shape_; }

 protected:
  // Everything but the tensors and what belongs to the tokenizer. The caller's
  // block table has `entries` entries at `block_table`.
  Status ReadKeys(const void* block_table, std::size_t entries) noexcept;
  Status ReadTextParams() noexcept;
  // Legal: the format's slots are ready.
  Status ReadTensors() noexcept;
  // Last: the tensors have been checked.
  Status ReadFoldTable(FoldTable* table) const noexcept;
  Status ReadAudio(LogMel* mel, SpotterParams* spotter) const noexcept {
    if (shape_.input != Input::kAudio) return Status::kOk;
    return (this->*format_.audio->read)(mel, spotter);
  }

  Status BadKey(std::size_t key, Sentence expectation, std::int32_t found = 0,
                std::int32_t expected = 0,
                Status status = Status::kBadKey) const noexcept;
  bool has_key(std::size_t key) const noexcept {
    return values_[key] != nullptr;
  }
  std::int32_t Number(std::size_t key, std::size_t i = 0) const noexcept;
  std::uint16_t Number16(std::size_t key, std::size_t i = 0) const noexcept {
    return static_cast<std::uint16_t>(Number(key, i));
  }
  std::uint8_t Number8(std::size_t key, std::size_t i = 0) const noexcept {
    return static_cast<std::uint8_t>(Number(key, i));
  }

  Span<const std::uint8_t> file() const noexcept { return file_; }
  StringView name() const noexcept {
    return has_key(kName) ? StringAt(values_[kName]) : StringView();
  }
  // The name behind its size; null if there is none.
  const std::uint8_t* sized_name() const noexcept { return values_[kName]; }
  const std::uint8_t* labels() const noexcept { return values_[kLabels]; }
  std::uint32_t checksum() const noexcept {
    return LoadU32(values_[kChecksum]);
  }
  const TextParams& text_params() const noexcept { return text_params_; }
  Span<const std::uint8_t> fold_table_bytes() const noexcept;

 private:
  bool Applies(When when) const noexcept;
  Status BadTensor(StringView name, Sentence expectation,
                   std::uint32_t found = 0,
                   std::uint32_t expected = 0) const noexcept;

  Status FindKeys() noexcept;
  Status FindKey(const GgufKey& key) noexcept;
  std::uint32_t ArrayCount(std::size_t key) const noexcept {
    return LoadSize(values_[key] - 8);
  }
  Status CheckKeys(std::size_t first, std::size_t end) const noexcept;
  Status CheckKey(std::size_t key) const noexcept;
  Status CheckString(std::size_t key, StringView text) const noexcept;
  Status ReadChoices() noexcept;
  Status ReadLabels() noexcept;
  Status CheckLabelsDiffer() const noexcept;
  Status ReadAudioShape() noexcept;
  Status CheckSpotter() const noexcept;
  Slot AudioSlot(std::uint8_t part) noexcept;
  Status ReadFrontEnd(LogMel* mel, SpotterParams* spotter) const noexcept;
  void ReadSpotter(SpotterParams* params) const noexcept;
  Status CheckChecksum() const noexcept;

  bool HasPart(std::uint8_t layer, std::uint8_t part) const noexcept;
  bool FindTensor(StringView name, TensorId* id) const noexcept;
  Slot SlotOf(const TensorId& id) noexcept;
  Status BindTensors() noexcept;
  Status BindTensor(const GgufTensor& tensor) noexcept;
  // A look at one tensor that the model has a place for.
  using TensorCheck = Status (ModelReader::*)(const TensorId& id) noexcept;
  Status CheckTensors(TensorCheck check) noexcept;
  Status CheckLayer(TensorCheck check, std::uint8_t layer,
                    std::uint8_t block) noexcept;
  Status CheckPresence(const TensorId& id) noexcept;
  Status CheckValues(const TensorId& id) noexcept;

  Span<const std::uint8_t> file_;
  ErrorInfo* error_;
  const ModelFormat& format_;
  GgufReader reader_;
  // First byte of each key's value (of an array: of its first element), or
  // null; the order of keys in the file is free, so they are collected first.
  const std::uint8_t* values_[kKeyCount] = {};
  EncoderShape shape_;
  TextParams text_params_;
  const std::int8_t* fold_table_ = nullptr;
  std::uint32_t fold_table_size_ = 0;
  LogMel mel_;  // its tables
  std::uint32_t mel_weights_ = 0;
};

}  // namespace atto::model_file

#endif  // ATTO_RUNTIME_MODEL_MODEL_READER_H_
