#include "runtime/model/model_reader.h"

#include <cstring>

#include "ops/activation/activation.h"
#include "ops/layernorm/layernorm.h"
#include "ops/matmul/matmul.h"
#include "ops/softmax/softmax.h"
#include "runtime/model/crc32.h"
#include "runtime/text/normalizer.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "models are little-endian and read in place: so must the target be"
#endif

namespace atto::model_file {

// Which models a key or tensor belongs to. In all others it means nothing: a
// key is ignored there, a tensor is an error.
enum class When : std::uint8_t {
  kAlways,
  kOptional,  // in any model, and need not be there
  kText,
  kAudio,
  kOptionalAudio,
  kMeanPooling,
  kClassPooling,
  kPreNorm,
  kPostNorm,
  kGelu,
};

namespace {

constexpr std::uint32_t kFormatVersion = 1;
constexpr std::size_t kMaxLabelBytes = 63;
constexpr std::size_t kMinClasses = 2;

struct KeySpec {
  const char* name;
  std::uint8_t name_bytes;
  GgufType type;  // of the value, or of an array's elements
  bool array;     // one element a block, except for the labels
  When when;
  std::int16_t min;
  std::uint16_t max;  // 0: no range here
};

template <std::size_t kSize>
constexpr KeySpec Key(const char (&name)[kSize], GgufType type, bool array,
                      When when, std::int16_t min, std::uint16_t max) noexcept {
  static_assert(kSize - 1 < ErrorInfo::kMaxSubject);
  return {name, kSize - 1, type, array, when, min, max};
}

template <std::size_t kSize>
constexpr KeySpec StringKey(const char (&name)[kSize], When when) noexcept {
  return Key(name, GgufType::kString, false, when, 0, 0);
}

template <std::size_t kSize>
constexpr KeySpec NumberKey(const char (&name)[kSize], When when,
                            std::int16_t min, std::uint16_t max) noexcept {
  return Key(name, GgufType::kU32, false, when, min, max);
}

template <std::size_t kSize>
constexpr KeySpec BlockKey(const char (&name)[kSize], GgufType type, When when,
                           std::int16_t min, std::uint16_t max) noexcept {
  return Key(name, type, true, when, min, max);
}

template <std::size_t kSize>
constexpr KeySpec LinearShiftKey(const char (&name)[kSize]) noexcept {
  return BlockKey(name, GgufType::kU8, When::kAlways, 0, Linear::kMaxShift);
}

constexpr KeySpec kKeys[] = {
    StringKey("general.architecture", When::kAlways),
    NumberKey("atto.format_version", When::kAlways, 0, 0),
    StringKey("atto.input", When::kAlways),
    StringKey("atto.norm", When::kAlways),
    StringKey("atto.activation", When::kAlways),
    StringKey("atto.pooling", When::kAlways),
    NumberKey("atto.context_length", When::kAlways, 1,
              EncoderShape::kMaxTokens),
    NumberKey("atto.embedding_length", When::kAlways, EncoderShape::kMinModel,
              EncoderShape::kMaxModel),
    NumberKey("atto.input_length", When::kAlways, 1, EncoderShape::kMaxInput),
    NumberKey("atto.block_count", When::kAlways, 1, EncoderShape::kMaxBlocks),
    NumberKey("atto.attention.head_count", When::kAlways, 1,
              EncoderShape::kMaxModel),
    NumberKey("atto.feed_forward_length", When::kAlways, 1,
              EncoderShape::kMaxFeedForward),
    Key("atto.labels", GgufType::kString, true, When::kAlways, 0, 0),

    StringKey("general.name", When::kOptional),
    NumberKey("atto.checksum", When::kAlways, 0, 0),
    NumberKey("atto.pooling.shift", When::kMeanPooling, 0, 6),
    NumberKey("atto.position.shift", When::kOptional, 0, 8),
    NumberKey("atto.token_embd.multiplier", When::kText, 1, 32767),
    NumberKey("atto.in_proj.shift", When::kAlways, 0, Linear::kMaxShift),
    NumberKey("atto.head.shift", When::kAlways, 0, Linear::kMaxShift),
    NumberKey("atto.input_norm.shift", When::kPostNorm, 0,
              LayerNorm::kMaxShift),
    NumberKey("atto.output_norm.shift", When::kPreNorm, 0,
              LayerNorm::kMaxShift),
    LinearShiftKey("atto.attn_q.shift"),
    LinearShiftKey("atto.attn_k.shift"),
    LinearShiftKey("atto.attn_v.shift"),
    LinearShiftKey("atto.attn_o.shift"),
    LinearShiftKey("atto.ffn_up.shift"),
    LinearShiftKey("atto.ffn_down.shift"),
    BlockKey("atto.attn_norm.shift", GgufType::kU8, When::kAlways, 0,
             LayerNorm::kMaxShift),
    BlockKey("atto.ffn_norm.shift", GgufType::kU8, When::kAlways, 0,
             LayerNorm::kMaxShift),
    BlockKey("atto.attn_score.shift", GgufType::kI8, When::kAlways,
             SoftmaxParams::kMinShift, SoftmaxParams::kMaxShift),
    BlockKey("atto.attn_score.multiplier", GgufType::kU16, When::kAlways, 1,
             32767),
    BlockKey("atto.gelu.fraction_bits", GgufType::kU8, When::kGelu,
             kGeluMinFractionBits, kGeluMaxFractionBits),

    // As kTextParams; ValidateTextParams knows the ranges.
    NumberKey("atto.text.version", When::kText, 0, 0),
    NumberKey("atto.text.buckets", When::kText, 0, 0),
    NumberKey("atto.text.features", When::kText, 0, 0),
    NumberKey("atto.text.ngram_min", When::kText, 0, 0),
    NumberKey("atto.text.ngram_max", When::kText, 0, 0),
    NumberKey("atto.text.max_word_chars", When::kText, 0, 0),
    NumberKey("atto.text.max_features", When::kText, 0, 0),
    NumberKey("atto.text.phone_min_digits", When::kText, 0, 0),
    NumberKey("atto.text.join_spaced_min", When::kText, 0, 0),
    NumberKey("atto.text.join_dotted_min", When::kText, 0, 0),

    NumberKey("atto.audio.sample_rate", When::kAudio, 8000, 48000),
    NumberKey("atto.audio.frame_length", When::kAudio, 1, LogMel::kMaxFft),
    NumberKey("atto.audio.hop_length", When::kAudio, 1, LogMel::kMaxFft),
    NumberKey("atto.audio.fft_length", When::kAudio, LogMel::kMinFft,
              LogMel::kMaxFft),
    NumberKey("atto.audio.bins", When::kAudio, 1, LogMel::kMaxBins),
    NumberKey("atto.audio.patch_frames", When::kAudio, 1,
              EncoderShape::kMaxInput),
    NumberKey("atto.audio.patch_stride", When::kAudio, 1,
              EncoderShape::kMaxInput),
    NumberKey("atto.audio.version", When::kAudio, 1, 1),
    NumberKey("atto.audio.log_multiplier", When::kAudio, 1, 32767),
    NumberKey("atto.audio.log_offset", When::kAudio, 0, 0),
    NumberKey("atto.audio.spot.hop", When::kOptionalAudio, 1,
              EncoderShape::kMaxTokens),
    NumberKey("atto.audio.spot.smoothing", When::kOptionalAudio, 1,
              SpotterParams::kMaxSmoothing),
    NumberKey("atto.audio.spot.looks", When::kOptionalAudio, 1,
              SpotterParams::kMaxLooks),
    NumberKey("atto.audio.spot.votes", When::kOptionalAudio, 1,
              SpotterParams::kMaxLooks),
    NumberKey("atto.audio.spot.refractory", When::kOptionalAudio, 0,
              SpotterParams::kMaxRefractory),
    Key("atto.audio.spot.thresholds", GgufType::kU16, true,
        When::kOptionalAudio, 0, 0),
};
static_assert(sizeof(kKeys) / sizeof(kKeys[0]) == kKeyCount);

// Keys with one of two words, from kChoices on.
struct Choice {
  const char* words[2];  // the values 0 and 1 of the enumeration
  Sentence expectation;
};
constexpr Choice kShapeChoices[] = {
    {{"text", "audio"}, "must be 'text' or 'audio'"},
    {{"pre", "post"}, "must be 'pre' or 'post'"},
    {{"gelu", "relu"}, "must be 'gelu' or 'relu'"},
    {{"mean", "class"}, "must be 'mean' or 'class'"},
};
constexpr std::size_t kChoiceCount =
    sizeof(kShapeChoices) / sizeof(kShapeChoices[0]);
static_assert(kChoices + kChoiceCount == kShapeNumbers);

// Where the values of the keys from kShapeNumbers on go.
constexpr std::uint16_t EncoderShape::*kShapeMembers[] = {
    &EncoderShape::tokens, &EncoderShape::d_model, &EncoderShape::d_input,
    &EncoderShape::blocks, &EncoderShape::heads,   &EncoderShape::d_ffn,
};
constexpr std::size_t kShapeMemberCount =
    sizeof(kShapeMembers) / sizeof(kShapeMembers[0]);
static_assert(kShapeNumbers + kShapeMemberCount == kLabels);

// Where the values of the keys from kTextKeys on go.
constexpr std::uint32_t TextParams::*kTextParams[] = {
    &TextParams::version,         &TextParams::buckets,
    &TextParams::features,        &TextParams::ngram_min,
    &TextParams::ngram_max,       &TextParams::max_word_chars,
    &TextParams::max_features,    &TextParams::phone_min_digits,
    &TextParams::join_spaced_min, &TextParams::join_dotted_min,
};
constexpr std::size_t kTextParamCount =
    sizeof(kTextParams) / sizeof(kTextParams[0]);
static_assert(kTextKeys + kTextParamCount == kAudioShape);

// Where the values of the keys from kAudioShape on go.
constexpr std::uint16_t AudioShape::*kAudioMembers[] = {
    &AudioShape::sample_rate,  &AudioShape::frame_length,
    &AudioShape::hop_length,   &AudioShape::fft_length,
    &AudioShape::bins,         &AudioShape::patch_frames,
    &AudioShape::patch_stride,
};
constexpr std::size_t kAudioMemberCount =
    sizeof(kAudioMembers) / sizeof(kAudioMembers[0]);
static_assert(kAudioShape + kAudioMemberCount == kAudioVersion);

constexpr const char* kParts[] = {"weight",      "bias",       "multiplier",
                                  "gain",        "fold_table", "window",
                                  "mel_filters", "mel_weights"};
static_assert(sizeof(kParts) / sizeof(kParts[0]) == kPartCount);

constexpr std::uint8_t kLinearParts =
    1U << kWeight | 1U << kBias | 1U << kMultiplier;
constexpr std::uint8_t kNormParts = 1U << kGain | 1U << kBias;

struct LayerSpec {
  const char* name;
  std::uint8_t parts;  // one bit each
  When when;
};

constexpr LayerSpec kLayers[] = {
    {"token_embd", 1U << kWeight, When::kText},
    {"text", 1U << kFoldTable, When::kText},
    {"audio", 1U << kWindow | 1U << kMelFilters | 1U << kMelWeights,
     When::kAudio},
    {"position_embd", 1U << kWeight, When::kOptional},
    {"class_embd", 1U << kWeight, When::kClassPooling},
    {"in_proj", kLinearParts, When::kAlways},
    {"head", kLinearParts, When::kAlways},
    {"input_norm", kNormParts, When::kPostNorm},
    {"output_norm", kNormParts, When::kPreNorm},
    {"attn_q", kLinearParts, When::kAlways},
    {"attn_k", kLinearParts, When::kAlways},
    {"attn_v", kLinearParts, When::kAlways},
    {"attn_o", kLinearParts, When::kAlways},
    {"ffn_up", kLinearParts, When::kAlways},
    {"ffn_down", kLinearParts, When::kAlways},
    {"attn_norm", kNormParts, When::kAlways},
    {"ffn_norm", kNormParts, When::kAlways},
};
static_assert(sizeof(kLayers) / sizeof(kLayers[0]) == kLayerCount);
static_assert(kBlockLayerShifts + (kLayerCount - kBlockLayers) ==
              kAttnScoreShift);

// A tensor's name as the file would have it, for tensors that it lacks.
class NameBuffer {
 public:
  explicit NameBuffer(const TensorId& id) noexcept {
    if (id.layer >= kBlockLayers) {
      Append("blk.");
      if (id.block >= 10) AppendChar(static_cast<char>('0' + id.block / 10));
      AppendChar(static_cast<char>('0' + id.block % 10));
      AppendChar('.');
    }
    Append(kLayers[id.layer].name);
    AppendChar('.');
    Append(kParts[id.part]);
  }

