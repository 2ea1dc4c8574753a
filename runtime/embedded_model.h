// A model in flash that needs no reader: constants that atto_embed_model
// writes, and what it writes them from.
//
// The step that embeds a model runs Model::Init on its file, on the computer
// that builds the firmware, and fails where Init fails. What Init found out,
// the parts of the model, becomes a constant beside the file's bytes. On the
// device an Init that is given it has one thing left to check: that the bytes
// are those (CRC-32). Its code knows no GGUF. docs/safety.md says what is
// proved where.
#ifndef ATTO_RUNTIME_EMBEDDED_MODEL_H_
#define ATTO_RUNTIME_EMBEDDED_MODEL_H_

#include <cstdint>

#include "runtime/memory/encoder_plan.h"
#include "runtime/model/model.h"

// A global name, so that C can pass one on. A reference, so that nothing in
// braces is taken for one where a file is meant.
struct atto_embedded_model {
  const atto::ModelParts& parts;
  std::uint32_t file_crc;           // CRC-32 of the file as it stands
  const atto::ArenaLayout* layout;  // for any backend of this build
};

namespace atto {

using EmbeddedModel = ::atto_embedded_model;

}  // namespace atto

#endif  // ATTO_RUNTIME_EMBEDDED_MODEL_H_
