// For builds without SIMD kernels.
#include "bench/peak.h"

namespace atto::bench {

double PeakGmacs(std::string_view) { return 0; }

double ReadGigabytes(std::string_view, std::size_t) { return 0; }

}  // namespace atto::bench
