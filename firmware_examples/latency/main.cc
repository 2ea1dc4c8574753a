// How many instructions a model takes, op by op: one line of JSON with the keys
// of atto_bench. Under QEMU's `-icount shift=0` an instruction takes one
// nanosecond, so that "ns" are instructions there; on hardware they are
// nanoseconds. Input is that of atto_bench: so is the checksum of the logits.
#include <cstdint>
#include <type_traits>

#include "board.h"
#include "latency_model.h"  // namespace model = the one to measure
#include "ops/backend.h"
#include "runtime/encoder.h"
#include "runtime/memory/arena.h"
#include "runtime/model/crc32.h"

namespace {

using atto::Backend;

constexpr const atto::EncoderShape& kShape = model::Model::kShape;

atto::Arena<model::Model> arena;
atto::Encoder encoder;

// A backend whose ops forward to the real one and count.
const Backend* real;
Backend counted;

struct Op {
  const char* name;
  std::int64_t calls;
  std::int64_t instructions;
};
Op ops[16];
std::size_t op_count = 0;

template <auto kMember>
std::size_t index_of = 0;

template <auto kMember, typename Function>
struct Counted;
template <auto kMember, typename Result, typename... Arguments>
struct Counted<kMember, Result (*)(Arguments...) noexcept> {
  static Result Call(Arguments... arguments) noexcept {
    const std::uint64_t start = board_clock();
    Op& op = ops[index_of<kMember>];
    ++op.calls;
    if constexpr (std::is_void_v<Result>) {
      (real->*kMember)(arguments...);
      op.instructions += static_cast<std::int64_t>(board_clock() - start);
    } else {
      const Result result = (real->*kMember)(arguments...);
      op.instructions += static_cast<std::int64_t>(board_clock() - start);
      return result;
    }
  }
};

template <auto kMember>
void Count(const char* name) {
  index_of<kMember> = op_count;
  ops[op_count++].name = name;
  auto& member = counted.*kMember;
  member = &Counted<kMember, std::remove_reference_t<decltype(member)>>::Call;
}

void CountOps() {
  counted = *real;
  Count<&Backend::matmul_s8>("matmul_s8");
  Count<&Backend::matmul_s16>("matmul_s16");
  Count<&Backend::matmul_add_s16>("matmul_add_s16");
  Count<&Backend::add_shifted_s8>("add_shifted_s8");
  Count<&Backend::layernorm_s8>("layernorm_s8");
  Count<&Backend::layernorm_s16>("layernorm_s16");
  Count<&Backend::quantise_s8>("quantise_s8");
  Count<&Backend::gelu_s8>("gelu_s8");
  Count<&Backend::relu_s8>("relu_s8");
  Count<&Backend::attention_s8>("attention_s8");
  Count<&Backend::sum_rows_s8>("sum_rows_s8");
  Count<&Backend::mean_s8>("mean_s8");
}

void Key(const char* name, std::int64_t value) {
  board_print(",\"");
  board_print(name);
  board_print("\":");
  board_print_number(value);
}

// As many rows as the model takes. Returns the instructions of the run.
std::int64_t Run(atto::Span<const std::int16_t>* logits) {
  std::uint32_t noise = 1;
  encoder.Start();
  while (std::int8_t* const row = encoder.NextRow()) {
    for (std::size_t i = 0; i < kShape.d_input; ++i) {
      noise = noise * 1664525U + 1013904223U;
      row[i] = static_cast<std::int8_t>(
          static_cast<std::int32_t>((noise >> 8) % 255U) - 127);
    }
  }
  const std::uint64_t start = board_clock();
  if (encoder.Run(logits) != atto::Status::kOk) board_exit(1);
  return static_cast<std::int64_t>(board_clock() - start);
}

}  // namespace

int main() {
  real = atto::DefaultBackend();
  CountOps();
  atto::Span<const std::int16_t> logits;
  // Uncounted, for the whole; then counted, for the parts.
  if (encoder.Init(model::kModel, arena.bytes(), nullptr, real) !=
      atto::Status::kOk) {
    return 1;
  }
  const std::int64_t total = Run(&logits);
  if (encoder.Init(model::kModel, arena.bytes(), nullptr, &counted) !=
      atto::Status::kOk) {
    return 1;
  }
  Run(&logits);
  const atto::Span<const std::uint8_t> logit_bytes(
      reinterpret_cast<const std::uint8_t*>(logits.data()),
      logits.size() * sizeof(std::int16_t));

  board_print("{\"model\":\"" LATENCY_MODEL "\",\"backend\":\"");
  board_print(real->name);
  board_print("\"");
  Key("tokens", kShape.tokens);
  Key("ns_per_token_min", total / kShape.tokens);
  Key("ns_per_token_median", total / kShape.tokens);
  Key("instructions", total);
  Key("multiply_adds",
      static_cast<std::int64_t>(atto::MultiplyAdds(kShape, kShape.tokens)));
  Key("arena_bytes", static_cast<std::int64_t>(arena.bytes().size()));
  Key("model_bytes", static_cast<std::int64_t>(model::kBytes.size()));
  board_print(",\"logits_crc32\":\"");
  board_print_hex(atto::Crc32(logit_bytes));
  board_print("\",\"ops\":[");
  const char* separator = "";
  for (const Op& op : ops) {
    if (op.calls == 0) continue;
    board_print(separator);
    separator = ",";
    board_print("{\"op\":\"");
    board_print(op.name);
    board_print("\"");
    Key("calls", op.calls);
    Key("ns", op.instructions);
    board_print("}");
  }
  board_print("]}\r\n");
  board_print_memory();
  return 0;
}
