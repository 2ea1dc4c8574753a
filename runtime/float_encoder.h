// The float twin of the encoder: float rows in, float logits out. The same
// model before quantisation, to compare the integer one with, and to calibrate
// it. Host builds only. Method: docs/quantization.md, "The encoder", in real
// numbers; tools/reference/float_encoder.py.
#ifndef ATTO_RUNTIME_FLOAT_ENCODER_H_
#define ATTO_RUNTIME_FLOAT_ENCODER_H_

#include <cstddef>
#include <cstdint>

#include "ops/base/span.h"
#include "ops/base/status.h"
#include "ops/float_backend.h"
#include "runtime/error_info.h"
#include "runtime/memory/float_encoder_plan.h"
#include "runtime/model/float_model.h"

namespace atto {

class FloatEncoder {
 public:
  // `file`: a float model, kept and read in place; aligned to
  // FloatModel::kAlignment. `arena`: at least FloatArenaBytes(shape,
  // backend->memory) bytes aligned to kArenaAlignment; kept. `backend`: what
  // runs; null is kUnsupported.
  // On failure nothing may be run and `error`, if given, names the culprit.
  Status Init(Span<const std::uint8_t> file, Span<std::uint8_t> arena,
              ErrorInfo* error = nullptr,
              const FloatBackend* backend = DefaultFloatBackend()) noexcept;

  bool initialized() const noexcept { return arena_ != nullptr; }
  const FloatModel& model() const noexcept { return model_; }
  // Legal: Init has succeeded.
  const FloatBackend& backend() const noexcept { return *backend_; }

  // A sequence: Start, then rows, then Run.
  // Legal: Init has succeeded.
  void Start() noexcept;

  // Where the next input row, [e] floats, is to be written; null when the
  // sequence is full. The row counts as soon as it was handed out. Audio: the
  // front end's int8 features as they are, in [-127, 127]. Rows must be finite.
  float* NextRow() noexcept;

  // The next row of a text model: the sum of the table's rows that a token has.
  // False when the sequence is full. Legal: each row <
  // model().embedding().rows.
  bool AddToken(Span<const std::uint16_t> rows) noexcept;

  // Rows so far, a class token included.
  std::size_t rows() const noexcept { return rows_; }

  // Runs the encoder over the rows since Start. The result [c], logits in nats,
  // stays valid until the next Start. kEmptyInput: no input row since Start.
  Status Run(Span<const float>* logits) noexcept;

  // Memory of the arena for the owner of this encoder: valid as the plan says.
  template <typename T>
  T* buffer(FloatEncoderBuffer which) noexcept {
    // Every buffer is aligned to kArenaAlignment.
    return static_cast<T*>(static_cast<void*>(arena_ + offsets_[which]));
  }

 private:
  void EndSequence() noexcept;
  void ProjectPendingRows() noexcept;
  // What a block's layers read of x: its norm, or with post-norm x itself.
  MatrixView<const float> LayerInput(const FloatLayerNorm& norm,
                                     MatrixView<const float> x) noexcept;
  void KeysAndValues(const FloatBlockWeights& block) noexcept;
  void AttendTile(const FloatBlockWeights& block, std::size_t first,
                  std::size_t count) noexcept;
  void FeedForwardTile(const FloatBlockWeights& block, std::size_t first,
                       std::size_t count) noexcept;
  void Pool() noexcept;

  MatrixView<float> residual() noexcept;
  MatrixView<float> tile(FloatEncoderBuffer which, std::size_t rows,
                         std::size_t cols) noexcept;

  FloatModel model_;
  std::size_t offsets_[kFloatEncoderBuffers] = {};  // of the memory plan
  const FloatBackend* backend_ = nullptr;
  FloatAttention attention_;
  std::uint8_t* arena_ = nullptr;
  std::size_t row_limit_ = 0;  // of this sequence; 0 outside of one
  std::size_t rows_ = 0;       // handed out, class token included
  std::size_t projected_ = 0;  // of these, already in the residual stream
};

}  // namespace atto

#endif  // ATTO_RUNTIME_FLOAT_ENCODER_H_
