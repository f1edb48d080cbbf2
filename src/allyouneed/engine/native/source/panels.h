// Products of rows and a packed matrix. The engine spends nearly all its time here.
//
// A matrix is packed in panels of 32 output columns. Within a panel one input follows another. Int8
// panels keep four inputs of a column together, because the processors' dot products multiply four
// numbers at once:
//     float, bfloat16   [panel][input][32]
//     int8              [panel][input / 4][32][4]
// Int8 weights are stored with 128 added (unsigned), because most dot products multiply unsigned by
// signed numbers. Activations are signed. Callers subtract kOffset · Σ activations from a sum.
#pragma once

#include <cstdint>
#include <cstring>

#include "floats.h"

#if defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>
#endif

constexpr int kPanel = 32;  // columns
constexpr int kDepth = 64;  // int8 inputs are padded with zeros to a multiple of this

// ---- float -----------------------------------------------------------------------------------

// y[r][0..32) = Σₖ a[r][k] · panel[k][0..32) for ROWS rows.
template <int ROWS, class W>
inline void float_tile(const float* a, int a_stride, const W* panel, int depth, float* y,
                       int y_stride) {
  Floats sum[ROWS][2] = {};
  for (int k = 0; k < depth; ++k, panel += kPanel) {
    const Floats w0 = load(panel), w1 = load(panel + kLanes);
    for (int r = 0; r < ROWS; ++r) {
      const float x = a[r * a_stride + k];
      sum[r][0] += w0 * x;
      sum[r][1] += w1 * x;
    }
  }
  for (int r = 0; r < ROWS; ++r) {
    store(sum[r][0], y + r * y_stride);
    store(sum[r][1], y + r * y_stride + kLanes);
  }
}

#if defined(__AVX512F__)
constexpr int kFloatRows = 8;
#else
constexpr int kFloatRows = 2;  // as many as fit into the registers
#endif

template <class W>
inline void float_panel(const float* a, int a_stride, int rows, const W* panel, int depth, float* y,
                        int y_stride) {
  int r = 0;
  for (; r + kFloatRows <= rows; r += kFloatRows)
    float_tile<kFloatRows>(a + r * a_stride, a_stride, panel, depth, y + r * y_stride, y_stride);
  for (; r + 2 <= rows; r += 2)
    float_tile<2>(a + r * a_stride, a_stride, panel, depth, y + r * y_stride, y_stride);
  if (r < rows)
    float_tile<1>(a + r * a_stride, a_stride, panel, depth, y + r * y_stride, y_stride);
}

// ---- int8 ------------------------------------------------------------------------------------

#if defined(__AVX512VNNI__)

struct Ints {
  __m512i lanes = _mm512_setzero_si512();
};
struct Columns {
  __m512i lanes;
};
constexpr int kOffset = 128, kIntRows = 8;

inline Columns columns(const uint8_t* w) { return {_mm512_load_si512(w)}; }
inline void dot(Ints& sum, const Columns& w, int32_t four) {
  sum.lanes = _mm512_dpbusd_epi32(sum.lanes, w.lanes, _mm512_set1_epi32(four));
}
inline void put(const Ints& sum, int32_t* out) { _mm512_storeu_si512(out, sum.lanes); }

#elif defined(__AVXVNNI__)

struct Ints {
  __m256i lanes[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
};
struct Columns {
  __m256i lanes[2];
};
constexpr int kOffset = 128, kIntRows = 2;

inline Columns columns(const uint8_t* w) {
  const __m256i* lanes = reinterpret_cast<const __m256i*>(w);
  return {{_mm256_load_si256(lanes), _mm256_load_si256(lanes + 1)}};
}
inline void dot(Ints& sum, const Columns& w, int32_t four) {
  const __m256i a = _mm256_set1_epi32(four);
  for (int i = 0; i < 2; ++i) sum.lanes[i] = _mm256_dpbusd_avx_epi32(sum.lanes[i], w.lanes[i], a);
}
inline void put(const Ints& sum, int32_t* out) {
  for (int i = 0; i < 2; ++i)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out) + i, sum.lanes[i]);
}

#elif defined(__AVX2__)

// vpmaddubsw adds two products in 16 bits, which 255 · 127 · 2 overflows. Therefore each weight is
// split into 2 · (w / 2) + w % 2.
struct Ints {
  __m256i lanes[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
};
struct Columns {
  __m256i half[2], odd[2];
};
constexpr int kOffset = 128, kIntRows = 1;

inline Columns columns(const uint8_t* w) {
  Columns c;
  for (int i = 0; i < 2; ++i) {
    const __m256i lanes = _mm256_load_si256(reinterpret_cast<const __m256i*>(w) + i);
    c.odd[i] = _mm256_and_si256(lanes, _mm256_set1_epi8(1));
    c.half[i] = _mm256_and_si256(_mm256_srli_epi16(lanes, 1), _mm256_set1_epi8(127));
  }
  return c;
}
inline void dot(Ints& sum, const Columns& w, int32_t four) {
  const __m256i a = _mm256_set1_epi32(four);
  for (int i = 0; i < 2; ++i) {
    const __m256i halves = _mm256_maddubs_epi16(w.half[i], a);
    const __m256i odds = _mm256_maddubs_epi16(w.odd[i], a);
    sum.lanes[i] =
        _mm256_add_epi32(sum.lanes[i], _mm256_madd_epi16(halves, _mm256_set1_epi16(2)));
    sum.lanes[i] = _mm256_add_epi32(sum.lanes[i], _mm256_madd_epi16(odds, _mm256_set1_epi16(1)));
  }
}
inline void put(const Ints& sum, int32_t* out) {
  for (int i = 0; i < 2; ++i)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out) + i, sum.lanes[i]);
}

