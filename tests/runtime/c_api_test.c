/* The C interface as a C99 program uses it. */
#include "runtime/c_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                    \
    }                                                                \
  } while (0)

enum { kModelBytes = 65536, kArenaBytes = 65536 };

/* The union makes static memory that is aligned for everything in C99; the
 * pointers below are moved up to ATTO_ALIGNMENT. */
static union {
  long double align;
  unsigned char bytes[kModelBytes + ATTO_ALIGNMENT];
} model_memory;
static union {
  long double align;
  unsigned char bytes[kArenaBytes + ATTO_ALIGNMENT];
} arena_memory;
static union {
  long double align;
  unsigned char bytes[ATTO_TEXT_CLASSIFIER_BYTES + ATTO_ALIGNMENT];
} classifier_memory;

static unsigned char* Aligned(unsigned char* bytes) {
  const uintptr_t rest = (uintptr_t)bytes % ATTO_ALIGNMENT;
  return rest == 0 ? bytes : bytes + (ATTO_ALIGNMENT - rest);
}

static size_t ReadModel(unsigned char* to) {
  char path[4096];
  const char* const dir = getenv("ATTO_SOURCE_DIR");
  FILE* file = NULL;
  size_t bytes = 0;
  snprintf(path, sizeof(path), "%s/tests/golden/models/pre_mean_gelu.gguf",
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

int main(void) {
  unsigned char* const model = Aligned(model_memory.bytes);
  unsigned char* const arena = Aligned(arena_memory.bytes);
  unsigned char* const memory = Aligned(classifier_memory.bytes);
  const size_t model_bytes = ReadModel(model);
  const char text[] = "call me when you are home";
  const char url[] =
      "http://a.com/a-path-that-goes/on/and/"
      "onandonandonandonandonandonandonandonandonandonandonandon";
  atto_text_classifier* classifier = NULL;
  atto_classification result;
  atto_error error;
  size_t arena_bytes = 0;
  const char* label = NULL;
  size_t label_bytes = 0;

  CHECK(strcmp(atto_status_name(ATTO_OK), "ok") == 0);
  CHECK(strlen(atto_status_message(ATTO_BAD_KEY)) > 0);
  CHECK(strcmp(atto_status_name(255), "unknown") == 0);
  CHECK(strchr(atto_version(), '.') != NULL);
  CHECK(strlen(atto_backend_name()) > 0);
  CHECK(atto_text_classifier_size() <= ATTO_TEXT_CLASSIFIER_BYTES);

  CHECK(atto_arena_size(NULL, 0, &arena_bytes, &error) == ATTO_NULL_POINTER);
  CHECK(strcmp(error.subject, "model") == 0);
  CHECK(atto_arena_size(model, model_bytes, NULL, &error) == ATTO_NULL_POINTER);
  CHECK(strcmp(error.subject, "bytes") == 0);
  CHECK(atto_arena_size(model, 10, &arena_bytes, &error) != ATTO_OK);
  CHECK(arena_bytes == 0);
  CHECK(atto_arena_size(model, model_bytes, &arena_bytes, &error) == ATTO_OK);
  CHECK(arena_bytes > 0 && arena_bytes <= kArenaBytes);
  {
    /* A spotter has no size for a text model, and says why. */
    size_t spotter_bytes = 77;
    CHECK(atto_spotter_arena_size(model, model_bytes, &spotter_bytes, &error) ==
          ATTO_UNSUPPORTED);
    CHECK(spotter_bytes == 0);
    CHECK(strcmp(error.subject, "atto.input") == 0);
  }

  // Whatever was there before.
  classifier = (atto_text_classifier*)memory;
  CHECK(atto_text_classifier_init(NULL, 0, model, model_bytes, arena,
                                  arena_bytes, &classifier,
                                  &error) == ATTO_NULL_POINTER);
  CHECK(classifier == NULL);
  CHECK(strcmp(error.subject, "memory") == 0);
  CHECK(atto_text_classifier_init(memory, 8, model, model_bytes, arena,
                                  arena_bytes, &classifier,
                                  &error) == ATTO_BUFFER_TOO_SMALL);
  CHECK(error.found == 8);
  CHECK(atto_text_classifier_init(memory + 1, ATTO_TEXT_CLASSIFIER_BYTES, model,
                                  model_bytes, arena, arena_bytes, &classifier,
                                  NULL) == ATTO_MISALIGNED);
  CHECK(atto_text_classifier_init(
            memory, ATTO_TEXT_CLASSIFIER_BYTES, model, model_bytes, arena,
            arena_bytes - 1, &classifier, &error) == ATTO_BUFFER_TOO_SMALL);
  CHECK(strcmp(error.subject, "arena") == 0);
  CHECK(error.expected == (int64_t)arena_bytes);
  CHECK(classifier == NULL);

  CHECK(atto_text_classifier_init(memory, ATTO_TEXT_CLASSIFIER_BYTES, model,
                                  model_bytes, arena, arena_bytes, &classifier,
                                  &error) == ATTO_OK);
  CHECK(error.status == ATTO_OK);
  if (classifier == NULL) return 1;

  CHECK(atto_text_classify(classifier, text, strlen(text), &result) == ATTO_OK);
  CHECK(result.classes == 2);
  CHECK(result.tokens == 6);
  CHECK(result.label < result.classes);
  CHECK(result.score == result.scores[result.label]);
  CHECK(result.score <= ATTO_SCORE_ONE);
  CHECK(result.cut_tokens == 0 && result.invalid_utf8 == 0);
  CHECK(result.cut_features == 0 && result.cut_chars == 0);
  CHECK(atto_text_classify(classifier, url, strlen(url), &result) == ATTO_OK);
  CHECK(result.cut_chars > 0);
  CHECK(atto_text_classify(classifier, "", 0, &result) == ATTO_EMPTY_INPUT);
  CHECK(atto_text_classify(NULL, text, 1, &result) == ATTO_NULL_POINTER);
  CHECK(atto_text_classify(classifier, NULL, 1, &result) == ATTO_NULL_POINTER);
  CHECK(atto_text_classify(classifier, text, 1, NULL) == ATTO_NULL_POINTER);

  CHECK(atto_label(classifier, 0, &label, &label_bytes) == ATTO_OK);
  CHECK(label != NULL && label_bytes > 0);
  CHECK(atto_label(classifier, 2, &label, &label_bytes) ==
        ATTO_INVALID_ARGUMENT);
  CHECK(atto_label(NULL, 0, &label, &label_bytes) == ATTO_NULL_POINTER);
  CHECK(atto_label(classifier, 0, NULL, &label_bytes) == ATTO_NULL_POINTER);
  CHECK(atto_label(classifier, 0, &label, NULL) == ATTO_NULL_POINTER);

  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
