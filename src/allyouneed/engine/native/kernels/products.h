// Products of matrices in bfloat16 on Intel's matrix unit (AMX): 16 × 32 numbers times 32 × 16 at
// once, summed up in float32.
#pragma once

#include <algorithm>
#include <cstring>

#include "numbers.h"
#include "tiles.h"
#include "transpose.h"

#if HAS_TILES

constexpr int kBlock = 32;                    // rows, columns and depth of a block: 2 × 2 tiles
constexpr int kBlockSize = kBlock * kBlock;  // numbers

inline int64_t blocks_of(int64_t size) { return (size + kBlock - 1) / kBlock; }

inline void narrow(const bfloat16* x, bfloat16* out, int n) { std::memcpy(out, x, n * sizeof *x); }

// A factor as the unit takes it: blocks of 32 × 32, those that a row of the product's blocks (of the
// left factor), or a column of them (of the right one), is summed over one after the other; zeros
// where the matrix ends. Tiles of the right factor have two numbers of each column side by side.
template <class T>
struct Packing {
  const T* from;
  int64_t rows, columns;
  bool right, turned;  // which factor; whether the matrix's columns are the factor's rows

  // `sums`, if any, become those of a turned left factor's rows.
  void pack(bfloat16* to, float* sums) const {
    const int64_t panels = blocks_of(down() ? columns : rows);
    const int64_t depth = blocks_of(down() ? rows : columns);
    constexpr int64_t kGroup = 8;  // panels side by side in memory
    const int64_t group = down() ? kGroup : 1;
#pragma omp parallel for schedule(dynamic) if (rows * columns >= kManyNumbers)
    for (int64_t first = 0; first < panels; first += group) {
      const int64_t last = std::min(first + group, panels);
      float of_group[kGroup * kBlock] = {};
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t panel = first; panel < last; ++panel) {
          alignas(64) bfloat16 block[kBlock][kBlock];
          cut(down() ? k : panel, down() ? panel : k, block);
          if (sums) add_rows(block, of_group + (panel - first) * kBlock);
          arrange(block, to + (panel * depth + k) * kBlockSize);
        }
      const int64_t column = first * kBlock;
      if (sums)
        std::copy_n(of_group, std::min((last - first) * kBlock, columns - column), sums + column);
    }
  }

 private:
  // Whether the products' sums go over rows of the matrix.
  bool down() const { return turned != right; }

  void cut(int64_t above, int64_t before, bfloat16 (*block)[kBlock]) const {
    const int64_t row = above * kBlock, column = before * kBlock;
    const T* corner = from + row * columns + column;
    const int height = int(std::min<int64_t>(kBlock, rows - row));
    const int width = int(std::min<int64_t>(kBlock, columns - column));
    if (height < kBlock || width < kBlock) std::memset(block, 0, sizeof(bfloat16) * kBlockSize);
    const int64_t next = down() ? kBlock * columns : 4 * kBlock;
    if (width == kBlock)
      for (int r = 0; r < height; ++r) {
        const T* x = corner + r * columns;
        for (size_t c = 0; c < kBlock; c += 64 / sizeof(T)) __builtin_prefetch(x + next + c);
        narrow(x, block[r], kBlock);
      }
    else
      for (int r = 0; r < height; ++r) narrow(corner + r * columns, block[r], width);
  }

  static void add_rows(const bfloat16 (*block)[kBlock], float* sums) {
    for (int r = 0; r < kBlock; ++r)
      for (int c = 0; c < kBlock; ++c) sums[c] += to_float(block[r][c]);
  }

  // Two rows become one of pairs where the sums go over rows; pairs are what is turned.
  void arrange(const bfloat16 (*block)[kBlock], bfloat16* to) const {
    alignas(64) bfloat16 pairs[kBlockSize];
    const bfloat16* numbers = block[0];
    if (down()) {
      for (int half = 0, at = 0; half < kBlock; half += kTile)
        for (int r = 0; r < kBlock; r += kTile, at += kTile * kTile)
          Transpose<bfloat16>::pair_up(block[r] + half, kBlock, (turned ? pairs : to) + at);
      numbers = pairs;
    }
    if (turned)
      for (int half = 0; half < kBlockSize; half += kBlockSize / 2)
        Transpose<uint32_t>::tile((const uint32_t*)(numbers + half), kTile, (uint32_t*)(to + half), kTile);
    else if (!down())
      std::memcpy(to, block, sizeof(bfloat16) * kBlockSize);
  }

  static constexpr int kTile = 16;
};

