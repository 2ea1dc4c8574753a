// What this machine could do at best with a backend's instructions.
#ifndef ATTO_BENCH_PEAK_H_
#define ATTO_BENCH_PEAK_H_

#include <cstddef>
#include <string_view>

namespace atto::bench {

// int8 multiply-adds a nanosecond (GMAC/s) of the instruction sequence that the
// backend's products are made of, with every operand in registers: the best of
// many short runs. 0 for the scalar backend, which has no such sequence.
double PeakGmacs(std::string_view backend);

// Bytes a nanosecond (GB/s) that the backend's vectors can read from a buffer
// of `bytes` bytes, a multiple of 4,096, again and again: the caches' speed and
// the memory's. 0 for the scalar backend.
double ReadGigabytes(std::string_view backend, std::size_t bytes);

}  // namespace atto::bench

#endif  // ATTO_BENCH_PEAK_H_
