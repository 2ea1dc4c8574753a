#include "runtime/model/tensor_iterator.h"

namespace atto {

TensorIterator::TensorIterator(const Model& model) noexcept {
  if (!model.initialized()) return;
  if (reader_.Open(model.file(), nullptr) != Status::kOk) return;
  GgufKey key;
  for (std::uint32_t i = 0; i < reader_.key_count(); ++i) {
    if (reader_.NextKey(&key) != Status::kOk) return;
  }
  if (reader_.OpenTensors() == Status::kOk) left_ = reader_.tensor_count();
}

bool TensorIterator::Next(GgufTensor* tensor) noexcept {
  if (left_ == 0) return false;
  --left_;
  *tensor = reader_.NextTensor();
  return true;
}

}  // namespace atto