// y = a b + bias. `left` is packed, or lies row by row with whole blocks.
template <class T>
struct Product {
  const bfloat16* left;
  bool packed;
  const bfloat16* right;
  const float* bias;
  int64_t rows, depth, columns;
  T* out;

  void multiply() const {
    constexpr int64_t kTaskRows = 4, kCached = 256;  // blocks; so many of the right factor
    const int64_t down = blocks_of(rows), across = blocks_of(columns), deep = blocks_of(depth);
    const int64_t width = std::max<int64_t>(1, kCached / std::max<int64_t>(1, deep));
#pragma omp parallel if (rows * columns >= kManyNumbers)
    {
      set_tiles();
      // To whoever is free: a core's speed changes with what its neighbours do.
#pragma omp for schedule(dynamic) collapse(2)
      for (int64_t left_edge = 0; left_edge < across; left_edge += width)
        for (int64_t top = 0; top < down; top += kTaskRows)
          part(top, std::min(top + kTaskRows, down), left_edge, std::min(left_edge + width, across));
      release_tiles();
    }
  }

 private:
  // Sums of a block that are still to be written.
  struct Sums {
    alignas(64) float sums[kBlock][kBlock];
    T* corner;
    const float* bias;
    int64_t stride;
    int row, rows, columns;

    void write(int count) {
      for (const int end = std::min(rows, row + count); row < end; ++row) {
        if (columns == kBlock)
          write_row(kBlock);
        else
          write_row(columns);
      }
    }

   private:
    inline __attribute__((always_inline)) void write_row(int n) {
      T* to = corner + row * stride;
      if (bias)
        for (int c = 0; c < n; ++c) store(sums[row][c] + bias[c], to + c);
      else
        for (int c = 0; c < n; ++c) store(sums[row][c], to + c);
    }
  };

  // Blocks of the product. While the unit computes one, the one before it is written.
  WITH_TILES void part(int64_t top, int64_t bottom, int64_t left_edge, int64_t right_edge) const {
    const int64_t deep = blocks_of(depth);
    const int64_t row = packed ? kBlock : depth, step = packed ? kBlockSize : kBlock;
    const int rows_at_once = kBlock / int(std::min<int64_t>(kBlock, std::max<int64_t>(1, deep)));
    Sums both[2];
    both[1].row = both[1].rows = 0;
    int turn = 0;
    for (int64_t i = top; i < bottom; ++i)
      for (int64_t j = left_edge; j < right_edge; ++j, turn ^= 1) {
        Sums &here = both[turn], &before = both[turn ^ 1];
        const bfloat16* a = left + i * kBlock * (packed ? deep * kBlock : depth);
        const bfloat16* b = right + j * deep * kBlockSize;
        const size_t stride = row * sizeof *a;
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
        for (int64_t k = 0; k < deep; ++k, a += step, b += kBlockSize) {
          _tile_loadd(4, a, stride);
          _tile_loadd(6, b, 64);
          _tile_dpbf16ps(0, 4, 6);
          _tile_loadd(7, b + kBlockSize / 2, 64);
          _tile_dpbf16ps(1, 4, 7);
          _tile_loadd(5, a + kBlock / 2 * row, stride);
          _tile_dpbf16ps(2, 5, 6);
          _tile_dpbf16ps(3, 5, 7);
          before.write(rows_at_once);
        }
        before.write(kBlock);
        const int64_t top_row = i * kBlock, column = j * kBlock;
        here.corner = out + top_row * columns + column;
        here.bias = bias ? bias + column : nullptr;
        here.stride = columns;
        here.row = 0;
        here.rows = int(std::min<int64_t>(kBlock, rows - top_row));
        here.columns = int(std::min<int64_t>(kBlock, columns - column));
        constexpr int kRow = kBlock * sizeof(float);
        _tile_stored(0, here.sums[0], kRow);
        _tile_stored(1, here.sums[0] + kLanes, kRow);
        _tile_stored(2, here.sums[kBlock / 2], kRow);
        _tile_stored(3, here.sums[kBlock / 2] + kLanes, kRow);
      }
    both[turn ^ 1].write(kBlock);
  }
};
#endif
