// Where an encoder's time goes, op by op.
#ifndef ATTO_BENCH_OP_PROFILE_H_
#define ATTO_BENCH_OP_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ops/backend.h"

namespace atto::bench {

// All calls of one op with one shape within one run of the encoder.
struct OpTime {
  const char* op = nullptr;  // the backend's member, such as "matmul_s8"
  // Rows, and what else the op's work depends on: matrix products [rows, in]
  // times [in, out], attention [rows] queries over [keys] keys; else 0.
  std::size_t rows = 0;
  std::size_t in = 0;   // matmul: in; attention: keys; else columns
  std::size_t out = 0;  // matmul: out; attention: heads
  std::uint64_t calls = 0;
  std::uint64_t multiply_adds = 0;  // of matrix products
  std::uint64_t bytes = 0;          // of operands and result, each once
  double nanoseconds = 0;  // least of all runs, the clock's own removed
  // Of these, what is no multiplication of matrices; who measures it sets it.
  double besides_products = 0;

  std::string shape() const;
};

// A backend whose functions forward to a real one and keep their times. Kernels
// are plain functions without a context, so one profile exists at a time.
class OpProfile {
 public:
  explicit OpProfile(const Backend& real);
  ~OpProfile();
  OpProfile(const OpProfile&) = delete;
  OpProfile& operator=(const OpProfile&) = delete;

  const Backend& backend() const { return timed_; }

  // Ends a run of the encoder.
  void EndRun();

  // Costliest first.
  std::vector<OpTime> Result() const;

  // Nanoseconds that the clock adds to each call, removed from the times.
  double clock_nanoseconds() const { return clock_nanoseconds_; }

 private:
  Backend timed_;
  double clock_nanoseconds_ = 0;
};

}  // namespace atto::bench

#endif  // ATTO_BENCH_OP_PROFILE_H_
