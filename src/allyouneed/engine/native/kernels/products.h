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

// Processors with the unit round to bfloat16 in one instruction too.
inline bool may_multiply() {
  return may_use_tiles(kBfloat16Tiles) && __builtin_cpu_supports("avx512bf16");
}

// The numbers of a block's row.
WITH_TILES inline void narrow_row(__m512 left, __m512 right, bfloat16* out) {
  _mm512_storeu_si512(out, (__m512i)_mm512_cvtne2ps_pbh(right, left));
}
WITH_TILES inline void narrow_row(const float* x, bfloat16* out) {
  narrow_row(_mm512_loadu_ps(x), _mm512_loadu_ps(x + kLanes), out);
}
inline void narrow_row(const bfloat16* x, bfloat16* out) {
  std::memcpy(out, x, kBlock * sizeof *x);
}
inline void narrow(const bfloat16* x, bfloat16* out, int n) { std::memcpy(out, x, n * sizeof *x); }

// A factor in blocks of 32 × 32 as the unit takes them, with zeros where the matrix ends. Tiles of a
// right factor have two numbers of each column side by side.
template <class T>
struct Factor {
  const T* matrix;
  int64_t rows, columns;  // of the matrix
  bool right, turned;     // which factor; whether the matrix's columns are its rows

  // Whether a product's sums go down the matrix's columns.
  bool down() const { return turned != right; }

  // Blocks in a sum, and panels: the rows of a left factor's blocks, a right one's columns.
  int64_t depth() const { return blocks_of(down() ? rows : columns); }
  int64_t panels() const { return blocks_of(down() ? columns : rows); }

  // All blocks, panel by panel.
  void pack(bfloat16* to) const {
    constexpr int64_t kGroup = 8;  // panels side by side in memory
    const int64_t group = down() ? kGroup : 1;
#pragma omp parallel for schedule(dynamic) if (rows * columns >= kManyNumbers)
    for (int64_t first = 0; first < panels(); first += group)
      for (int64_t k = 0; k < depth(); ++k)
        for (int64_t panel = first; panel < std::min(first + group, panels()); ++panel)
          block(panel, k, to + (panel * depth() + k) * kBlockSize, nullptr);
  }

