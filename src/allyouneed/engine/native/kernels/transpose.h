// A matrix with rows and columns exchanged.
#pragma once

#include <algorithm>
#include <type_traits>

#include "numbers.h"

#if defined(__clang__)
#define SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define SHUFFLE(x, y, ...) __builtin_shuffle(x, y, (Row){__VA_ARGS__})
#endif

template <class T>
struct Transpose {
  static constexpr int kSide = 16;
  typedef std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t> Bits;
  typedef Bits Row __attribute__((vector_size(kSide * sizeof(T)), aligned(sizeof(T)), may_alias));

  // Deals the lower and the upper half of the rows out in turn, number by number. It moves one bit
  // of a number's row to its column, so that four of it exchange both.
  static void deal(const Row* from, Row* to) {
    constexpr int kHalf = kSide / 2;
    for (int i = 0; i < kHalf; ++i) {
      const Row x = from[i], y = from[i + kHalf];
      to[2 * i] = SHUFFLE(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      to[2 * i + 1] = SHUFFLE(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
  }

  static void tile(const T* from, int64_t columns, T* to, int64_t rows) {
    Row x[kSide], y[kSide];
    for (int i = 0; i < kSide; ++i) x[i] = *reinterpret_cast<const Row*>(from + i * columns);
    deal(x, y), deal(y, x), deal(x, y), deal(y, x);
    for (int i = 0; i < kSide; ++i) *reinterpret_cast<Row*>(to + i * rows) = x[i];
  }

  static void matrix(const T* from, int64_t rows, int64_t columns, T* to) {
    constexpr int64_t kRows = 128, kColumns = 32;  // how much stays in caches
#pragma omp parallel for collapse(2) schedule(static) if (rows * columns >= kManyNumbers)
    for (int64_t left = 0; left < columns; left += kColumns)
      for (int64_t top = 0; top < rows; top += kRows)
        for (int64_t column = left; column < std::min(left + kColumns, columns); column += kSide)
          for (int64_t row = top; row < std::min(top + kRows, rows); row += kSide) {
            const T* corner = from + row * columns + column;
            T* turned = to + column * rows + row;
            if (row + kSide <= rows && column + kSide <= columns)
              tile(corner, columns, turned, rows);
            else
              edge(corner, columns, turned, rows, int(std::min<int64_t>(kSide, rows - row)),
                   int(std::min<int64_t>(kSide, columns - column)));
          }
  }

  // A tile with fewer rows or columns.
  static void edge(const T* from, int64_t columns, T* to, int64_t rows, int height, int width) {
    for (int column = 0; column < width; ++column)
      for (int row = 0; row < height; ++row) to[column * rows + row] = from[row * columns + column];
  }
};

#undef SHUFFLE
