// An arena that is smaller than its model needs must not compile.
// expect: arena budget is smaller than the model needs
#include "runtime/memory/arena.h"

constexpr atto::EncoderShape MakeShape() {
  atto::EncoderShape shape;
  shape.tokens = 64;
  shape.d_model = 64;
  shape.heads = 4;
  shape.d_ffn = 128;
  shape.blocks = 2;
  shape.d_input = 64;
  shape.classes = 2;
  return shape;
}

struct Model {
  static constexpr atto::EncoderShape kShape = MakeShape();
};

#ifdef ATTO_COMPILE_FAIL
constexpr std::size_t kBudget = atto::ArenaBytes(Model::kShape) - 1;
#else
constexpr std::size_t kBudget = atto::ArenaBytes(Model::kShape);
#endif

static atto::Arena<Model, kBudget> arena;

std::size_t Use() { return arena.bytes().size(); }