  // One block. To `sums`, if any, it adds those of a turned left factor's rows.
  WITH_TILES void block(int64_t panel, int64_t k, bfloat16* to, float* sums) const {
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
    // Two rows become one of pairs where the sums go down; pairs are what is turned.
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

// y = a b + bias, of a left factor as it lies in memory and the packed blocks of a right one.
template <class T>
struct Product {
  Factor<bfloat16> left;
  const bfloat16* right;
  const float* bias;  // of the columns, or nullptr
  float* sums;        // what becomes of a turned left factor's rows, or nullptr
  int64_t rows, columns;
  T* out;

  void multiply() const {
    const int64_t down = blocks_of(rows), across = blocks_of(columns);
    // Of the right factor 256 blocks stay in a cache: with a left one that has to be packed, as many
    // columns as possible; else as much as possible of a sum.
    const int64_t piece =
        packs() ? kPacked : std::clamp<int64_t>(left.depth(), 1, kWhole);
    const int64_t width = kCached / piece, height = down > 4 * kTaskRows ? kTaskRows : kTaskRows / 2;
#pragma omp parallel if (rows * columns >= kManyNumbers)
    {
      set_tiles();
      // To whoever is free: a core's speed changes with what its neighbours do.
#pragma omp for schedule(dynamic) collapse(2)
      for (int64_t before = 0; before < across; before += width)
        for (int64_t above = 0; above < down; above += height)
          part(above, std::min(above + height, down), before, std::min(before + width, across),
               piece);
      release_tiles();
    }
  }

 private:
  static constexpr int64_t kTaskRows = 4, kCached = 256, kWhole = 64, kPacked = 16;  // blocks

  bool packs() const { return left.turned || left.rows % kBlock || left.columns % kBlock; }

  // Tiles 0 to 3 sum a block up.
  WITH_TILES static void zero_sums() {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }

  // Sums of a block, and where they are to be written.
  struct Sums {
    alignas(64) float at[kBlock][kBlock];
    T* corner;
    const float* bias;
    int64_t stride;
    int row, rows, columns;

    void belong_to(const Product& product, int64_t top, int64_t column) {
      corner = product.out + top * product.columns + column;
      bias = product.bias ? product.bias + column : nullptr;
      stride = product.columns;
      row = 0;
      rows = int(std::min<int64_t>(kBlock, product.rows - top));
      columns = int(std::min<int64_t>(kBlock, product.columns - column));
    }

    WITH_TILES void to_tiles() const {
      _tile_loadd(0, at[0], kRow);
      _tile_loadd(1, at[0] + kLanes, kRow);
      _tile_loadd(2, at[kBlock / 2], kRow);
      _tile_loadd(3, at[kBlock / 2] + kLanes, kRow);
    }
    WITH_TILES void from_tiles() {
      _tile_stored(0, at[0], kRow);
      _tile_stored(1, at[0] + kLanes, kRow);
      _tile_stored(2, at[kBlock / 2], kRow);
      _tile_stored(3, at[kBlock / 2] + kLanes, kRow);
    }

    // The next rows, as many as `count` or as are left.
    WITH_TILES void write(int count) {
      for (const int end = std::min(rows, row + count); row < end; ++row) {
        T* to = corner + row * stride;
        __builtin_prefetch(to + kBlock, 1);  // of the block to its right
        write_row(at[row], to);
      }
    }

   private:
    static constexpr int kRow = kBlock * sizeof(float);  // bytes

    WITH_TILES void write_row(const float* sum, T* to) const {
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
    WITH_TILES static void write_whole(__m512 left, __m512 right, bfloat16* to) {
      narrow_row(left, right, to);
    }
    WITH_TILES static void write_whole(__m512 left, __m512 right, float* to) {
      _mm512_storeu_ps(to, left);
      _mm512_storeu_ps(to + kLanes, right);
    }
  };

  // Blocks of the product, piece by piece of their sums. While the unit computes one, the one before
  // it is written.
  WITH_TILES void part(int64_t top, int64_t bottom, int64_t left_edge, int64_t right_edge,
                       int64_t piece) const {
    alignas(64) bfloat16 packed[kTaskRows * kPacked * kBlockSize];
    Sums room[kTaskRows * kCached / kPacked], none, *before = &none;
    none.row = none.rows = 0;
    const int64_t deep = left.depth();
    const int rows_at_once = kBlock / int(std::clamp<int64_t>(deep, 1, kBlock));
    float of_rows[kTaskRows * kBlock] = {};
    int64_t first = 0;
    do {
      const int64_t last = std::min(first + piece, deep);
      // Where the left factor's blocks are, and how far apart their rows and they themselves lie.
      const bfloat16* blocks = left.matrix + top * kBlock * left.columns + first * kBlock;
      int64_t row = left.columns, step = kBlock, panel = kBlock * left.columns;
      if (packs()) {
        for (int64_t k = first; k < last; ++k)
          for (int64_t i = top; i < bottom; ++i)
            left.block(i, k, packed + ((i - top) * piece + k - first) * kBlockSize,
                       sums && !left_edge ? of_rows + (i - top) * kBlock : nullptr);
        blocks = packed, row = kBlock, step = kBlockSize, panel = piece * kBlockSize;
      }
      const size_t stride = row * sizeof *blocks;
      Sums* here = room;
      for (int64_t i = top; i < bottom; ++i, blocks += panel)
        for (int64_t j = left_edge; j < right_edge; ++j) {
          const bfloat16 *a = blocks, *b = right + (j * deep + first) * kBlockSize;
          if (first == 0)
            zero_sums();
          else
            here->to_tiles();
          for (int64_t k = first; k < last; ++k, a += step, b += kBlockSize) {
            if (j == left_edge && i + 1 < bottom)  // the rows below come from afar
              for (int r = 0; r < kBlock; ++r) __builtin_prefetch(a + panel + r * row);
            _tile_loadd(4, a, stride);
            _tile_loadd(6, b, 64);
            _tile_dpbf16ps(0, 4, 6);
            _tile_loadd(7, b + kBlockSize / 2, 64);
            _tile_dpbf16ps(1, 4, 7);
            _tile_loadd(5, a + kBlock / 2 * row, stride);
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
            before->write(rows_at_once);
          }
          before->write(kBlock);
          here->from_tiles();
          if (last == deep) {
            here->belong_to(*this, i * kBlock, j * kBlock);
            before = here;
          }
          if (piece < deep) ++here;  // else no sums wait for their next piece
        }
      first = last;
    } while (first < deep);
    before->write(kBlock);
    if (sums && !left_edge)
      std::copy_n(of_rows, std::min((bottom - top) * kBlock, rows - top * kBlock),
                  sums + top * kBlock);
  }
};
#endif
