// Attention (equation 1) of one head. The keys and values lie either in panels or step by step.
#pragma once

#include "panels.h"
#include "rows.h"

// The keys and values of one head for one sentence. Keys lie as [S / 32][head][32], so that one
// panel gives a query's products with 32 keys. Values lie as [head / 32][S][32]. S is rounded up to
// whole panels of 32.
template <class T>
struct HeadMemory {
  T *keys, *values;
  int length;  // S before rounding up
  int head;    // the width of a head, rounded up to whole panels

  int room() const { return (length + kPanel - 1) / kPanel * kPanel; }

  // Stores the key and the value of position `s`, each of `head` numbers.
  void set(int s, const float* key, const float* value) const {
    for (int k = 0; k < head; ++k) store(key[k], keys + (size_t(s / kPanel) * head + k) * kPanel + s % kPanel);
    for (int k = 0; k < head; ++k)
      store(value[k], values + (size_t(k / kPanel) * room() + s) * kPanel + k % kPanel);
  }
  // Writes zeros to the keys behind the last position. Their products are computed, though unused,
  // and uninitialised memory could hold NaN.
  void fill_up() const {
    for (int s = length; s < room(); ++s)
      for (int k = 0; k < head; ++k)
        store(0.0f, keys + (size_t(s / kPanel) * head + k) * kPanel + s % kPanel);
  }

  // softmax(q Kᵀ) V for `rows` queries, which are already scaled by 1/√d_k. `scores` has room for
  // rows × room() numbers and holds the attention weights afterwards.
  void attend(const float* q, int q_stride, int rows, float* out, int out_stride,
              float* scores) const {
    const int stride = room();
    for (int s = 0; s < length; s += kPanel)
      float_panel(q, q_stride, rows, keys + size_t(s) * head, head, scores + s, stride);
    for (int r = 0; r < rows; ++r) softmax(scores + size_t(r) * stride, length);
    for (int k = 0; k < head; k += kPanel)
      float_panel(scores, stride, rows, values + size_t(k) * stride, length, out + k, out_stride);
  }
};

// Attention of one query over the steps so far, for all heads. steps[j] points to one row: the keys
// of all heads, then their values. `scores` has room for heads × length numbers.
template <class T>
inline void look_back(const float* q, const T* const* steps, int length, int heads, int head,
                      float* out, float* scores) {
  const int width = heads * head;
  for (int j = 0; j < length; ++j)
    for (int h = 0; h < heads; ++h) {
      Floats sum = {};
      for (int k = h * head; k < (h + 1) * head; k += kLanes)
        sum += load(q + k) * load(steps[j] + k);
      scores[h * length + j] = total(sum);
    }
  for (int h = 0; h < heads; ++h) softmax(scores + h * length, length);
  for (int k = 0; k < width; k += kPanel) {
    const float* weights = scores + k / head * length;
    Floats sum[2] = {};
    for (int j = 0; j < length; ++j) {
      sum[0] += load(steps[j] + width + k) * weights[j];
      sum[1] += load(steps[j] + width + k + kLanes) * weights[j];
    }
    store(sum[0], out + k);
    store(sum[1], out + k + kLanes);
  }
}
