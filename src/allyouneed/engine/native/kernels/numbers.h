// Rows of float32 or bfloat16 numbers, and numbers drawn by chance.
#pragma once

#include <cstdint>

#include "rows.h"

// So many numbers are worth waking other threads for, as torch sees it too.
constexpr int64_t kManyNumbers = 32768;

inline float to_float(float x) { return x; }

template <class T>
inline void widen(const T* x, float* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = to_float(x[i]);
}

template <class T>
inline void narrow(const float* x, T* out, int n) {
  for (int i = 0; i < n; ++i) store(x[i], out + i);
}

// Dropout: element i of a draw is kept or not whatever is asked before, so that the backward pass
// need not be told. Rate and scale are those of all elements alike.
struct Dropout {
  uint32_t low, high;  // the seed
  uint32_t dropped;    // of 2³², how many values of the hash drop an element
  float scale;         // of what is kept

  Dropout(uint64_t seed, double rate)
      : low(uint32_t(seed)),
        high(uint32_t(seed >> 32)),
        dropped(uint32_t(rate * 4294967296.0)),
        scale(float(1.0 / (1.0 - rate))) {}

  // 0, or the scale.
  float operator()(uint32_t i) const { return mixed(mixed(i ^ low) ^ high) < dropped ? 0 : scale; }

 private:
  // A bijection of 32 bits in which every bit of the input moves every bit of the output.
  static uint32_t mixed(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
  }
};