#elif defined(__ARM_FEATURE_MATMUL_INT8)

struct Ints {
  int32x4_t lanes[4] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};
};
struct Columns {
  uint8x16_t lanes[4];
};
constexpr int kOffset = 128, kIntRows = 2;

inline Columns columns(const uint8_t* w) {
  return {{vld1q_u8(w), vld1q_u8(w + 16), vld1q_u8(w + 32), vld1q_u8(w + 48)}};
}
inline void dot(Ints& sum, const Columns& w, int32_t four) {
  const int8x16_t a = vreinterpretq_s8_s32(vdupq_n_s32(four));
  for (int i = 0; i < 4; ++i) sum.lanes[i] = vusdotq_s32(sum.lanes[i], w.lanes[i], a);
}
inline void put(const Ints& sum, int32_t* out) {
  for (int i = 0; i < 4; ++i) vst1q_s32(out + 4 * i, sum.lanes[i]);
}

#elif defined(__ARM_FEATURE_DOTPROD)

struct Ints {
  int32x4_t lanes[4] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};
};
struct Columns {
  int8x16_t lanes[4];
};
constexpr int kOffset = 0, kIntRows = 2;  // `columns` subtracts the 128 itself

inline Columns columns(const uint8_t* w) {
  Columns c;
  for (int i = 0; i < 4; ++i)
    c.lanes[i] = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(w + 16 * i), vdupq_n_u8(128)));
  return c;
}
inline void dot(Ints& sum, const Columns& w, int32_t four) {
  const int8x16_t a = vreinterpretq_s8_s32(vdupq_n_s32(four));
  for (int i = 0; i < 4; ++i) sum.lanes[i] = vdotq_s32(sum.lanes[i], w.lanes[i], a);
}
inline void put(const Ints& sum, int32_t* out) {
  for (int i = 0; i < 4; ++i) vst1q_s32(out + 4 * i, sum.lanes[i]);
}

#else  // any processor

struct Ints {
  int32_t lanes[kLanes] = {};
};
struct Columns {
  const uint8_t* w;
};
constexpr int kOffset = 128, kIntRows = 1;

inline Columns columns(const uint8_t* w) { return {w}; }
inline void dot(Ints& sum, const Columns& w, int32_t four) {
  int8_t a[4];
  std::memcpy(a, &four, sizeof a);
  for (int c = 0; c < kLanes; ++c)
    for (int i = 0; i < 4; ++i) sum.lanes[c] += int32_t(w.w[4 * c + i]) * a[i];
}
inline void put(const Ints& sum, int32_t* out) { std::memcpy(out, sum.lanes, sizeof sum.lanes); }

#endif

// Prefetches weights. With few rows the time of a product is the time that reading its weights
// takes. The next panel and the next matrix follow in memory, so reading ahead past the end is
// useful too.
inline void fetch_ahead(const uint8_t* w) {
  constexpr int kAhead = 8192;  // bytes
  __builtin_prefetch(w + kAhead, 0, 2);
  __builtin_prefetch(w + kAhead + 64, 0, 2);
}

// sums[r][0..32) = Σₖ a[r][k] · panel[k][0..32) for ROWS rows. Integers keep the sums exact.
template <int ROWS>
inline void int_tile(const int8_t* a, int a_stride, const uint8_t* panel, int depth,
                     int32_t (*sums)[kPanel]) {
  Ints sum[ROWS][2];
  for (int k = 0; k < depth; k += 4, panel += 4 * kPanel) {
    fetch_ahead(panel);
    const Columns w0 = columns(panel), w1 = columns(panel + 4 * kLanes);
    for (int r = 0; r < ROWS; ++r) {
      int32_t four;
      std::memcpy(&four, a + r * a_stride + k, sizeof four);
      dot(sum[r][0], w0, four);
      dot(sum[r][1], w1, four);
    }
  }
  for (int r = 0; r < ROWS; ++r) {
    put(sum[r][0], sums[r]);
    put(sum[r][1], sums[r] + kLanes);
  }
}

inline void int_tile(int rows, const int8_t* a, int a_stride, const uint8_t* panel, int depth,
                     int32_t (*sums)[kPanel]) {
  switch (rows) {
    case 1: return int_tile<1>(a, a_stride, panel, depth, sums);
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__) || defined(__ARM_FEATURE_DOTPROD)
    case 2: return int_tile<2>(a, a_stride, panel, depth, sums);
#endif
#if defined(__AVX512VNNI__)
    case 3: return int_tile<3>(a, a_stride, panel, depth, sums);
    case 4: return int_tile<4>(a, a_stride, panel, depth, sums);
    case 5: return int_tile<5>(a, a_stride, panel, depth, sums);
    case 6: return int_tile<6>(a, a_stride, panel, depth, sums);
    case 7: return int_tile<7>(a, a_stride, panel, depth, sums);
    case 8: return int_tile<8>(a, a_stride, panel, depth, sums);
#endif
  }
}
