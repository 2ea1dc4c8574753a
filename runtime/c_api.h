/* atto in C99. Nothing is allocated: the caller gives all memory. Arithmetic,
 * limits and meaning are those of runtime/classifier.h. */
#ifndef ATTO_RUNTIME_C_API_H_
#define ATTO_RUNTIME_C_API_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Outcome of a call: 0 is success; the values are those of atto::Status. */
typedef uint8_t atto_status;
enum {
  ATTO_OK = 0,
  ATTO_NULL_POINTER = 1,
  ATTO_INVALID_ARGUMENT = 2,
  ATTO_NOT_INITIALIZED = 3,
  ATTO_BUFFER_TOO_SMALL = 4,
  ATTO_MISALIGNED = 5,
  ATTO_EMPTY_INPUT = 6,
  ATTO_BAD_MAGIC = 7,
  ATTO_BAD_VERSION = 8,
  ATTO_TRUNCATED = 9,
  ATTO_BAD_CHECKSUM = 10,
  ATTO_MISSING_KEY = 11,
  ATTO_BAD_KEY = 12,
  ATTO_MISSING_TENSOR = 13,
  ATTO_BAD_TENSOR = 14,
  ATTO_UNSUPPORTED = 15
};

/* Name ("bad_key") and sentence for a status; never null, both empty in a
 * library without sentences (ATTO_STATUS_TEXT=OFF). */
const char* atto_status_name(atto_status status);
const char* atto_status_message(atto_status status);

/* Version of the library that is linked, such as "0.1.0". */
const char* atto_version(void);

/* Name of the kernels that run on this CPU. */
const char* atto_backend_name(void);

/* What made a call fail: the key, tensor or argument, what about it, and two
 * numbers. `expectation` is a static string, empty in a library without
 * sentences (ATTO_STATUS_TEXT=OFF). */
typedef struct {
  atto_status status;
  char subject[64];
  const char* expectation;
  int64_t found;
  int64_t expected;
} atto_error;

/* Alignment of the model's first byte, the arena and the classifier. */
#define ATTO_ALIGNMENT 16

/* A text classifier lives in caller's memory of this many bytes, aligned to
 * ATTO_ALIGNMENT; atto_text_classifier_size() is what this build needs. */
#define ATTO_TEXT_CLASSIFIER_BYTES 1024
typedef struct atto_text_classifier atto_text_classifier;
size_t atto_text_classifier_size(void);

/* Bytes of arena that the model needs, into *bytes. `error` may be null. */
atto_status atto_arena_size(const void* model, size_t model_bytes,
                            size_t* bytes, atto_error* error);

/* Makes a classifier in `memory`. It keeps pointers to the model and the
 * arena: both must outlive it. `error` may be null. */
atto_status atto_text_classifier_init(void* memory, size_t memory_bytes,
                                      const void* model, size_t model_bytes,
                                      void* arena, size_t arena_bytes,
                                      atto_text_classifier** classifier,
                                      atto_error* error);

/* The same for a model that atto_embed_model has proved, NAME_embedded in its
 * header: checks its bytes' CRC-32 alone, and needs no reader. */
struct atto_embedded_model;
atto_status atto_text_classifier_init_embedded(
    void* memory, size_t memory_bytes, const struct atto_embedded_model* model,
    void* arena, size_t arena_bytes, atto_text_classifier** classifier,
    atto_error* error);

/* A score of one; scores have 15 fraction bits. */
#define ATTO_SCORE_ONE 32768

/* Pointers stay valid until the classifier's next call. */
typedef struct {
  uint16_t label;         /* class with the largest logit */
  uint16_t score;         /* its probability, 0..ATTO_SCORE_ONE */
  uint16_t classes;       /* entries of `scores` and `logits` */
  const uint16_t* scores; /* of all classes */
  const int16_t* logits;  /* units of 1/256 nat */
  size_t tokens;          /* that the encoder saw */
  size_t cut_tokens;      /* beyond the model's limit, not looked at */
  size_t cut_features;    /* beyond the most that a token has */
  size_t cut_chars;       /* of URLs and numbers, beyond what features see */
  size_t invalid_utf8;    /* ill-formed sequences */
} atto_classification;

