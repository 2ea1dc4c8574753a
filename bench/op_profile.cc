#include "bench/op_profile.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "bench/support/clock.h"

namespace atto::bench {
namespace {

struct Entry {
  OpTime total;
  double run_nanoseconds = 0;
  std::uint64_t run_calls = 0;
};

// What the kernels below, which cannot carry a context, write to.
struct Recorder {
  Backend real = {};
  std::vector<Entry> entries;

  void Add(const OpTime& call, Clock::duration time) {
    for (Entry& entry : entries) {
      if (entry.total.op == call.op && entry.total.rows == call.rows &&
          entry.total.in == call.in && entry.total.out == call.out) {
        entry.run_nanoseconds += Nanoseconds(time);
        ++entry.run_calls;
        return;
      }
    }
    entries.push_back({call, Nanoseconds(time), 1});
  }
};
Recorder recorder;

template <typename T>
std::size_t BytesOf(MatrixView<T> matrix) {
  return matrix.rows() * matrix.cols() * sizeof(T);
}

// Of an elementwise op: rows of x, and a result of the same size.
template <typename T, typename Result>
void DescribeElements(OpTime* call, std::size_t rows, std::size_t columns) {
  call->rows = rows;
  call->in = columns;
  call->bytes = rows * columns * (sizeof(T) + sizeof(Result));
}

// What a call works on, from its arguments: an overload for each op's.
template <typename Input, typename Output>
void Describe(OpTime* call, const Linear& linear, MatrixView<Input> x,
              MatrixView<Output> y) {
  call->rows = x.rows();
  call->in = linear.in;
  call->out = linear.out;
  call->multiply_adds = x.rows() * linear.in * linear.out;
  call->bytes = BytesOf(x) + std::size_t{linear.in} * linear.out + BytesOf(y);
}
void Describe(OpTime* call, const Attention& attention,
              MatrixView<const std::int8_t> q, MatrixView<const std::int8_t> k,
              MatrixView<const std::int8_t> v, MatrixView<std::int8_t> y, void*,
              std::int8_t*) {
  call->rows = q.rows();
  call->in = k.rows();
  call->out = attention.heads;
  call->multiply_adds = 2 * q.rows() * k.rows() * q.cols();
  call->bytes = BytesOf(q) + BytesOf(k) + BytesOf(v) + BytesOf(y);
}
template <typename Input, typename Output>
void Describe(OpTime* call, const LayerNorm&, MatrixView<Input> x,
              MatrixView<Output>) {
  DescribeElements<Input, Output>(call, x.rows(), x.cols());
}
// Softmax, quantisation, positions, embedding.
template <typename Parameter, typename T, typename Output>
void Describe(OpTime* call, const Parameter&, Span<T> x, Output* /*y*/) {
  DescribeElements<T, Output>(call, 1, x.size());
}
// GELU, in place.
template <typename T>
void Describe(OpTime* call, unsigned, Span<T> x) {
  DescribeElements<T, T>(call, 1, x.size());
}
// ReLU, in place.
template <typename T>
void Describe(OpTime* call, Span<T> x) {
  DescribeElements<T, T>(call, 1, x.size());
}
template <typename T>
void Describe(OpTime* call, Span<T> x, std::int16_t*) {
  DescribeElements<T, std::int16_t>(call, 1, x.size());
}
void Describe(OpTime* call, MatrixView<const std::int8_t> x, std::int32_t*) {
  call->rows = x.rows();
  call->in = x.cols();
  call->bytes = BytesOf(x) + x.cols() * sizeof(std::int32_t);
}
void Describe(OpTime* call, Span<const std::int32_t> sums, std::size_t,
              unsigned, std::int8_t*) {
  DescribeElements<std::int32_t, std::int8_t>(call, 1, sums.size());
}
void Describe(OpTime* call, const LogMel& mel, const std::int16_t*,
              std::int8_t*, void*) {
  call->rows = 1;
  call->in = mel.frame_length;
  call->out = mel.bins;
  call->bytes = mel.frame_length * sizeof(std::int16_t) + mel.bins;
}

template <auto kMember>
const char* const kOpName = nullptr;

// The timed twin of a kernel.
template <auto kMember, typename Function>
struct Timed;
template <auto kMember, typename Result, typename... Arguments>
struct Timed<kMember, Result (*)(Arguments...) noexcept> {
  static Result Call(Arguments... arguments) noexcept {
    OpTime call;
    call.op = kOpName<kMember>;
    Describe(&call, arguments...);
    const Clock::time_point start = Clock::now();
    if constexpr (std::is_void_v<Result>) {
      (recorder.real.*kMember)(arguments...);
      recorder.Add(call, Clock::now() - start);
    } else {
      const Result result = (recorder.real.*kMember)(arguments...);
      recorder.Add(call, Clock::now() - start);
      return result;
    }
  }
};

// Every op of the table, once.
// clang-format off
#define ATTO_FOR_EACH_OP(X) \
  X(matmul_s8) \
  X(matmul_s16) \
  X(matmul_add_s16) \
  X(embedding_sum_s8) \
  X(add_s16) \
  X(add_shifted_s8) \
  X(layernorm_s8) \
  X(layernorm_s16) \
  X(quantise_s8) \
  X(gelu_s8) \
  X(relu_s8) \
  X(softmax_s8) \
  X(attention_s8) \
  X(sum_rows_s8) \
  X(mean_s8) \
  X(logmel_s8)
// clang-format on

#define ATTO_COUNT_OP(op) 1,
constexpr int kEachOp[] = {ATTO_FOR_EACH_OP(ATTO_COUNT_OP)};
static_assert(offsetof(Backend, matmul_s8) +
                      sizeof(kEachOp) / sizeof(int) * sizeof(void (*)()) ==
                  sizeof(Backend),
              "an op of the backend is missing above: it would go untimed");
#undef ATTO_COUNT_OP

#define ATTO_NAME_OP(op) \
  template <>            \
  const char* const kOpName<&Backend::op> = #op;
ATTO_FOR_EACH_OP(ATTO_NAME_OP)
#undef ATTO_NAME_OP

Backend TimedBackend(const Backend& real) {
  Backend timed = real;
#define ATTO_TIME_OP(op) \
  timed.op = &Timed<&Backend::op, decltype(Backend::op)>::Call;
  ATTO_FOR_EACH_OP(ATTO_TIME_OP)
#undef ATTO_TIME_OP
  return timed;
}
#undef ATTO_FOR_EACH_OP

// What two readings of the clock in a row differ by: the median, because some
// are interrupted.
double ClockNanoseconds() {
  std::vector<double> differences(20001);
  for (double& difference : differences) {
    const Clock::time_point start = Clock::now();
    difference = Nanoseconds(Clock::now() - start);
  }
  const auto middle = differences.begin() + 10000;
  std::nth_element(differences.begin(), middle, differences.end());
  return *middle;
}

}  // namespace

std::string OpTime::shape() const {
  std::string text = std::to_string(rows) + "x" + std::to_string(in);
  if (out != 0) text += "x" + std::to_string(out);
  return text;
}

OpProfile::OpProfile(const Backend& real)
    : timed_(TimedBackend(real)), clock_nanoseconds_(ClockNanoseconds()) {
  recorder.real = real;
  recorder.real.logmel_s8 = LogMelKernel(real);
  recorder.entries.clear();
}

OpProfile::~OpProfile() { recorder = Recorder(); }

void OpProfile::EndRun() {
  for (Entry& entry : recorder.entries) {
    const double clock =
        clock_nanoseconds_ * static_cast<double>(entry.run_calls);
    const double time = std::max(0.0, entry.run_nanoseconds - clock);
    if (entry.total.calls == 0 || time < entry.total.nanoseconds) {
      entry.total.nanoseconds = time;
    }
    entry.total.calls = entry.run_calls;
    entry.run_nanoseconds = 0;
    entry.run_calls = 0;
  }
}

std::vector<OpTime> OpProfile::Result() const {
  std::vector<OpTime> result;
  for (const Entry& entry : recorder.entries) {
    result.push_back(entry.total);
    result.back().multiply_adds *= entry.total.calls;
    result.back().bytes *= entry.total.calls;
  }
  std::sort(result.begin(), result.end(), [](const OpTime& a, const OpTime& b) {
    return a.nanoseconds > b.nanoseconds;
  });
  return result;
}

}  // namespace atto::bench
