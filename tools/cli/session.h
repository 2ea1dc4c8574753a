// A model, loaded and ready to classify.
#ifndef ATTO_TOOLS_CLI_SESSION_H_
#define ATTO_TOOLS_CLI_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/classifier.h"
#include "tools/cli/files.h"

namespace atto::cli {

// Throws a Failure that names the model file and what is wrong in it.
[[noreturn]] void Refuse(const std::string& path, const ErrorInfo& error);

// kOk if the container is whole and its keys give the shape of a model. Looks
// at no more of it, so that a mapped file is not read; whether the model is
// valid is for Init to say.
ErrorInfo CheckOutline(Span<const std::uint8_t> file);

// The bytes of a file that has the outline of a model, for Init to validate;
// throws Failure for any other. A large file of garbage is refused in
// milliseconds, without being read into memory.
AlignedBytes ReadModel(const std::string& path);

std::string ToString(StringView view);

std::vector<std::string> LabelsOf(const Model& model);

// What kind of input the model file takes. Throws Failure if it is no model.
Input InputOf(const std::string& path);

// A model and its classifier, TextClassifier or AudioClassifier.
template <class Classifier>
class BasicSession {
 public:
  // Throws Failure if the file cannot be read or is not a valid model with the
  // classifier's kind of input.
  explicit BasicSession(const std::string& path);
  BasicSession(const BasicSession&) = delete;
  BasicSession& operator=(const BasicSession&) = delete;

  Encoder& encoder() { return classifier_.encoder(); }
  const Model& model() const { return classifier_.model(); }
  const EncoderShape& shape() const { return model().shape(); }
  std::string name() const { return ToString(model().name()); }
  // Name of the kernels that run.
  const char* backend() { return encoder().backend().name; }
  const std::vector<std::string>& labels() const { return labels_; }
  std::size_t file_bytes() const { return file_.size(); }
  std::size_t arena_bytes() const { return arena_.size(); }

  // Index of a label; without a name, the last one. Throws Failure if the
  // model has no such label.
  std::size_t LabelIndex(const std::optional<std::string>& label) const;

 protected:
  // Throws what is no empty input; false for that.
  bool Check(Status status) const;

  std::string path_;
  AlignedBytes file_;
  AlignedBytes arena_;
  Classifier classifier_;
  std::vector<std::string> labels_;
};

class Session : public BasicSession<TextClassifier> {
 public:
  using BasicSession::BasicSession;

  Tokenizer Tokenize(std::string_view text) const {
    return classifier_.Tokenize({text.data(), text.size()});
  }

  // Classifies; false if the text holds no token.
  bool Classify(std::string_view text, Classification* result) {
    return Check(classifier_.Classify(
        Span<const char>(text.data(), text.size()), result));
  }
};

class AudioSession : public BasicSession<AudioClassifier> {
 public:
  using BasicSession::BasicSession;

  unsigned sample_rate() const { return shape().audio.sample_rate; }
  std::size_t window() const { return classifier_.window(); }

  // Classifies; false if there is no sample.
  bool Classify(const std::vector<std::int16_t>& pcm, Classification* result) {
    return Check(classifier_.Classify({pcm.data(), pcm.size()}, result));
  }
};

// The class that a result stands for. Without a threshold the one of the
// largest score; with one, `positive` exactly if its score reaches it, else the
// best of the others.
std::size_t Decide(const Classification& result, std::size_t positive,
                   const std::optional<double>& threshold);

}  // namespace atto::cli

#endif  // ATTO_TOOLS_CLI_SESSION_H_
