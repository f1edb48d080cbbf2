// Products of matrices in bfloat16.
#pragma once

#include "sums.h"

#if HAS_TILES

// y = a b + bias, where a is a matrix in memory and b the packed blocks of a right factor.
template <class T>
struct Product {
  Unit unit;
  Factor<bfloat16> left;
  const bfloat16* right;
  const float* bias;  // of the columns, or nullptr
  float* sums;        // receives the row sums of a turned left factor, or nullptr
  int64_t rows, columns;
  T* out;

  void multiply() const {
    const int64_t down = blocks_of(rows), across = blocks_of(columns);
    // 256 blocks of the right factor fit into the cache. Where the left factor has to be packed,
    // these blocks should span many columns; otherwise they should span as much of a sum as
    // possible.
    const int64_t piece =
        packs() ? kPacked : std::clamp<int64_t>(left.depth(), 1, kWhole);
    const int64_t width = kCached / piece, height = down > 4 * kTaskRows ? kTaskRows : kTaskRows / 2;
#pragma omp parallel if (rows * columns >= kManyNumbers)
    {
      if (unit == kTiles) set_tiles();
      // The schedule is dynamic because cores differ in speed: their neighbours share caches and
      // power.
#pragma omp for schedule(dynamic) collapse(2)
      for (int64_t before = 0; before < across; before += width)
        for (int64_t above = 0; above < down; above += height)
          part(above, std::min(above + height, down), before, std::min(before + width, across),
               piece);
      if (unit == kTiles) release_tiles();
    }
  }

 private:
  static constexpr int64_t kTaskRows = 4, kCached = 256, kWhole = 64, kPacked = 16;  // blocks

  bool packs() const { return left.turned || left.rows % kBlock || left.columns % kBlock; }

  // Computes a rectangle of the product's blocks. Each sum is computed in pieces of `piece` blocks.
  // The function is compiled for tiles, so that both ways of adding up are inlined; on a processor
  // without tiles only the one by vectors is called.
  WITH_TILES void part(int64_t top, int64_t bottom, int64_t left_edge, int64_t right_edge,
                       int64_t piece) const {
    alignas(64) bfloat16 packed[kTaskRows * kPacked * kBlockSize];
    Sums<T> room[kTaskRows * kCached / kPacked], none, *before = &none;
    const int64_t deep = left.depth();
    const int rows_at_once = kBlock / int(std::clamp<int64_t>(deep, 1, kBlock));
    float of_rows[kTaskRows * kBlock] = {};
    int64_t first = 0;
    do {
      const int64_t last = std::min(first + piece, deep);
      // The left factor's blocks, and the distances between their rows, their steps and their
      // panels.
      const bfloat16* blocks = left.matrix + top * kBlock * left.columns + first * kBlock;
      int64_t row = left.columns, step = kBlock, panel = kBlock * left.columns;
      if (packs()) {
        for (int64_t k = first; k < last; ++k)
          for (int64_t i = top; i < bottom; ++i)
            left.block(i, k, packed + ((i - top) * piece + k - first) * kBlockSize,
                       sums && !left_edge ? of_rows + (i - top) * kBlock : nullptr);
        blocks = packed, row = kBlock, step = kBlockSize, panel = piece * kBlockSize;
      }
      Sums<T>* here = room;
      for (int64_t i = top; i < bottom; ++i, blocks += panel)
        for (int64_t j = left_edge; j < right_edge; ++j) {
          const bfloat16* of_right = right + (j * deep + first) * kBlockSize;
          const Chain chain{blocks, row, step, of_right, last - first, first == 0};
          if (unit == kTiles) {
            const int64_t below = j == left_edge && i + 1 < bottom ? panel : 0;
            here->add_on_tiles(chain, below, before, rows_at_once);
          } else {
            before->write(kBlock);
            here->add_by_vectors(chain);
          }
          if (last == deep) {
            belongs(here, i * kBlock, j * kBlock);
            before = here;
          }
          if (piece < deep) ++here;  // with one piece the sums are complete and need no room
        }
      first = last;
    } while (first < deep);
    before->write(kBlock);
    if (sums && !left_edge)
      std::copy_n(of_rows, std::min((bottom - top) * kBlock, rows - top * kBlock),
                  sums + top * kBlock);
  }

  // Sets where the sums of a block will be written.
  void belongs(Sums<T>* block, int64_t top, int64_t column) const {
    block->corner = out + top * columns + column;
    block->stride = columns;
    block->bias = bias ? bias + column : nullptr;
    block->row = 0;
    block->rows = int(std::min<int64_t>(kBlock, rows - top));
    block->columns = int(std::min<int64_t>(kBlock, columns - column));
  }
};
#endif
