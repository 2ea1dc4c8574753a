#include "runtime/model/gguf.h"

namespace atto {
namespace {

constexpr std::uint8_t kMagic[4] = {'G', 'G', 'U', 'F'};
constexpr std::uint32_t kHeaderBytes = 24;
constexpr std::uint32_t kMaxU32 = 0xFFFFFFFF;

// Bytes of a value by GgufType; 0: strings and arrays, whose size varies.
constexpr std::uint8_t kValueBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
constexpr std::uint32_t kLastValueType = sizeof(kValueBytes) - 1;

// Bytes of a tensor element; 0: a type that atto does not read.
std::uint32_t ElementBytes(std::uint32_t type) noexcept {
  switch (type) {
    case static_cast<std::uint32_t>(TensorType::kI8): return 1;
    case static_cast<std::uint32_t>(TensorType::kI16): return 2;
    case static_cast<std::uint32_t>(TensorType::kI32):
    case static_cast<std::uint32_t>(TensorType::kF32): return 4;
    default: return 0;
  }
}

}  // namespace

Status GgufReader::Bad(Status status, Sentence expectation, std::uint32_t found,
                       std::uint32_t expected) const noexcept {
  return Fail(error_, status, subject_.data(), subject_.size(), expectation,
              found, expected);
}

Status GgufReader::Truncated() const noexcept {
  return Bad(Status::kTruncated, "file bytes must be at least", file_bytes(),
             needed_);
}

// The next `bytes` bytes, or null when the file ends before them.
const std::uint8_t* GgufReader::Take(std::uint32_t bytes) noexcept {
  const std::uint32_t position = position_;
  if (bytes > file_bytes() - position) {
    const std::uint32_t end = position + bytes;
    needed_ = end < bytes ? kMaxU32 : end;
    return nullptr;
  }
  position_ = position + bytes;
  return file_.data() + position;
}

bool GgufReader::TakeString(StringView* text) noexcept {
  const std::uint8_t* const size = Take(8);
  if (size == nullptr) return false;
  const std::uint8_t* const bytes = Take(LoadSize(size));
  if (bytes == nullptr) return false;
  *text = StringView(reinterpret_cast<const char*>(bytes), LoadSize(size));
  return true;
}

// Names are ASCII by the specification; holding them to it keeps every
// ErrorInfo printable. `what` is the subject as long as there is no name.
Status GgufReader::TakeName(StringView what, Status bad,
                            StringView* name) noexcept {
  subject_ = what;
  if (!TakeString(name)) return Truncated();
  if (name->empty() || name->size() > kMaxNameBytes) {
    return Bad(bad, "bytes must be from 1 to",
               static_cast<std::uint32_t>(name->size()), kMaxNameBytes);
  }
  for (const char c : *name) {
    const std::uint8_t byte = static_cast<std::uint8_t>(c);
    if (byte < '!' || byte > '~') {
      return Bad(bad, "must be printable ASCII: bytes from 33 to", byte, '~');
    }
  }
  subject_ = *name;
  return Status::kOk;
}

Status GgufReader::TakeStrings(std::uint32_t count) noexcept {
  // Each takes at least the 8 bytes of its size.
  const std::uint32_t position = position_;
  const bool fits = count <= kMaxFileBytes / 8;
  if (Take(fits ? 8 * count : kMaxU32) == nullptr) return Truncated();
  position_ = position;
  if (count > kMaxStrings - string_count_) {
    return Bad(Status::kBadKey, "strings of all keys so far must be at most",
               string_count_ + count, kMaxStrings);
  }
  string_count_ += count;
  StringView text;
  for (; count > 0; --count) {
    if (!TakeString(&text)) return Truncated();
  }
  return Status::kOk;
}

Status GgufReader::TakeArray(GgufType element, std::uint32_t count) noexcept {
  const std::uint8_t bytes = kValueBytes[static_cast<std::size_t>(element)];
  if (bytes == 0) return TakeStrings(count);
  // What no file can hold is not multiplied out: it might overflow.
  const bool fits = count <= kMaxFileBytes / bytes;
  return Take(fits ? count * bytes : kMaxU32) != nullptr ? Status::kOk
                                                         : Truncated();
}

Status GgufReader::Open(Span<const std::uint8_t> file,
                        ErrorInfo* error) noexcept {
  *this = GgufReader();
  file_ = file;
  error_ = error;
  subject_ = Literal("model");
  if (file.data() == nullptr) {
    return Bad(Status::kNullPointer, "must not be null");
  }
  if (file.size() > kMaxFileBytes) {
    return Fail(error, Status::kUnsupported, "model",
                "file bytes must be at most",
                static_cast<std::int64_t>(file.size()), kMaxFileBytes);
  }
  // The magic comes first: a short file of something else is no cut model.
  const std::size_t magic_bytes =
      file.size() < sizeof(kMagic) ? file.size() : sizeof(kMagic);
  if (std::memcmp(file.data(), kMagic, magic_bytes) != 0) {
    return Bad(Status::kBadMagic, "must begin with 'GGUF'");
  }
  subject_ = Literal("header");
  const std::uint8_t* const header = Take(kHeaderBytes);
  if (header == nullptr) return Truncated();
  const std::uint32_t version = LoadU32(header + 4);
  if (version != kVersion) {
    return Bad(Status::kBadVersion, "GGUF version must be", version, kVersion);
  }
  tensor_count_ = LoadSize(header + 8);
  if (tensor_count_ > kMaxTensors) {
    return Bad(Status::kBadTensor, "number of tensors must be at most",
               tensor_count_, kMaxTensors);
  }
  key_count_ = LoadSize(header + 16);
  if (key_count_ > kMaxKeys) {
    return Bad(Status::kBadKey, "number of keys must be at most", key_count_,
               kMaxKeys);
  }
  return Status::kOk;
}

Status GgufReader::NextKey(GgufKey* key) noexcept {
  Status status = TakeName(Literal("key name"), Status::kBadKey, &key->name);
  if (status != Status::kOk) return status;
  const std::uint8_t* p = Take(4);
  if (p == nullptr) return Truncated();
  std::uint32_t type = LoadU32(p);
  std::uint32_t count = 1;
  key->type = static_cast<GgufType>(type);
  if (type == static_cast<std::uint32_t>(GgufType::kArray)) {
    p = Take(12);
    if (p == nullptr) return Truncated();
    type = LoadU32(p);
    count = LoadSize(p + 4);
  }
  // Arrays of arrays serve no model, and reading them would take a stack.
  if (type > kLastValueType ||
      type == static_cast<std::uint32_t>(GgufType::kArray)) {
    return Bad(Status::kBadKey, "value type must be 0..8 or from 10 to", type,
               kLastValueType);
  }
  key->element = static_cast<GgufType>(type);
  key->value = file_.data() + position_;
  status = TakeArray(key->element, count);
  if (status != Status::kOk) return status;
  if (Equal(key->name, Literal("general.alignment"))) {
    return SetAlignment(*key);
  }
  return Status::kOk;
}

Status GgufReader::SetAlignment(const GgufKey& key) noexcept {
  if (has_alignment_) return Bad(Status::kBadKey, "must not be given twice");
  if (key.type != GgufType::kU32) {
    return Bad(Status::kBadKey, "value type must be",
               static_cast<std::uint32_t>(key.type),
               static_cast<std::uint32_t>(GgufType::kU32));
  }
  alignment_ = LoadU32(key.value);
  if (alignment_ < kMinAlignment || alignment_ > kMaxAlignment ||
      (alignment_ & (alignment_ - 1)) != 0) {
    return Bad(Status::kBadKey, "must be a power of two from 16 to", alignment_,
               kMaxAlignment);
  }
  has_alignment_ = true;
  return Status::kOk;
}

// Reads the description of a tensor; its data are looked at by OpenTensors.
Status GgufReader::TakeTensor(GgufTensor* tensor) noexcept {
  const Status status =
      TakeName(Literal("tensor name"), Status::kBadTensor, &tensor->name);
  if (status != Status::kOk) return status;
  const std::uint8_t* p = Take(4);
  if (p == nullptr) return Truncated();
  tensor->dims = LoadU32(p);
  if (tensor->dims < 1 || tensor->dims > GgufTensor::kMaxDims) {
    return Bad(Status::kBadTensor, "number of dimensions must be from 1 to",
               tensor->dims, GgufTensor::kMaxDims);
  }
  std::uint64_t elements = 1;
  for (std::size_t i = 0; i < GgufTensor::kMaxDims; ++i) {
    tensor->shape[i] = 1;
    if (i >= tensor->dims) continue;
    p = Take(8);
    if (p == nullptr) return Truncated();
    const std::uint32_t size = LoadSize(p);
    elements *= size;  // both below 2^32
    if (elements < 1 || elements > kMaxFileBytes / 4) {
      return Fail(error_, Status::kBadTensor, tensor->name.data(),
                  tensor->name.size(), "number of elements must be from 1 to",
                  static_cast<std::int64_t>(elements), kMaxFileBytes / 4);
    }
    tensor->shape[i] = size;
  }
  p = Take(12);
  if (p == nullptr) return Truncated();
  const std::uint32_t type = LoadU32(p);
  const std::uint32_t element_bytes = ElementBytes(type);
  if (element_bytes == 0) {
    return Bad(Status::kBadTensor,
               "type must be 0 (F32), 24 (I8), 25 (I16) or, for I32,", type,
               static_cast<std::uint32_t>(TensorType::kI32));
  }
  tensor->type = static_cast<TensorType>(type);
  tensor->offset = LoadSize(p + 4);
  tensor->bytes = static_cast<std::uint32_t>(elements) * element_bytes;
  return Status::kOk;
}

Status GgufReader::OpenTensors() noexcept {
  const std::uint32_t first = position_;
  std::uint32_t data_bytes = 0;
  GgufTensor tensor;
  for (std::uint32_t i = 0; i < tensor_count_; ++i) {
    const Status status = TakeTensor(&tensor);
    if (status != Status::kOk) return status;
    if (tensor.offset != data_bytes) {
      return Bad(Status::kBadTensor,
                 "data must follow those of the tensor before: offset must be",
                 tensor.offset, data_bytes);
    }
    // Both at most kMaxFileBytes: no overflow.
    data_bytes = AlignUp(data_bytes + tensor.bytes);
    if (data_bytes > file_bytes()) {
      needed_ = data_bytes;
      return Truncated();
    }
  }
  data_start_ = AlignUp(position_);
  const std::uint32_t end = data_start_ + data_bytes;
  subject_ = Literal("tensor data");
  if (end > file_bytes()) {
    needed_ = end;
    return Truncated();
  }
  if (end < file_bytes()) {
    return Bad(Status::kBadTensor, "must end the file: file bytes must be",
               file_bytes(), end);
  }
  position_ = first;
  return Status::kOk;
}

GgufTensor GgufReader::NextTensor() noexcept {
  GgufTensor tensor;
  // OpenTensors has read the same bytes without an error.
  static_cast<void>(TakeTensor(&tensor));
  tensor.data = file_.data() + data_start_ + tensor.offset;
  return tensor;
}

}  // namespace atto
