// The tensors of a model one by one, for people and tools that take stock.
#ifndef ATTO_RUNTIME_MODEL_TENSOR_ITERATOR_H_
#define ATTO_RUNTIME_MODEL_TENSOR_ITERATOR_H_

#include <cstdint>

#include "runtime/model/gguf.h"
#include "runtime/model/model.h"

namespace atto {

// Walks the tensors in the order of the file, without a copy:
//   GgufTensor tensor;
//   for (TensorIterator tensors(model); tensors.Next(&tensor);) ...
class TensorIterator {
 public:
  // An iterator over a model that is not initialised ends at once. The model's
  // file must outlive it.
  explicit TensorIterator(const Model& model) noexcept;

  // Gives the next tensor; false at the end.
  bool Next(GgufTensor* tensor) noexcept;

 private:
  GgufReader reader_;
  std::uint32_t left_ = 0;
};

}  // namespace atto

#endif  // ATTO_RUNTIME_MODEL_TENSOR_ITERATOR_H_
