// Rows of float32 or bfloat16 numbers, and random numbers.
#pragma once

#include <cstdint>

#include "rows.h"

// The number of numbers from which waking other threads saves time. torch uses the same limit.
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

// Dropout. The seed and i alone decide whether element i is kept, so that the backward pass makes
// the same draw again. Rate and scale are the same for all elements.
struct Dropout {
  uint32_t low, high;  // the seed
  uint32_t dropped;    // hashes below this drop their element: rate · 2³²
  float scale;         // the factor of elements that are kept

  Dropout(uint64_t seed, double rate)
      : low(uint32_t(seed)),
        high(uint32_t(seed >> 32)),
        dropped(uint32_t(rate * 4294967296.0)),
        scale(float(1.0 / (1.0 - rate))) {}

  // The factor of element i: 0 or the scale.
  float operator()(uint32_t i) const { return mixed(mixed(i ^ low) ^ high) < dropped ? 0 : scale; }

 private:
  // A bijection of 32 bits in which every input bit affects every output bit.
  static uint32_t mixed(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
  }
};