  const char* text() const noexcept { return text_; }

 private:
  void AppendChar(char c) noexcept { text_[size_++] = c; }
  void Append(const char* text) noexcept {
    while (*text != '\0') AppendChar(*text++);
  }

  // "blk.63." and the longest layer and part take 32 bytes.
  char text_[40] = {};
  std::size_t size_ = 0;
};
static_assert(EncoderShape::kMaxBlocks <= 100, "two digits name a block");

// True when `text` begins with `head` followed by `next`; both are dropped.
bool SkipPrefix(const char* head, char next, StringView* text) noexcept {
  const std::size_t size = std::strlen(head);
  if (text->size() <= size || std::memcmp(text->data(), head, size) != 0 ||
      (*text)[size] != next) {
    return false;
  }
  *text = text->subspan(size + 1, text->size() - size - 1);
  return true;
}

bool EqualsText(StringView view, const char* text) noexcept {
  return Equal(view, StringView(text, std::strlen(text)));
}

// Controls beyond ASCII: C1, separators of lines and paragraphs, and the marks
// that change the direction of text (Unicode property Bidi_Control), with which
// a label could make what is printed around it read otherwise.
bool IsControl(std::uint32_t code) noexcept {
  return (code >= 0x80 && code < 0xA0) || code == 0x61C || code == 0x200E ||
         code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

// Well-formed UTF-8 without control characters.
bool IsPrintable(StringView text) noexcept {
  for (const char c : text) {
    const std::uint8_t byte = static_cast<std::uint8_t>(c);
    if (byte < 0x20 || byte == 0x7F) return false;
  }
  // A table without entries leaves all code points as they are.
  const FoldTable table;
  Normalizer characters(table, text);
  NormalChar character;
  while (characters.Next(&character)) {
    if (IsControl(character.code)) return false;
  }
  return characters.invalid_utf8() == 0;
}

// The first of `count` values outside [min, max], or `min` if there is none.
template <typename T>
std::int32_t FirstIllegal(const void* data, std::uint32_t count,
                          std::int32_t min, std::int32_t max) noexcept {
  const T* p = static_cast<const T*>(data);
  for (const T* const end = p + count; p != end; ++p) {
    if (*p < min || *p > max) return *p;
  }
  return min;
}

std::int32_t FirstIllegal(const Slot& slot, std::uint32_t count) noexcept {
  const auto find = slot.type == TensorType::kI8 ? FirstIllegal<std::int8_t>
                    : slot.type == TensorType::kI16
                        ? FirstIllegal<std::int16_t>
                        : FirstIllegal<std::int32_t>;
  return find(Data(slot), count, slot.min, slot.max);
}

}  // namespace

const AudioSteps ModelReader::kAudioSteps = {
    &ModelReader::ReadAudioShape, &ModelReader::CheckSpotter,
    &ModelReader::AudioSlot, &ModelReader::ReadFrontEnd};

bool ModelReader::Applies(When when) const noexcept {
  switch (when) {
    case When::kAlways:
    case When::kOptional: return true;
    case When::kText: return shape_.input == Input::kText;
    case When::kAudio:
    case When::kOptionalAudio: return shape_.input == Input::kAudio;
    case When::kMeanPooling: return shape_.pooling == Pooling::kMean;
    case When::kClassPooling: return shape_.pooling == Pooling::kClass;
    case When::kPreNorm: return shape_.norm == Norm::kPre;
    case When::kPostNorm: return shape_.norm == Norm::kPost;
    case When::kGelu: return shape_.activation == Activation::kGelu;
  }
  return false;
}

Status ModelReader::BadKey(std::size_t key, Sentence expectation,
                           std::int32_t found, std::int32_t expected,
                           Status status) const noexcept {
  return Fail(error_, status, kKeys[key].name, expectation, found, expected);
}

Status ModelReader::BadTensor(StringView name, Sentence expectation,
                              std::uint32_t found,
                              std::uint32_t expected) const noexcept {
  return Fail(error_, Status::kBadTensor, name.data(), name.size(), expectation,
              found, expected);
}

Status ModelReader::FindKeys() noexcept {
  Status status = reader_.Open(file_, error_);
  if (status != Status::kOk) return status;
  GgufKey key;
  for (std::uint32_t i = 0; i < reader_.key_count(); ++i) {
    status = reader_.NextKey(&key);
    if (status == Status::kOk) status = FindKey(key);
    if (status != Status::kOk) return status;
  }
  return Status::kOk;
}

Status ModelReader::FindKey(const GgufKey& key) noexcept {
  std::size_t id = 0;
  while (id < kKeyCount &&
         !Equal(key.name, StringView(kKeys[id].name, kKeys[id].name_bytes))) {
    ++id;
  }
  if (id == kKeyCount) return Status::kOk;
  const KeySpec& spec = kKeys[id];
  if (values_[id] != nullptr) return BadKey(id, "must not be given twice");
  const GgufType type = spec.array ? GgufType::kArray : spec.type;
  if (key.type != type) {
    return BadKey(id, "value type must be", static_cast<std::uint8_t>(key.type),
                  static_cast<std::uint8_t>(type));
  }
  if (key.element != spec.type) {
    return BadKey(id, "array element type must be",
                  static_cast<std::uint8_t>(key.element),
                  static_cast<std::uint8_t>(spec.type));
  }
  values_[id] = key.value;
  return Status::kOk;
}

// A number, or element `i` of an array of numbers; a u32 beyond the range of
// int32 gives the largest.
std::int32_t ModelReader::Number(std::size_t key,
                                 std::size_t i) const noexcept {
  const std::uint8_t* const p = values_[key];
  switch (kKeys[key].type) {
    case GgufType::kU8: return p[i];
    case GgufType::kI8: return static_cast<std::int8_t>(p[i]);
    case GgufType::kU16: return LoadU16(p + 2 * i);
    default: break;
  }
  constexpr std::uint32_t kMax = 0x7FFFFFFF;
  const std::uint32_t value = LoadU32(p + 4 * i);
  return static_cast<std::int32_t>(value < kMax ? value : kMax);
}

Status ModelReader::CheckKeys(std::size_t first,
                              std::size_t end) const noexcept {
  for (std::size_t key = first; key < end; ++key) {
    const Status status = CheckKey(key);
    if (status != Status::kOk) return status;
  }
  return Status::kOk;
}

// Presence and range. Legal for arrays of numbers: shape_.blocks is known.
Status ModelReader::CheckKey(std::size_t key) const noexcept {
  const KeySpec& spec = kKeys[key];
  if (!Applies(spec.when)) return Status::kOk;
  if (values_[key] == nullptr) {
    if (spec.when == When::kOptional || spec.when == When::kOptionalAudio) {
      return Status::kOk;
    }
    return BadKey(key, "is required", 0, 0, Status::kMissingKey);
  }
  if (spec.max == 0) return Status::kOk;
  std::uint16_t count = 1;
  if (spec.array) {
    count = shape_.blocks;
    if (ArrayCount(key) != count) {
      return BadKey(key, "array length must be",
                    static_cast<std::int32_t>(ArrayCount(key)), count);
    }
  }
  for (std::uint16_t i = 0; i < count; ++i) {
    const std::int32_t value = Number(key, i);
    if (value < spec.min) {
      return BadKey(key, "must be at least", value, spec.min);
    }
    if (value > spec.max)
      return BadKey(key, "must be at most", value, spec.max);
  }
  return Status::kOk;
}

// Names and labels: what tools print and files of other formats may hold.
Status ModelReader::CheckString(std::size_t key,
                                StringView text) const noexcept {
  if (text.empty() || text.size() > kMaxLabelBytes) {
    return BadKey(key, "bytes of the text must be from 1 to",
                  static_cast<std::int32_t>(text.size()), kMaxLabelBytes);
  }
  if (!IsPrintable(text)) {
    return BadKey(key, "must be UTF-8 without control characters");
  }
  return Status::kOk;
}

Status ModelReader::ReadChoices() noexcept {
  bool second[kChoiceCount];
  for (std::size_t i = 0; i < kChoiceCount; ++i) {
    const Choice& choice = kShapeChoices[i];
    const StringView word = StringAt(values_[kChoices + i]);
    second[i] = EqualsText(word, choice.words[1]);
    if (!second[i] && !EqualsText(word, choice.words[0])) {
      return BadKey(kChoices + i, choice.expectation);
    }
  }
  shape_.input = static_cast<Input>(second[0]);
  shape_.norm = static_cast<Norm>(second[1]);
  shape_.activation = static_cast<Activation>(second[2]);
  shape_.pooling = static_cast<Pooling>(second[3]);
  if (shape_.input == Input::kAudio && format_.audio == nullptr) {
    return BadKey(kChoices, "must be text for a text classifier", 0, 0,
                  Status::kUnsupported);
  }
  return Status::kOk;
}

Status ModelReader::ReadLabels() noexcept {
  const std::uint32_t count = ArrayCount(kLabels);
  if (count < kMinClasses || count > EncoderShape::kMaxClasses) {
    return BadKey(kLabels, "number of labels must be from 2 to",
                  static_cast<std::int32_t>(count), EncoderShape::kMaxClasses);
  }
  shape_.classes = static_cast<std::uint16_t>(count);
  const std::uint8_t* p = values_[kLabels];
  for (std::uint16_t i = 0; i < shape_.classes; ++i) {
    const StringView label = StringAt(p);
    const Status status = CheckString(kLabels, label);
    if (status != Status::kOk) return status;
    p += 8 + label.size();
  }
  return Status::kOk;
}

// A device that acts on a name must not find it twice. Compares every pair, so
// it is done once, and not whenever a shape is read.
Status ModelReader::CheckLabelsDiffer() const noexcept {
  const std::uint8_t* p = values_[kLabels];
  for (std::uint16_t i = 0; i < shape_.classes; ++i) {
    const StringView label = StringAt(p);
    const std::uint8_t* other = values_[kLabels];
    for (std::uint16_t j = 0; j < i; ++j) {
      if (Equal(label, StringAt(other))) {
        return BadKey(kLabels, "must not repeat that of class", i, j);
      }
      other += 8 + StringAt(other).size();
    }
    p += 8 + label.size();
  }
  return Status::kOk;
}

Status ModelReader::ReadShape() noexcept {
  Status status = FindKeys();
  if (status != Status::kOk) return status;
  // First the two that tell a stranger's file from a broken one.
  status = CheckKey(kArchitecture);
  if (status != Status::kOk) return status;
  if (!EqualsText(StringAt(values_[kArchitecture]), format_.architecture)) {
    return BadKey(kArchitecture, format_.expectation, 0, 0,
                  Status::kUnsupported);
  }
  status = CheckKey(kVersion);
  if (status != Status::kOk) return status;
  if (Number(kVersion) != kFormatVersion) {
    return BadKey(kVersion, "must be", Number(kVersion), kFormatVersion,
                  Status::kBadVersion);
  }
  status = CheckKeys(kChoices, kShapeKeys);
  if (status == Status::kOk) status = ReadChoices();
  if (status != Status::kOk) return status;
  for (std::size_t i = 0; i < kShapeMemberCount; ++i) {
    shape_.*kShapeMembers[i] = Number16(kShapeNumbers + i);
  }
  if (shape_.pooling == Pooling::kClass && shape_.tokens < 2) {
    return BadKey(kContextLength, "with a class token must be at least",
                  shape_.tokens, 2);
  }
  if (shape_.d_model % shape_.heads != 0) {
    return BadKey(kHeadCount, "must divide the embedding length", shape_.heads,
                  shape_.d_model);
  }
  status = ReadLabels();
  if (status == Status::kOk && shape_.input == Input::kAudio) {
    status = (this->*format_.audio->read_shape)();
  }
  return status;
}

Status ModelReader::ReadAudioShape() noexcept {
  const Status status = CheckKeys(kAudioShape, kAudioVersion);
  if (status != Status::kOk) return status;
  AudioShape& audio = shape_.audio;
  for (std::size_t i = 0; i < kAudioMemberCount; ++i) {
    audio.*kAudioMembers[i] = Number16(kAudioShape + i);
  }
  if ((audio.fft_length & (audio.fft_length - 1)) != 0) {
    return BadKey(kAudioFftLength, "must be a power of two up to",
                  audio.fft_length, LogMel::kMaxFft);
  }
  const struct {
    std::uint8_t key;
    std::uint16_t most;
  } kBounds[] = {{kAudioFrameLength, audio.fft_length},
                 {kAudioHopLength, audio.frame_length},
                 {kAudioPatchStride, audio.patch_frames}};
  for (const auto& bound : kBounds) {
    if (Number(bound.key) > bound.most) {
      return BadKey(bound.key, "must be at most", Number(bound.key),
                    bound.most);
    }
  }
  if (audio.bins * audio.patch_frames != shape_.d_input) {
    return BadKey(kInputLength, "must be bins times patch frames",
                  shape_.d_input, audio.bins * audio.patch_frames);
  }
  return Status::kOk;
}

// What the table of keys does not say.
Status ModelReader::CheckSpotter() const noexcept {
  if (Number(kAudioLogOffset) > LogMel::kMaxOffset) {
    return BadKey(kAudioLogOffset, "must be at most", Number(kAudioLogOffset),
                  LogMel::kMaxOffset);
  }
  SpotterParams params;
  ReadSpotter(&params);
  if (params.votes > params.looks) {
    return BadKey(has_key(kSpotVotes) ? kSpotVotes : kSpotLooks,
                  has_key(kSpotVotes) ? "must be at most the looks"
                                      : "must be at least the votes",
                  has_key(kSpotVotes) ? params.votes : params.looks,
                  has_key(kSpotVotes) ? params.looks : params.votes);
  }
  if (has_key(kSpotThresholds) &&
      ArrayCount(kSpotThresholds) != shape_.classes) {
    return BadKey(kSpotThresholds, "array length must be",
                  static_cast<std::int32_t>(ArrayCount(kSpotThresholds)),
                  shape_.classes);
  }
  return Status::kOk;
}

void ModelReader::ReadSpotter(SpotterParams* params) const noexcept {
  const struct {
    std::uint8_t key;
    std::uint16_t SpotterParams::*member;
  } kMembers[] = {{kSpotHop, &SpotterParams::hop},
                  {kSpotSmoothing, &SpotterParams::smoothing},
                  {kSpotLooks, &SpotterParams::looks},
                  {kSpotVotes, &SpotterParams::votes},
                  {kSpotRefractory, &SpotterParams::refractory}};
  for (const auto& entry : kMembers) {
    if (has_key(entry.key)) params->*entry.member = Number16(entry.key);
  }
  if (has_key(kSpotThresholds)) params->thresholds = values_[kSpotThresholds];
}

Status ModelReader::ReadTextParams() noexcept {
  if (shape_.input != Input::kText) return Status::kOk;
  for (std::size_t i = 0; i < kTextParamCount; ++i) {
    text_params_.*kTextParams[i] =
        static_cast<std::uint32_t>(Number(kTextKeys + i));
  }
  return ValidateTextParams(text_params_, error_);
}

Status ModelReader::CheckChecksum() const noexcept {
  constexpr std::uint8_t kZeros[4] = {};
  const std::uint8_t* const value = values_[kChecksum];
  const std::size_t before = static_cast<std::size_t>(value - file_.data());
  const std::size_t after = before + sizeof(kZeros);
  std::uint32_t crc = Crc32(file_.subspan(0, before));
  crc = Crc32(kZeros, crc);
  crc = Crc32(file_.subspan(after, file_.size() - after), crc);
  if (crc == checksum()) return Status::kOk;
  return Fail(error_, Status::kBadChecksum, kKeys[kChecksum].name,
              "must be the CRC-32 of the file", checksum(), crc);
}

// "blk.1.ffn_up.bias" -> its layer, part and block; false if the format has no
// such tensor in a model of this shape.
bool ModelReader::FindTensor(StringView name, TensorId* id) const noexcept {
  std::uint8_t layer = 0;
  std::uint8_t end = kBlockLayers;
  if (SkipPrefix("blk", '.', &name)) {
    layer = kBlockLayers;
    end = kLayerCount;
    std::size_t block = 0;
    std::size_t digits = 0;
    while (digits < 2 && digits < name.size() && name[digits] >= '0' &&
           name[digits] <= '9') {
      block = 10 * block + static_cast<std::size_t>(name[digits] - '0');
      ++digits;
    }
    // One spelling a block: no leading zero.
    if (digits == 0 || (digits == 2 && block < 10) || block >= shape_.blocks ||
        digits >= name.size() || name[digits] != '.') {
      return false;
    }
    name = name.subspan(digits + 1, name.size() - digits - 1);
    id->block = static_cast<std::uint8_t>(block);
  }
  while (layer < end && !SkipPrefix(kLayers[layer].name, '.', &name)) ++layer;
  if (layer == end || !Applies(kLayers[layer].when)) return false;
  std::uint8_t part = 0;
  while (part < kPartCount && !EqualsText(name, kParts[part])) ++part;
  if (part == kPartCount || !HasPart(layer, part)) {
    return false;
  }
  id->layer = layer;
  id->part = part;
  return true;
}
// A part that the format has not is no tensor of the model.
bool ModelReader::HasPart(std::uint8_t layer,
                          std::uint8_t part) const noexcept {
  if (part == kMultiplier && !format_.integer) return false;
  const std::uint32_t parts = kLayers[layer].parts;
  return (parts >> part & 1U) != 0;
}

Slot ModelReader::SlotOf(const TensorId& id) noexcept {
  if (id.layer == kTextTable) {  // bytes
    return {&fold_table_, TensorType::kI8, 0, 0, -128, 127, &fold_table_size_};
  }
  if (id.layer == kAudioTables) return (this->*format_.audio->slot)(id.part);
  return format_.slot(this, id);
}

Slot ModelReader::AudioSlot(std::uint8_t part) noexcept {
  const AudioShape& audio = shape_.audio;
  switch (part) {
    case kWindow:
      return {&mel_.window, TensorType::kI16, 0, audio.frame_length, 0, 32767};
    case kMelFilters:
      return {&mel_.filters,           TensorType::kI16, audio.bins, 2, 1,
              audio.fft_length / 2 - 1};
    default:
      return {&mel_.weights, TensorType::kI16, 0, 0, 0, 32767, &mel_weights_};
  }
}

Status ModelReader::BindTensors() noexcept {
  Status status = reader_.OpenTensors();
  if (status != Status::kOk) return status;
  for (std::uint32_t i = 0; i < reader_.tensor_count(); ++i) {
    status = BindTensor(reader_.NextTensor());
    if (status != Status::kOk) return status;
  }
  return Status::kOk;
}

Status ModelReader::BindTensor(const GgufTensor& tensor) noexcept {
  TensorId id;
  if (!FindTensor(tensor.name, &id)) {
    return BadTensor(tensor.name, "is no tensor of a model of this shape");
  }
  const Slot slot = SlotOf(id);
  if (Data(slot) != nullptr)
    return BadTensor(tensor.name, "must not be given twice");
  if (tensor.type != slot.type) {
    return BadTensor(tensor.name, "type must be",
                     static_cast<std::uint8_t>(tensor.type),
                     static_cast<std::uint8_t>(slot.type));
  }
  const std::uint32_t dims = slot.rows == 0 ? 1 : 2;
  if (tensor.dims != dims) {
    return BadTensor(tensor.name, "number of dimensions must be", tensor.dims,
                     dims);
  }
  if (slot.length != nullptr) {
    *slot.length = tensor.shape[0];
  } else if (tensor.shape[0] != slot.cols) {
    return BadTensor(tensor.name, "columns must be", tensor.shape[0],
                     slot.cols);
  }
  if (dims == 2 && tensor.shape[1] != slot.rows) {
    return BadTensor(tensor.name, "rows must be", tensor.shape[1], slot.rows);
  }
  SetData(slot, tensor.data);
  return Status::kOk;
}

Status ModelReader::CheckTensors(TensorCheck check) noexcept {
  for (std::uint8_t layer = 0; layer < kBlockLayers; ++layer) {
    const Status status = CheckLayer(check, layer, 0);
    if (status != Status::kOk) return status;
  }
  for (std::uint16_t block = 0; block < shape_.blocks; ++block) {
    for (std::uint8_t layer = kBlockLayers; layer < kLayerCount; ++layer) {
      const Status status =
          CheckLayer(check, layer, static_cast<std::uint8_t>(block));
      if (status != Status::kOk) return status;
    }
  }
  return Status::kOk;
}

Status ModelReader::CheckLayer(TensorCheck check, std::uint8_t layer,
                               std::uint8_t block) noexcept {
  const LayerSpec& spec = kLayers[layer];
  if (!Applies(spec.when)) return Status::kOk;
  for (std::uint8_t part = 0; part < kPartCount; ++part) {
    if (!HasPart(layer, part)) continue;
    TensorId id;
    id.layer = layer;
    id.part = part;
    id.block = block;
    const Status status = (this->*check)(id);
    if (status != Status::kOk) return status;
  }
  return Status::kOk;
}

// All that can be said of a tensor without reading its values.
Status ModelReader::CheckPresence(const TensorId& id) noexcept {
  if (Data(SlotOf(id)) == nullptr) {
    if (kLayers[id.layer].when == When::kOptional) return Status::kOk;
    return Fail(error_, Status::kMissingTensor, NameBuffer(id).text(),
                "is required", 0, 0);
  }
  if (id.layer == kTextTable) {
    return FoldTable::CheckSize(fold_table_bytes(), error_);
  }
  if (id.layer == kPositionEmbd && format_.integer &&
      !has_key(kPositionShift)) {
    return BadKey(kPositionShift, "is required with position_embd", 0, 0,
                  Status::kMissingKey);
  }
  return Status::kOk;
}

// Legal: the tensor is there, unless it is optional.
Status ModelReader::CheckValues(const TensorId& id) noexcept {
  const Slot slot = SlotOf(id);
  if (Data(slot) == nullptr) return Status::kOk;
  const std::uint32_t count = slot.length != nullptr ? *slot.length
                              : slot.rows == 0       ? slot.cols
                                                     : slot.rows * slot.cols;
  const std::int32_t found = slot.type == TensorType::kF32
                                 ? format_.first_illegal_f32(slot, count)
                                 : FirstIllegal(slot, count);
  if (found >= slot.min && found <= slot.max) return Status::kOk;
  const bool low = found < slot.min;
  return Fail(error_, Status::kBadTensor, NameBuffer(id).text(),
              low ? "values must be at least" : "values must be at most", found,
              low ? slot.min : slot.max);
}

Status ModelReader::ReadKeys(const void* block_table,
                             std::size_t entries) noexcept {
  const std::size_t misalignment =
      reinterpret_cast<std::uintptr_t>(file_.data()) % kFileAlignment;
  if (misalignment != 0) {
    return Fail(error_, Status::kMisaligned, "model",
                "address modulo 16 must be",
                static_cast<std::int64_t>(misalignment), 0);
  }
  Status status = ReadShape();
  if (status == Status::kOk) status = CheckLabelsDiffer();
  if (status == Status::kOk) {
    status = CheckKeys(kShapeKeys, format_.integer ? kTextKeys : kIntegerKeys);
  }
  if (status == Status::kOk) status = CheckKeys(kTextKeys, kKeyCount);
  if (status == Status::kOk && shape_.input == Input::kAudio) {
    status = (this->*format_.audio->check_spotter)();
  }
  if (status == Status::kOk && has_key(kName)) {
    status = CheckString(kName, name());
  }
  if (status != Status::kOk) return status;
  if (block_table == nullptr) {
    return Fail(error_, Status::kNullPointer, "block table", "must not be null",
                0, 0);
  }
  if (entries < shape_.blocks) {
    return Fail(error_, Status::kBufferTooSmall, "block table",
                "entries must be at least", static_cast<std::int64_t>(entries),
                shape_.blocks);
  }
  return Status::kOk;
}

Status ModelReader::ReadTensors() noexcept {
  // What needs no look at the data comes first: the checksum reads the whole
  // file, and a file of garbage should not cost that much.
  Status status = BindTensors();
  if (status == Status::kOk) {
    status = CheckTensors(&ModelReader::CheckPresence);
  }
  if (status == Status::kOk) status = CheckChecksum();
  if (status == Status::kOk) status = CheckTensors(&ModelReader::CheckValues);
  return status;
}

Span<const std::uint8_t> ModelReader::fold_table_bytes() const noexcept {
  const void* const bytes = fold_table_;
  return {static_cast<const std::uint8_t*>(bytes), fold_table_size_};
}

Status ModelReader::ReadFoldTable(FoldTable* table) const noexcept {
  if (fold_table_ == nullptr) return Status::kOk;
  return table->Init(fold_table_bytes(), error_);
}

Status ModelReader::ReadFrontEnd(LogMel* mel,
                                 SpotterParams* spotter) const noexcept {
  *mel = mel_;
  mel->frame_length = shape_.audio.frame_length;
  mel->fft_length = shape_.audio.fft_length;
  mel->bins = shape_.audio.bins;
  mel->multiplier = static_cast<std::int16_t>(Number(kAudioLogMultiplier));
  mel->offset = Number(kAudioLogOffset);
  *spotter = SpotterParams();
  ReadSpotter(spotter);
  std::uint32_t weights = 0;
  for (std::size_t i = 0; i < mel->bins; ++i) {
    const std::int32_t end = mel->filters[2 * i] + mel->filters[2 * i + 1];
    if (end > mel->fft_length / 2) {
      return Fail(error_, Status::kBadTensor, "audio.mel_filters",
                  "filters must end at FFT bin", end, mel->fft_length / 2);
    }
    weights += static_cast<std::uint32_t>(mel->filters[2 * i + 1]);
  }
  if (weights != mel_weights_) {
    return Fail(error_, Status::kBadTensor, "audio.mel_weights",
                "columns must be as many as the filters say", mel_weights_,
                weights);
  }
  return Status::kOk;
}

}  // namespace atto::model_file
