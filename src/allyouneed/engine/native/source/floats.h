// A vector of sixteen floats, in whatever registers the variant has, and bfloat16 as a format to
// store floats in.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

constexpr int kLanes = 16;

typedef float Floats __attribute__((vector_size(4 * kLanes), aligned(4), may_alias));

// The upper half of a float32.
struct bfloat16 {
  uint16_t bits;
};

inline bfloat16 to_bfloat16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits += 0x7fff + ((bits >> 16) & 1);  // to nearest, halves to even
  return {uint16_t(bits >> 16)};
}
inline float to_float(bfloat16 x) {
  const uint32_t bits = uint32_t(x.bits) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline void store(float x, float* place) { *place = x; }
inline void store(float x, bfloat16* place) { *place = to_bfloat16(x); }
inline void store(Floats x, float* place) { *reinterpret_cast<Floats*>(place) = x; }

inline Floats load(const float* p) { return *reinterpret_cast<const Floats*>(p); }

#if defined(__AVX512F__)

inline Floats load(const bfloat16* p) {
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return (Floats)_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16);
}
inline Floats greater(Floats x, Floats y) { return (Floats)_mm512_max_ps((__m512)x, (__m512)y); }
inline Floats magnitude(Floats x) { return (Floats)_mm512_abs_ps((__m512)x); }
inline float largest(Floats x) { return _mm512_reduce_max_ps((__m512)x); }
inline float total(Floats x) { return _mm512_reduce_add_ps((__m512)x); }

#else

inline Floats load(const bfloat16* p) {
  Floats x;
  for (int i = 0; i < kLanes; ++i) x[i] = to_float(p[i]);
  return x;
}
inline Floats greater(Floats x, Floats y) { return x > y ? x : y; }
inline Floats magnitude(Floats x) { return x < 0.0f ? -x : x; }
inline float largest(Floats x) {
  float most = x[0];
  for (int i = 1; i < kLanes; ++i) most = x[i] > most ? x[i] : most;
  return most;
}
inline float total(Floats x) {
  float sum = 0.0f;
  for (int i = 0; i < kLanes; ++i) sum += x[i];
  return sum;
}

#endif
