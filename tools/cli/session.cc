#include "tools/cli/session.h"

#include <algorithm>

#include "runtime/model/gguf.h"

namespace atto::cli {

void Refuse(const std::string& path, const ErrorInfo& error) {
  std::string sentence = path + ": " + StatusMessage(error.status);
  if (error.subject[0] != '\0') {
    sentence += ": '" + std::string(error.subject) + "' " + error.expectation;
    // Both 0: the matter is not a number.
    if (error.found != 0 || error.expected != 0) {
      sentence += " " + std::to_string(error.expected) + ", found " +
                  std::to_string(error.found);
    }
  }
  throw Failure(sentence);
}

ErrorInfo CheckOutline(Span<const std::uint8_t> file) {
  ErrorInfo error;
  EncoderShape shape;
  GgufReader reader;
  error.status = Model::ReadShape(file, &shape, &error);
  if (error.status == Status::kOk) error.status = reader.Open(file, &error);
  GgufKey key;
  for (std::uint32_t i = 0;
       error.status == Status::kOk && i < reader.key_count(); ++i) {
    error.status = reader.NextKey(&key);
  }
  if (error.status == Status::kOk) error.status = reader.OpenTensors();
  return error;
}

AlignedBytes ReadModel(const std::string& path) {
  const MappedFile mapped(path);
  if (!mapped.bytes().empty()) {
    const ErrorInfo error = CheckOutline(mapped.bytes());
    if (error.status != Status::kOk) Refuse(path, error);
  }
  return ReadBytes(path);
}

std::string ToString(StringView view) {
  return view.empty() ? std::string() : std::string(view.data(), view.size());
}

std::vector<std::string> LabelsOf(const Model& model) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < model.shape().classes; ++i) {
    labels.push_back(ToString(model.label(i)));
  }
  return labels;
}

Input InputOf(const std::string& path) {
  AlignedBytes file = ReadModel(path);
  ErrorInfo error;
  EncoderShape shape;
  error.status = Model::ReadShape(file.bytes(), &shape, &error);
  if (error.status != Status::kOk) Refuse(path, error);
  return shape.input;
}

template <class Classifier>
BasicSession<Classifier>::BasicSession(const std::string& path)
    : path_(path), file_(ReadModel(path)) {
  ErrorInfo error;
  EncoderShape shape;
  error.status = Model::ReadShape(file_.bytes(), &shape, &error);
  if (error.status != Status::kOk) Refuse(path, error);
  const Backend* const backend = DefaultBackend();
  if (backend != nullptr) {
    arena_ = AlignedBytes(ArenaBytes(shape, backend->memory));
  }
  error.status = classifier_.Init(file_.bytes(), arena_.bytes(), &error);
  if (error.status != Status::kOk) Refuse(path, error);
  labels_ = LabelsOf(model());
}

template <class Classifier>
std::size_t BasicSession<Classifier>::LabelIndex(
    const std::optional<std::string>& label) const {
  if (!label) return labels_.size() - 1;
  const auto at = std::find(labels_.begin(), labels_.end(), *label);
  if (at == labels_.end()) {
    std::string known;
    for (const std::string& one : labels_) {
      known += (known.empty() ? "" : ", ") + one;
    }
    throw Failure(path_ + ": has no label '" + *label + "', only " + known);
  }
  return static_cast<std::size_t>(at - labels_.begin());
}

template <class Classifier>
bool BasicSession<Classifier>::Check(Status status) const {
  if (status == Status::kEmptyInput) return false;
  if (status != Status::kOk) {
    throw Failure(path_ + ": " + StatusMessage(status));
  }
  return true;
}

template class BasicSession<TextClassifier>;
template class BasicSession<AudioClassifier>;

std::size_t Decide(const Classification& result, std::size_t positive,
                   const std::optional<double>& threshold) {
  if (!threshold) return result.label;
  if (result.scores[positive] >= *threshold * kScoreOne) return positive;
  std::size_t best = positive == 0 ? 1 : 0;
  for (std::size_t i = 0; i < result.scores.size(); ++i) {
    if (i != positive && result.logits[i] > result.logits[best]) best = i;
  }
  return best;
}

}  // namespace atto::cli
