// atto attention: which words the model looked at.
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/attention_view.h"
#include "tools/cli/audio_file.h"
#include "tools/cli/commands.h"
#include "tools/cli/format.h"
#include "tools/cli/session.h"

namespace atto::cli {
namespace {

// Rows arrive in the order of the work, so every map grows from its end.
void Collect(void* context, const AttentionRow& row) {
  auto& blocks = *static_cast<std::vector<std::vector<AttentionMap>>*>(context);
  for (const std::int8_t weight : row.weights) {
    blocks[row.block][row.head].push_back(static_cast<double>(weight) /
                                          row.sum);
  }
}

// Classifies by `classify`, which returns false for an empty input, with a tap
// on the encoder; everything but the words.
template <class AnySession, class Classify>
AttentionView Look(AnySession* session, const char* nothing,
                   const Classify& classify, Classification* result) {
  const EncoderShape& shape = session->shape();
  AttentionView view;
  view.blocks.assign(shape.blocks, std::vector<AttentionMap>(shape.heads));
  std::vector<std::int8_t> buffer(AttentionTapBytes(shape));
  AttentionTap tap;
  tap.on_row = &Collect;
  tap.context = &view.blocks;
  tap.buffer = {buffer.data(), buffer.size()};
  if (session->encoder().set_tap(tap) != Status::kOk) {
    throw Failure("the attention tap was refused");
  }
  if (!classify(result)) throw Failure(nothing);
  view.model = session->name();
  view.label = session->labels()[result->label];
  view.score = ScoreToFloat(result->score);
  view.cut_tokens = result->cut_tokens;
  if (shape.pooling == Pooling::kClass) view.words.push_back("[class]");
  return view;
}

AttentionView LookAtText(Session* session, const std::string& text) {
  Classification result;
  AttentionView view = Look(
      session, "the message holds no token: there is nothing to look at",
      [&](Classification* c) { return session->Classify(text, c); }, &result);
  const std::string_view source = text;
  Tokenizer tokenizer = session->Tokenize(source);
  Token token;
  for (std::size_t i = 0; i < result.tokens && tokenizer.Next(&token); ++i) {
    view.words.push_back(Printable(source.substr(token.offset, token.length)));
  }
  return view;
}

// The words of a clip are the times at which its rows begin.
AttentionView LookAtClip(AudioSession* session, const std::string& path) {
  std::uint64_t total = 0;
  const std::vector<std::int16_t> pcm =
      ReadClip(path, session->sample_rate(), session->window(), &total);
  Classification result;
  AttentionView view = Look(
      session, "the file holds no sample: there is nothing to look at",
      [&](Classification* c) { return session->Classify(pcm, c); }, &result);
  const AudioShape& audio = session->shape().audio;
  for (std::size_t i = 0; i < result.tokens; ++i) {
    const std::size_t sample = i * audio.patch_stride * audio.hop_length;
    view.words.push_back(
        Fixed(static_cast<double>(sample) / audio.sample_rate, 2) + "s");
  }
  return view;
}

void Print(const AttentionView& view, std::size_t block,
           const std::optional<std::size_t>& head) {
  const std::size_t n = view.words.size();
  const std::size_t columns = TerminalColumns();
  const std::vector<AttentionMap>& heads = view.blocks[block];
  std::printf("%s %.3f, %zu tokens", view.label.c_str(), view.score, n);
  if (view.cut_tokens > 0) std::printf(" (%zu cut off)", view.cut_tokens);
  std::printf(
      "\n░ weak  ▒ medium  █ strong, by the part of the largest share\n\n");

  const auto print_words = [&](const std::string& title,
                               const AttentionMap& map) {
    std::printf("block %zu, %s: what the whole input looks at\n%s\n", block + 1,
                title.c_str(),
                DrawShadedWords(view.words, MeanRow(map, n), columns).c_str());
  };
  const auto print_matrix = [&](const std::string& title,
                                const AttentionMap& map) {
    std::printf("block %zu, %s: what each word (row) looks at (column)\n%s",
                block + 1, title.c_str(),
                DrawMatrix(view.words, map, columns).c_str());
  };
  if (head) {
    const std::string title = "head " + std::to_string(*head + 1);
    print_words(title, heads[*head]);
    print_matrix(title, heads[*head]);
    return;
  }
  for (std::size_t i = 0; i < heads.size(); ++i) {
    print_words("head " + std::to_string(i + 1), heads[i]);
  }
  const AttentionMap mean = MeanMap(heads);
  if (heads.size() > 1) print_words("mean of the heads", mean);
  print_matrix("mean of the heads", mean);
}

// A number from 1 to `count`, as an index.
std::size_t ToIndex(const char* option, std::size_t number, std::size_t count) {
  if (number < 1 || number > count) {
    throw UsageError(std::string(option) + ": must be 1 to " +
                     std::to_string(count) + " for this model, not " +
                     std::to_string(number));
  }
  return number - 1;
}

template <class AnySession, class LookAt>
void ShowAttention(const AttentionOptions& options, const LookAt& look_at) {
  AnySession session(options.model);
  const EncoderShape& shape = session.shape();
  const std::size_t block =
      ToIndex("--block", options.block.value_or(shape.blocks), shape.blocks);
  std::optional<std::size_t> head;
  if (options.head) head = ToIndex("--head", *options.head, shape.heads);
  const AttentionView view = look_at(&session, options.text);
  if (options.html) {
    WriteText(*options.html, MakeAttentionPage(view));
    std::printf("%s: blocks %zu, heads %zu, tokens %zu\n",
                options.html->c_str(), view.blocks.size(),
                view.blocks.front().size(), view.words.size());
  } else {
    Print(view, block, head);
  }
}

}  // namespace

void ShowAttention(const AttentionOptions& options) {
  if (InputOf(options.model) == Input::kAudio) {
    ShowAttention<AudioSession>(options, LookAtClip);
  } else {
    ShowAttention<Session>(options, LookAtText);
  }
}

}  // namespace atto::cli
