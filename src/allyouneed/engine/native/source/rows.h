// Functions of one row of numbers: exponentials, norms, activations, rounding.
//
// The loops are plain; the compiler vectorises them to the width of the variant. It does not
// vectorise the search for a maximum, so `largest` uses vectors explicitly. A row's result depends
// on that row alone, not on the number of rows in the batch.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "floats.h"

// eˣ for x ≤ 88 with a relative error of about 1e-7, computed as 2ⁿ · 2ᶠ with |f| ≤ 1/2 and a
// polynomial for 2ᶠ. For x < -87 the result is 0.
inline float exponential(float x) {
  const float y = (x < -87.0f ? -87.0f : x) * 1.44269504f;
  const float whole = std::rint(y), f = y - whole;
  float p = 1.535336e-4f;
  p = p * f + 1.339887e-3f;
  p = p * f + 9.618437e-3f;
  p = p * f + 5.550332e-2f;
  p = p * f + 2.402265e-1f;
  p = p * f + 6.931472e-1f;
  p = p * f + 1.0f;
  int32_t bits;
  std::memcpy(&bits, &p, sizeof bits);
  bits += int32_t(whole) * (1 << 23);
  std::memcpy(&p, &bits, sizeof p);
  return x < -87.0f ? 0.0f : p;
}

inline float largest(const float* x, int n) {
  float most = x[0];
  int i = 0;
  if (n >= kLanes) {
    Floats lanes = load(x);
    for (i = kLanes; i + kLanes <= n; i += kLanes) lanes = greater(lanes, load(x + i));
    most = largest(lanes);
  }
  for (; i < n; ++i) most = x[i] > most ? x[i] : most;
  return most;
}

struct Range {
  float low, high;
};

// The smallest range that contains all numbers of a row and 0. A row that contains NaN can give
// NaN: `min` and `max` return their first argument where the two cannot be compared.
inline Range range_with_zero(const float* x, int n) {
  Range range{0.0f, 0.0f};
  int i = 0;
  if (n >= kLanes) {
    Floats high = load(x), below = -high;
    for (i = kLanes; i + kLanes <= n; i += kLanes) {
      const Floats numbers = load(x + i);
      high = greater(high, numbers);
      below = greater(below, -numbers);
    }
    range = {std::min(-largest(below), 0.0f), std::max(largest(high), 0.0f)};
  }
  for (; i < n; ++i) range = {std::min(x[i], range.low), std::max(x[i], range.high)};
  return range;
}

inline float sum_of_exponentials(const float* x, int n, float shift) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) sum += exponential(x[i] - shift);
  return sum;
}

inline void softmax(float* x, int n) {
  const float most = largest(x, n);
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) {
    x[i] = exponential(x[i] - most);
    sum += x[i];
  }
  const float share = 1.0f / sum;
  for (int i = 0; i < n; ++i) x[i] *= share;
}

inline void add(float* x, const float* y, int n) {
  for (int i = 0; i < n; ++i) x[i] += y[i];
}

// Layer norm (Ba et al. 2016), or RMS norm (Zhang & Sennrich 2019), which neither centres nor
// shifts. `out` may be `x`.
struct Norm {
  const float* gain = nullptr;  // null: no norm at all
  const float* shift = nullptr;
  float epsilon = 0.0f;
  bool centred = true;

  void operator()(const float* x, float* out, int n) const {
    if (!gain) {
      if (out != x) std::memcpy(out, x, n * sizeof(float));
      return;
    }
    float mean = 0.0f;
    if (centred) {
      for (int i = 0; i < n; ++i) mean += x[i];
      mean /= float(n);
    }
    float variance = 0.0f;
    for (int i = 0; i < n; ++i) variance += (x[i] - mean) * (x[i] - mean);
    const float scale = 1.0f / std::sqrt(variance / float(n) + epsilon);
    if (shift)
      for (int i = 0; i < n; ++i) out[i] = (x[i] - mean) * scale * gain[i] + shift[i];
    else
      for (int i = 0; i < n; ++i) out[i] = (x[i] - mean) * scale * gain[i];
  }
};

enum class Activation : int32_t { relu, gelu, silu, swiglu };

// x / (1 + e⁻ˣ). `exponential` is defined up to 88 only, so -x is limited to 87; below x = -87 the
// result is practically 0 anyway.
inline float silu(float x) { return x / (1.0f + exponential(x < -87.0f ? 87.0f : -x)); }

// Applies the activation to x[0..n). For swiglu, x[n..2n) holds the gate that the first n numbers
// are multiplied by; the other activations have no gate.
inline void activate(Activation kind, float* x, int n) {
  switch (kind) {
    case Activation::relu:
      for (int i = 0; i < n; ++i) x[i] = x[i] > 0.0f ? x[i] : 0.0f;
      break;
    case Activation::gelu:
      for (int i = 0; i < n; ++i) x[i] *= 0.5f * (1.0f + std::erf(x[i] * 0.70710678f));
      break;
    case Activation::silu:
      for (int i = 0; i < n; ++i) x[i] = silu(x[i]);
      break;
    case Activation::swiglu:
      for (int i = 0; i < n; ++i) x[i] = silu(x[i]) * x[n + i];
      break;
  }
}

// Rotary positions (Su et al. 2021): rotates pair i of a query or key by the angle whose cosine is
// cosines[i] and whose sine is sines[i]. Sign -1 rotates back.
inline void turn(float* x, const float* cosines, const float* sines, int pairs, float sign = 1.0f) {
  for (int i = 0; i < pairs; ++i) {
    const float even = x[2 * i], odd = x[2 * i + 1], sine = sines[i] * sign;
    x[2 * i] = even * cosines[i] - odd * sine;
    x[2 * i + 1] = even * sine + odd * cosines[i];
  }
}

// The scale of a row in int8: x ≈ unit · (q + zero) with q = round(x / unit) - zero and |q| ≤ 127.
// Halves are rounded to even.
//
// Weights are rounded symmetrically, with zero = 0. For activations `zero` puts the middle of the
// row's range at q = 0, so that all int8 values are used (Jacob et al. 2018). After ReLU this
// doubles the number of values in use.
struct Rounded {
  float unit;
  int32_t zero, sum;  // sum: Σ q
};

enum class Rounding { kSymmetric, kCentred };

constexpr float kLeastWidth = 1e-30f;  // a row whose range is narrower is rounded to zeros

inline Rounded to_int8(const float* x, int8_t* q, int n, Rounding kind) {
  const Range range = range_with_zero(x, n);
  const bool centred = kind == Rounding::kCentred;
  const float width = centred ? range.high - range.low : 2 * std::max(range.high, -range.low);
  const float steps = centred ? 253.0f : 254.0f;  // 253 leaves a step for the rounding of `zero`
  const float inverse = width > kLeastWidth ? steps / width : 0.0f;
  const float middle = centred && inverse > 0.0f ? (range.low + range.high) / 2 : 0.0f;
  const int32_t zero = int32_t(std::rint(middle * inverse));
  int32_t sum = 0;
  for (int i = 0; i < n; ++i) {
    const int32_t rounded = int32_t(std::rint(x[i] * inverse)) - zero;
    q[i] = int8_t(rounded);
    sum += rounded;
  }
  return {width / steps, zero, sum};
}
