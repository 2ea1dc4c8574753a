#include "runtime/classifier.h"

#include <cstring>
#include <new>

#include "ops/softmax/softmax.h"

namespace atto {

Status TextClassifier::Init(Span<const std::uint8_t> model,
                            Span<std::uint8_t> arena, ErrorInfo* error,
                            const Backend* backend) noexcept {
  const Status status = encoder_.Init(model, arena, error, backend);
  if (status != Status::kOk) return status;
  if (encoder_.model().shape().input != Input::kText) {
    encoder_ = Encoder();
    return Fail(error, Status::kUnsupported, "atto.input",
                "must be text for a text classifier", 0, 0);
  }
  return Status::kOk;
}

Status TextClassifier::Classify(Span<const char> text,
                                Classification* classification) noexcept {
  if (!encoder_.initialized()) return Status::kNotInitialized;
  if (classification == nullptr || (text.data() == nullptr && !text.empty())) {
    return Status::kNullPointer;
  }
  *classification = Classification();
  const Embedding& embedding = model().embedding();
  encoder_.Start();
  // In the arena rather than on the stack: its bytes serve keys and values
  // afterwards.
  auto* const tokenizer =
      new (encoder_.buffer<void>(kTokenizer)) Tokenizer(Tokenize(text));
  Token token;
  while (tokenizer->Next(&token)) {
    std::int8_t* const row = encoder_.NextRow();
    if (row == nullptr) {
      ++classification->cut_tokens;
      continue;
    }
    ++classification->tokens;
    encoder_.backend().embedding_sum_s8(embedding, token.rows, row);
  }
  classification->cut_features = tokenizer->cut_features();
  classification->invalid_utf8 = tokenizer->invalid_utf8();

  Span<const std::int16_t> logits;
  const Status status = encoder_.Run(&logits);
  if (status != Status::kOk) return status;
  const Span<std::uint16_t> scores(encoder_.buffer<std::uint16_t>(kClassScores),
                                   logits.size());
  ClassScores(logits, scores);
  std::size_t best = 0;
  for (std::size_t i = 1; i < logits.size(); ++i) {
    if (logits[i] > logits[best]) best = i;
  }
  classification->label = static_cast<std::uint16_t>(best);
  classification->score = scores[best];
  classification->scores = scores;
  classification->logits = logits;
  return Status::kOk;
}

Status TextClassifier::Classify(const char* text,
                                Classification* classification) noexcept {
  if (text == nullptr) return Status::kNullPointer;
  return Classify(Span<const char>(text, std::strlen(text)), classification);
}

const char* backend_name() noexcept {
  const Backend* const backend = DefaultBackend();
  return backend != nullptr ? backend->name : "none";
}

}  // namespace atto
