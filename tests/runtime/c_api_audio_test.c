/* Sound through the C interface, as a C99 program uses it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/c_api.h"

static int failures = 0;

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                    \
    }                                                                \
  } while (0)

enum { kModelBytes = 65536, kArenaBytes = 65536, kSamples = 12000 };

/* Moved up to ATTO_ALIGNMENT before use. */
static unsigned char model_memory[kModelBytes + ATTO_ALIGNMENT];
static unsigned char arena_memory[kArenaBytes + ATTO_ALIGNMENT];
static unsigned char object_memory[ATTO_SPOTTER_BYTES + ATTO_ALIGNMENT];
static int16_t samples[kSamples];

static unsigned char* Aligned(unsigned char* bytes) {
  const uintptr_t rest = (uintptr_t)bytes % ATTO_ALIGNMENT;
  return rest == 0 ? bytes : bytes + (ATTO_ALIGNMENT - rest);
}

static size_t ReadModel(unsigned char* to) {
  char path[4096];
  const char* const dir = getenv("ATTO_SOURCE_DIR");
  FILE* file = NULL;
  size_t bytes = 0;
  snprintf(path, sizeof(path), "%s/tests/golden/spotters/mean.gguf",
           dir != NULL ? dir : ".");
  file = fopen(path, "rb");
  if (file == NULL) {
    printf("cannot read %s\n", path);
    exit(1);
  }
  bytes = fread(to, 1, kModelBytes, file);
  fclose(file);
  return bytes;
}

static void Count(void* context, const atto_event* event) {
  size_t* const events = (size_t*)context;
  CHECK(event->start < event->end);
  CHECK(event->end <= event->detected);
  CHECK(event->score <= ATTO_SCORE_ONE);
  CHECK(event->word < 4);
  ++*events;
}

static void TestClassifier(const unsigned char* model, size_t model_bytes) {
  unsigned char* const memory = Aligned(object_memory);
  unsigned char* const arena = Aligned(arena_memory);
  atto_audio_classifier* classifier = NULL;
  atto_classification result;
  atto_error error;
  size_t arena_bytes = 0;
  size_t cut = 0;
  const char* label = NULL;
  size_t label_bytes = 0;

  CHECK(atto_audio_classifier_size() <= ATTO_AUDIO_CLASSIFIER_BYTES);
  CHECK(atto_arena_size(model, model_bytes, &arena_bytes, &error) == ATTO_OK);
  CHECK(arena_bytes <= kArenaBytes);
  CHECK(atto_audio_classifier_init(memory, 8, model, model_bytes, arena,
                                   arena_bytes, &classifier,
                                   &error) == ATTO_BUFFER_TOO_SMALL);
  CHECK(atto_audio_classifier_init(
            memory, ATTO_AUDIO_CLASSIFIER_BYTES, model, model_bytes, arena,
            arena_bytes - 1, &classifier, &error) == ATTO_BUFFER_TOO_SMALL);
  CHECK(classifier == NULL);
  CHECK(atto_audio_classifier_init(memory, ATTO_AUDIO_CLASSIFIER_BYTES, model,
                                   model_bytes, arena, arena_bytes, &classifier,
                                   &error) == ATTO_OK);
  if (classifier == NULL) return;
  CHECK(atto_audio_classify(classifier, samples, kSamples, &result, &cut) ==
        ATTO_OK);
  CHECK(cut > 0 && cut < kSamples);
  CHECK(result.classes == 4);
  CHECK(result.tokens == 7);
  CHECK(result.score == result.scores[result.label]);
  CHECK(atto_audio_classify(classifier, samples, 1, &result, NULL) == ATTO_OK);
  CHECK(atto_audio_classify(classifier, samples, 0, &result, &cut) ==
        ATTO_EMPTY_INPUT);
  CHECK(atto_audio_classify(classifier, NULL, 1, &result, &cut) ==
        ATTO_NULL_POINTER);
  CHECK(atto_audio_classify(NULL, samples, 1, &result, &cut) ==
        ATTO_NULL_POINTER);
  CHECK(atto_audio_classify(classifier, samples, 1, NULL, &cut) ==
        ATTO_NULL_POINTER);
  CHECK(atto_audio_label(classifier, 1, &label, &label_bytes) == ATTO_OK);
  CHECK(label_bytes == 3 && memcmp(label, "two", 3) == 0);
  CHECK(atto_audio_label(classifier, 4, &label, &label_bytes) ==
        ATTO_INVALID_ARGUMENT);
  CHECK(atto_audio_label(NULL, 1, &label, &label_bytes) == ATTO_NULL_POINTER);
  CHECK(atto_audio_label(classifier, 1, NULL, &label_bytes) ==
        ATTO_NULL_POINTER);
  CHECK(atto_audio_label(classifier, 1, &label, NULL) == ATTO_NULL_POINTER);
}

