// The peak loops: DotQuad, the step that the matrix products of every Highway
// backend are made of, over operands that never leave the registers.
#include "bench/peak.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/peak_hwy.cc"
// Must come before the kernels.
#include "hwy/foreach_target.h"
// Must come after foreach_target.h.
#include "hwy/highway.h"
#include "ops/simd/target_name-inl.h"
#include "ops/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace atto {
namespace HWY_NAMESPACE {

// Makes the compiler believe that `v` changes here: it must neither share
// products between iterations nor drop them. Costs no instruction.
template <class V>
HWY_INLINE void Touch(V& v) {
#if HWY_ARCH_X86
  asm volatile("" : "+v"(v.raw));
#elif HWY_HAVE_SCALABLE || HWY_TARGET_IS_SVE
  asm volatile("" : "+w"(v));
#else
  asm volatile("" : "+w"(v.raw));
#endif
}

// Rows of the register block, two vectors of columns each: enough independent
// sums to hide the latency of the slowest accumulating instruction, few enough
// for the 16 registers of x86 before AVX-512.
constexpr std::size_t kPeakRows = HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3 ? 3 : 6;

std::size_t PeakMacsPerIteration() { return kPeakRows * 2 * hn::Lanes(D8()); }

void PeakLoop(std::size_t iterations) {
  V32 a00 = hn::Zero(D32()), a01 = a00, a10 = a00, a11 = a00, a20 = a00,
      a21 = a00, a30 = a00, a31 = a00, a40 = a00, a41 = a00, a50 = a00,
      a51 = a00;
  VLeft x0 = BroadcastQuad("0000"), x1 = x0, x2 = x0, x3 = x0, x4 = x0, x5 = x0;
  V8 w0 = hn::Set(D8(), 1), w1 = w0;
  for (std::size_t i = 0; i < iterations; ++i) {
    Touch(w0);
    Touch(w1);
    Touch(x0);
    Touch(x1);
    Touch(x2);
    a00 = DotQuad(a00, x0, w0);
    a01 = DotQuad(a01, x0, w1);
    a10 = DotQuad(a10, x1, w0);
    a11 = DotQuad(a11, x1, w1);
    a20 = DotQuad(a20, x2, w0);
    a21 = DotQuad(a21, x2, w1);
    if constexpr (kPeakRows > 3) {
      Touch(x3);
      Touch(x4);
      Touch(x5);
      a30 = DotQuad(a30, x3, w0);
      a31 = DotQuad(a31, x3, w1);
      a40 = DotQuad(a40, x4, w0);
      a41 = DotQuad(a41, x4, w1);
      a50 = DotQuad(a50, x5, w0);
      a51 = DotQuad(a51, x5, w1);
    }
  }
  Touch(a00);
  Touch(a01);
  Touch(a10);
  Touch(a11);
  Touch(a20);
  Touch(a21);
  Touch(a30);
  Touch(a31);
  Touch(a40);
  Touch(a41);
  Touch(a50);
  Touch(a51);
}

// Reads every vector of [data, data + bytes) once; bytes: a multiple of 4,096.
void ReadLoop(const std::uint8_t* data, std::size_t bytes) {
  const std::size_t vector = hn::Lanes(D8());
  const auto* from = reinterpret_cast<const std::int8_t*>(data);
  for (std::size_t i = 0; i < bytes; i += 4 * vector) {
    V8 v0 = hn::Load(D8(), from + i);
    V8 v1 = hn::Load(D8(), from + i + vector);
    V8 v2 = hn::Load(D8(), from + i + 2 * vector);
    V8 v3 = hn::Load(D8(), from + i + 3 * vector);
    Touch(v0);
    Touch(v1);
    Touch(v2);
    Touch(v3);
  }
}

const char* PeakName() { return ATTO_TARGET_NAME; }

}  // namespace HWY_NAMESPACE
}  // namespace atto
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

#include "bench/support/clock.h"
#include "bench/support/memory.h"

namespace atto {

HWY_EXPORT(PeakMacsPerIteration);
HWY_EXPORT(PeakLoop);
HWY_EXPORT(ReadLoop);
HWY_EXPORT(PeakName);

namespace bench {
namespace {

// Nanoseconds of the fastest of `runs` calls.
template <typename Body>
double Fastest(int runs, const Body& body) {
  body();
  double fastest = 1e300;
  for (int run = 0; run < runs; ++run) {
    const Clock::time_point start = Clock::now();
    body();
    fastest = std::min(fastest, Nanoseconds(Clock::now() - start));
  }
  return fastest;
}

// Calls body() with Highway held to the backend's target; 0 if it has none.
template <typename Body>
double OnTarget(std::string_view backend, const Body& body) {
  double result = 0;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    if (backend == HWY_DYNAMIC_DISPATCH(PeakName)()) result = body();
  }
  hwy::SetSupportedTargetsForTest(0);
  return result;
}

}  // namespace

double PeakGmacs(std::string_view backend) {
  return OnTarget(backend, [] {
    constexpr std::size_t kIterations = 20000;  // some 50 microseconds
    const std::size_t macs =
        kIterations * HWY_DYNAMIC_DISPATCH(PeakMacsPerIteration)();
    const auto loop = HWY_DYNAMIC_POINTER(PeakLoop);
    return static_cast<double>(macs) / Fastest(400, [&] { loop(kIterations); });
  });
}

double ReadGigabytes(std::string_view backend, std::size_t bytes) {
  const PageArray<std::uint8_t> buffer(bytes);
  return OnTarget(backend, [&] {
    const auto loop = HWY_DYNAMIC_POINTER(ReadLoop);
    const std::size_t passes = std::max<std::size_t>(1, (1 << 20) / bytes);
    return static_cast<double>(bytes * passes) / Fastest(20, [&] {
             for (std::size_t i = 0; i < passes; ++i)
               loop(buffer.data(), bytes);
           });
  });
}

}  // namespace bench
}  // namespace atto
#endif  // HWY_ONCE
