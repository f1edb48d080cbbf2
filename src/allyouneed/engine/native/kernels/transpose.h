// Transposes tiles of 16 × 16 numbers.
#pragma once

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

  // Interleaves the lower and the upper half of the rows, number by number. This moves one bit of a
  // number's row index to its column index, so four passes exchange rows and columns.
  static void deal(const Row* from, Row* to) {
    constexpr int kHalf = kSide / 2;
    for (int i = 0; i < kHalf; ++i) {
      const Row x = from[i], y = from[i + kHalf];
      to[2 * i] = SHUFFLE(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      to[2 * i + 1] = SHUFFLE(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
  }

  // Exchanges rows and columns. Rows of `from` lie `columns` apart, rows of `to` lie `rows` apart.
  static void tile(const T* from, int64_t columns, T* to, int64_t rows) {
    Row x[kSide], y[kSide];
    for (int i = 0; i < kSide; ++i) x[i] = *reinterpret_cast<const Row*>(from + i * columns);
    deal(x, y), deal(y, x), deal(x, y), deal(y, x);
    for (int i = 0; i < kSide; ++i) *reinterpret_cast<Row*>(to + i * rows) = x[i];
  }

  // Interleaves rows 0 and 1, 2 and 3, ..., so that two numbers of a column become neighbours.
  static void pair_up(const T* from, int64_t columns, T* to) {
    Row x[kSide], y[kSide];
    for (int i = 0; i < kSide; ++i)
      x[i / 2 + i % 2 * kSide / 2] = *reinterpret_cast<const Row*>(from + i * columns);
    deal(x, y);
    for (int i = 0; i < kSide; ++i) *reinterpret_cast<Row*>(to + i * kSide) = y[i];
  }
};

#undef SHUFFLE
