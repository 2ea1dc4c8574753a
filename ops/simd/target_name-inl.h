// ATTO_TARGET_NAME: the backend's name of the Highway target being compiled.
// Has no include guard, because it is included once a target.
#undef ATTO_TARGET_NAME
#if HWY_TARGET == HWY_SSE2
#define ATTO_TARGET_NAME "sse2"
#elif HWY_TARGET == HWY_SSE4
#define ATTO_TARGET_NAME "sse4"
#elif HWY_TARGET == HWY_AVX2
#define ATTO_TARGET_NAME "avx2"
#elif HWY_TARGET == HWY_AVX3
#define ATTO_TARGET_NAME "avx512"
#elif HWY_TARGET == HWY_AVX3_DL
#define ATTO_TARGET_NAME "avx512_vnni"
#elif HWY_TARGET == HWY_NEON_WITHOUT_AES
#if defined(__ARM_FEATURE_DOTPROD)
#define ATTO_TARGET_NAME "neon_dot"
#else
#define ATTO_TARGET_NAME "neon"
#endif
#elif HWY_TARGET == HWY_NEON_BF16
#define ATTO_TARGET_NAME "neon_bf16"
#elif HWY_TARGET == HWY_SVE2
#define ATTO_TARGET_NAME "sve2"
#elif HWY_TARGET == HWY_SVE2_128
#define ATTO_TARGET_NAME "sve2_128"
#else
#error "a Highway target without a name: see cmake/AttoSimd.cmake"
#endif