/* Classifies `bytes` bytes of text; any bytes are legal. */
atto_status atto_text_classify(atto_text_classifier* classifier,
                               const char* text, size_t bytes,
                               atto_classification* result);

/* The name of a class: *label is not terminated and has *bytes bytes. */
atto_status atto_label(const atto_text_classifier* classifier, size_t index,
                       const char** label, size_t* bytes);

/* One clip of audio, one label: as the text classifier, for audio models. */
#define ATTO_AUDIO_CLASSIFIER_BYTES 1024
typedef struct atto_audio_classifier atto_audio_classifier;
size_t atto_audio_classifier_size(void);

atto_status atto_audio_classifier_init(void* memory, size_t memory_bytes,
                                       const void* model, size_t model_bytes,
                                       void* arena, size_t arena_bytes,
                                       atto_audio_classifier** classifier,
                                       atto_error* error);

atto_status atto_audio_classifier_init_embedded(
    void* memory, size_t memory_bytes, const struct atto_embedded_model* model,
    void* arena, size_t arena_bytes, atto_audio_classifier** classifier,
    atto_error* error);

/* Classifies `count` samples, mono, at the model's sample rate; what is missing
 * to the model's window is taken as silence, what is beyond is not looked at:
 * *cut_samples, which may be null, counts it. */
atto_status atto_audio_classify(atto_audio_classifier* classifier,
                                const int16_t* samples, size_t count,
                                atto_classification* result,
                                size_t* cut_samples);

atto_status atto_audio_label(const atto_audio_classifier* classifier,
                             size_t index, const char** label, size_t* bytes);

/* Keywords in a stream of audio. Positions count samples from its start. */
typedef struct {
  uint16_t word;  /* class */
  uint16_t score; /* of ATTO_SCORE_ONE */
  uint64_t start; /* the word lies within start..end */
  uint64_t end;
  uint64_t detected; /* samples that had come when it was reported */
} atto_event;

#define ATTO_SPOTTER_BYTES 2048
typedef struct atto_spotter atto_spotter;
size_t atto_spotter_size(void);

/* Bytes of arena that a spotter needs for the model, into *bytes. */
atto_status atto_spotter_arena_size(const void* model, size_t model_bytes,
                                    size_t* bytes, atto_error* error);

/* `hop`: rows of the encoder from look to look, 0 for what the model says.
 * `on_event` is called from within atto_spotter_push; it may be null. */
atto_status atto_spotter_init(
    void* memory, size_t memory_bytes, const void* model, size_t model_bytes,
    void* arena, size_t arena_bytes, uint16_t hop,
    void (*on_event)(void* context, const atto_event* event), void* context,
    atto_spotter** spotter, atto_error* error);

atto_status atto_spotter_init_embedded(
    void* memory, size_t memory_bytes, const struct atto_embedded_model* model,
    void* arena, size_t arena_bytes, uint16_t hop,
    void (*on_event)(void* context, const atto_event* event), void* context,
    atto_spotter** spotter, atto_error* error);

/* Takes any number of samples, mono, at the model's sample rate. */
atto_status atto_spotter_push(atto_spotter* spotter, const int16_t* samples,
                              size_t count);

/* Starts a new stream. */
atto_status atto_spotter_reset(atto_spotter* spotter);

/* A class's threshold, 0..ATTO_SCORE_ONE, or more for never. */
atto_status atto_spotter_set_threshold(atto_spotter* spotter, size_t word,
                                       uint16_t threshold);

atto_status atto_spotter_label(const atto_spotter* spotter, size_t index,
                               const char** label, size_t* bytes);

#ifdef __cplusplus
}
#endif

#endif /* ATTO_RUNTIME_C_API_H_ */