static void TestSpotter(const unsigned char* model, size_t model_bytes) {
  unsigned char* const memory = Aligned(object_memory);
  unsigned char* const arena = Aligned(arena_memory);
  atto_spotter* spotter = NULL;
  atto_error error;
  size_t arena_bytes = 0;
  size_t events = 0;
  size_t first = 0;
  size_t i = 0;
  const char* label = NULL;
  size_t label_bytes = 0;

  CHECK(atto_spotter_size() <= ATTO_SPOTTER_BYTES);
  CHECK(atto_spotter_arena_size(NULL, 0, &arena_bytes, &error) ==
        ATTO_NULL_POINTER);
  CHECK(atto_spotter_arena_size(model, model_bytes, &arena_bytes, &error) ==
        ATTO_OK);
  CHECK(arena_bytes <= kArenaBytes);
  CHECK(atto_spotter_init(memory, ATTO_SPOTTER_BYTES, model, model_bytes, arena,
                          arena_bytes, 513, &Count, &events, &spotter,
                          &error) == ATTO_INVALID_ARGUMENT);
  CHECK(spotter == NULL);
  CHECK(atto_spotter_init(memory, ATTO_SPOTTER_BYTES, model, model_bytes, arena,
                          arena_bytes, 0, &Count, &events, NULL,
                          &error) == ATTO_NULL_POINTER);
  CHECK(strcmp(error.subject, "spotter") == 0);
  CHECK(atto_spotter_init(memory, ATTO_SPOTTER_BYTES, model, model_bytes, arena,
                          16, 0, &Count, &events, &spotter,
                          &error) == ATTO_BUFFER_TOO_SMALL);
  CHECK(error.expected <= (int64_t)arena_bytes);
  CHECK(error.expected > (int64_t)arena_bytes / 2);
  CHECK(atto_spotter_init(memory, ATTO_SPOTTER_BYTES, model, model_bytes, arena,
                          arena_bytes, 0, &Count, &events, &spotter,
                          &error) == ATTO_OK);
  if (spotter == NULL) return;
  for (i = 0; i < 4; ++i) {
    CHECK(atto_spotter_set_threshold(spotter, i, 100) == ATTO_OK);
  }
  CHECK(atto_spotter_set_threshold(spotter, 4, 100) == ATTO_INVALID_ARGUMENT);
  CHECK(atto_spotter_push(spotter, samples, kSamples) == ATTO_OK);
  first = events;
  CHECK(first > 0);
  CHECK(atto_spotter_reset(spotter) == ATTO_OK);
  for (i = 0; i < kSamples; i += 100) {
    CHECK(atto_spotter_push(spotter, samples + i, 100) == ATTO_OK);
  }
  CHECK(events == 2 * first);
  CHECK(atto_spotter_push(spotter, NULL, 1) == ATTO_NULL_POINTER);
  CHECK(atto_spotter_push(spotter, NULL, 0) == ATTO_OK);
  CHECK(atto_spotter_push(NULL, samples, 1) == ATTO_NULL_POINTER);
  CHECK(atto_spotter_label(spotter, 2, &label, &label_bytes) == ATTO_OK);
  CHECK(label_bytes == 7 && memcmp(label, "silence", 7) == 0);
  CHECK(atto_spotter_label(NULL, 2, &label, &label_bytes) == ATTO_NULL_POINTER);
  CHECK(atto_spotter_label(spotter, 2, NULL, &label_bytes) ==
        ATTO_NULL_POINTER);
  CHECK(atto_spotter_label(spotter, 2, &label, NULL) == ATTO_NULL_POINTER);
  CHECK(atto_spotter_init(memory, ATTO_SPOTTER_BYTES, model, model_bytes, arena,
                          arena_bytes, 0, NULL, NULL, &spotter,
                          &error) == ATTO_OK);
  CHECK(atto_spotter_push(spotter, samples, kSamples) == ATTO_OK);
}

int main(void) {
  unsigned char* const model = Aligned(model_memory);
  const size_t model_bytes = ReadModel(model);
  uint32_t noise = 1;
  size_t i = 0;
  for (i = 0; i < kSamples; ++i) {
    noise = noise * 1664525U + 1013904223U;
    samples[i] = (int16_t)((int32_t)(noise >> 16) - 32768);
  }
  TestClassifier(model, model_bytes);
  TestSpotter(model, model_bytes);
  if (failures == 0) printf("all checks passed\n");
  return failures == 0 ? 0 : 1;
}
