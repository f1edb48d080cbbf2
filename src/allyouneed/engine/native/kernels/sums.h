// Sums of products of blocks, in float32. AVX-512 vectors multiply two numbers of each row by two
// of each column at once; Intel's matrix unit (AMX) multiplies whole rows by whole columns.
#pragma once

#include "factor.h"

// The units that can multiply, the fastest last.
enum Unit { kNone, kVectors, kTiles };

inline Unit best_unit() {
#if HAS_TILES
  if (!__builtin_cpu_supports("avx512bf16")) return kNone;
  return may_use_tiles(kBfloat16Tiles) ? kTiles : kVectors;
#else
  return kNone;
#endif
}

#if HAS_TILES

// One panel's blocks of the left factor and of the right factor. They are multiplied pair by pair,
// and the products are added to the sums so far.
struct Chain {
  const bfloat16* left;
  int64_t row, step;  // the distance between rows of `left`, and between its blocks
  const bfloat16* right;
  int64_t blocks;
  bool first;  // there are no sums so far
};

// The sums of one block of the product, and where to write them.
template <class T>
struct Sums {
  alignas(64) float at[kBlock][kBlock];
  T* corner;
  int64_t stride;
  const float* bias;
  int row = 0, rows = 0, columns;

  // Writes the next `count` rows, or as many as are left.
  WITH_BFLOAT16 void write(int count) {
    for (const int end = std::min(rows, row + count); row < end; ++row) {
      T* to = corner + row * stride;
      __builtin_prefetch(to + kBlock, 1);  // of the block to its right
      write_row(at[row], to);
    }
  }

  // Adds the products with AVX-512 vectors. 16 of the 32 registers hold sums.
  WITH_BFLOAT16 void add_by_vectors(const Chain& chain) {
    constexpr int kRows = 8;
    for (int top = 0; top < kBlock; top += kRows) {
      __m512 left[kRows], right[kRows];
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        left[r] = chain.first ? _mm512_setzero_ps() : _mm512_load_ps(at[top + r]);
        right[r] = chain.first ? _mm512_setzero_ps() : _mm512_load_ps(at[top + r] + kLanes);
      }
      const bfloat16 *a = chain.left + top * chain.row, *b = chain.right;
      for (int64_t k = 0; k < chain.blocks; ++k, a += chain.step, b += kBlockSize)
        for (int n = 0; n < kBlock; n += 2) {
          const __m512bh of_left = (__m512bh)_mm512_loadu_si512(b + n * kLanes);
          const __m512bh of_right = (__m512bh)_mm512_loadu_si512(b + n * kLanes + kBlockSize / 2);
#pragma GCC unroll 8
          for (int r = 0; r < kRows; ++r) {
            int32_t two;
            std::memcpy(&two, a + r * chain.row + n, sizeof two);
            const __m512bh of_row = (__m512bh)_mm512_set1_epi32(two);
            left[r] = _mm512_dpbf16_ps(left[r], of_row, of_left);
            right[r] = _mm512_dpbf16_ps(right[r], of_row, of_right);
          }
        }
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        _mm512_store_ps(at[top + r], left[r]);
        _mm512_store_ps(at[top + r] + kLanes, right[r]);
      }
    }
  }

  // Adds the products on AMX tiles; tiles 0 to 3 hold the sums. Meanwhile the finished block
  // `before` is written, `rows_at_once` rows after each pair of blocks. The next panel of the left
  // factor, `below` numbers further, is prefetched unless `below` is 0.
  WITH_TILES void add_on_tiles(const Chain& chain, int64_t below, Sums* before, int rows_at_once) {
    const bfloat16 *a = chain.left, *b = chain.right;
    const size_t stride = chain.row * sizeof *a;
    if (chain.first) {
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
    } else {
      _tile_loadd(0, at[0], kRow);
      _tile_loadd(1, at[0] + kLanes, kRow);
      _tile_loadd(2, at[kBlock / 2], kRow);
      _tile_loadd(3, at[kBlock / 2] + kLanes, kRow);
    }
    for (int64_t k = 0; k < chain.blocks; ++k, a += chain.step, b += kBlockSize) {
      if (below)
        for (int r = 0; r < kBlock; ++r) __builtin_prefetch(a + below + r * chain.row);
      _tile_loadd(4, a, stride);
      _tile_loadd(6, b, 64);
      _tile_dpbf16ps(0, 4, 6);
      _tile_loadd(7, b + kBlockSize / 2, 64);
      _tile_dpbf16ps(1, 4, 7);
      _tile_loadd(5, a + kBlock / 2 * chain.row, stride);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
      before->write(rows_at_once);
    }
    before->write(kBlock);
    _tile_stored(0, at[0], kRow);
    _tile_stored(1, at[0] + kLanes, kRow);
    _tile_stored(2, at[kBlock / 2], kRow);
    _tile_stored(3, at[kBlock / 2] + kLanes, kRow);
  }

 private:
  static constexpr int kRow = kBlock * sizeof(float);  // bytes

  WITH_BFLOAT16 void write_row(const float* sum, T* to) const {
    if (columns == kBlock) {
      __m512 left = _mm512_load_ps(sum), right = _mm512_load_ps(sum + kLanes);
      if (bias) {
        left = _mm512_add_ps(left, _mm512_loadu_ps(bias));
        right = _mm512_add_ps(right, _mm512_loadu_ps(bias + kLanes));
      }
      write_whole(left, right, to);
    } else {
      for (int c = 0; c < columns; ++c) store(sum[c] + (bias ? bias[c] : 0.0f), to + c);
    }
  }
  WITH_BFLOAT16 static void write_whole(__m512 left, __m512 right, bfloat16* to) {
    narrow_row(left, right, to);
  }
  WITH_BFLOAT16 static void write_whole(__m512 left, __m512 right, float* to) {
    _mm512_storeu_ps(to, left);
    _mm512_storeu_ps(to + kLanes, right);
  }
};
#endif
