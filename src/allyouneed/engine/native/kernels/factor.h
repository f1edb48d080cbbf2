// A factor of a product in bfloat16, in blocks.
#pragma once

#include <algorithm>
#include <cstring>

#include "numbers.h"
#include "tiles.h"
#include "transpose.h"

#if HAS_TILES

constexpr int kBlock = 32;                   // rows, columns and depth of a block: 2 × 2 tiles
constexpr int kBlockSize = kBlock * kBlock;  // numbers

inline int64_t blocks_of(int64_t size) { return (size + kBlock - 1) / kBlock; }

#define WITH_BFLOAT16 __attribute__((target("avx512bf16")))

// Rounds one row of a block, 32 numbers, to bfloat16.
WITH_BFLOAT16 inline void narrow_row(__m512 left, __m512 right, bfloat16* out) {
  _mm512_storeu_si512(out, (__m512i)_mm512_cvtne2ps_pbh(right, left));
}
WITH_BFLOAT16 inline void narrow_row(const float* x, bfloat16* out) {
  narrow_row(_mm512_loadu_ps(x), _mm512_loadu_ps(x + kLanes), out);
}
inline void narrow_row(const bfloat16* x, bfloat16* out) {
  std::memcpy(out, x, kBlock * sizeof *x);
}
inline void narrow(const bfloat16* x, bfloat16* out, int n) { std::memcpy(out, x, n * sizeof *x); }

// One factor of a matrix product, cut into blocks of 32 × 32 numbers and padded with zeros. Blocks
// are laid out in the order in which the products read them. In the tiles of a right factor two
// numbers of each column are neighbours.
template <class T>
struct Factor {
  const T* matrix;
  int64_t rows, columns;  // of the matrix
  bool right, turned;     // right: not the left factor; turned: the matrix's transpose

  // Whether the product adds up along the matrix's columns (otherwise along its rows).
  bool down() const { return turned != right; }

  // depth: the number of blocks along a sum. panels: the number of rows of blocks of a left factor,
  // or of columns of blocks of a right factor.
  int64_t depth() const { return blocks_of(down() ? rows : columns); }
  int64_t panels() const { return blocks_of(down() ? columns : rows); }

  // Writes all blocks, panel by panel.
  void pack(bfloat16* to) const {
    constexpr int64_t kGroup = 8;  // panels side by side in memory
    const int64_t group = down() ? kGroup : 1;
#pragma omp parallel for schedule(dynamic) if (rows * columns >= kManyNumbers)
    for (int64_t first = 0; first < panels(); first += group)
      for (int64_t k = 0; k < depth(); ++k)
        for (int64_t panel = first; panel < std::min(first + group, panels()); ++panel)
          block(panel, k, to + (panel * depth() + k) * kBlockSize, nullptr);
  }

  // Writes one block. For a turned left factor it also adds the block's row sums to `sums`, unless
  // `sums` is null.
  WITH_BFLOAT16 void block(int64_t panel, int64_t k, bfloat16* to, float* sums) const {
    alignas(64) bfloat16 cut[kBlock][kBlock], pairs[kBlockSize];
    const int64_t row = (down() ? k : panel) * kBlock, column = (down() ? panel : k) * kBlock;
    const int height = int(std::min<int64_t>(kBlock, rows - row));
    const int width = int(std::min<int64_t>(kBlock, columns - column));
    const T* corner = matrix + row * columns + column;
    const int64_t next = down() ? kBlock * columns : 4 * kBlock;
    if (height < kBlock || width < kBlock) std::memset(cut, 0, sizeof cut);
    for (int r = 0; r < height; ++r) {
      const T* x = corner + r * columns;
      for (size_t c = 0; c < kBlock; c += 64 / sizeof(T)) __builtin_prefetch(x + next + c);
      if (width == kBlock)
        narrow_row(x, cut[r]);
      else
        narrow(x, cut[r], width);
    }
    if (sums)
      for (int r = 0; r < kBlock; ++r)
        for (int c = 0; c < kBlock; ++c) sums[c] += to_float(cut[r][c]);
    // If the product adds up along the matrix's columns, two rows are interleaved into one row of
    // pairs before the transpose, because the products add up neighbouring pairs.
    const bfloat16* numbers = cut[0];
    if (down()) {
      bfloat16* out = turned ? pairs : to;
      for (int half = 0; half < kBlock; half += kTile)
        for (int r = 0; r < kBlock; r += kTile, out += kTile * kTile)
          Transpose<bfloat16>::pair_up(cut[r] + half, kBlock, out);
      numbers = pairs;
    }
    if (turned)
      for (int half = 0; half < kBlockSize; half += kBlockSize / 2)
        Transpose<uint32_t>::tile((const uint32_t*)(numbers + half), kTile,
                                  (uint32_t*)(to + half), kTile);
    else if (!down())
      std::memcpy(to, cut, sizeof cut);
  }

 private:
  static constexpr int kTile = 16;
};
#endif
