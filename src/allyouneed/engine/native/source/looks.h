// The cross-attention that the caller wants to see: the mean of some heads of one decoder layer.
#pragma once

#include <vector>

#include "memory.h"
#include "rows.h"

struct Looks {
  int layer = -1;           // none
  std::vector<char> heads;  // whether each head counts
  float share = 0.0f;       // 1 / the number of heads that count

  void want(int wanted_layer, const std::vector<int32_t>& wanted_heads, int all_heads) {
    heads.assign(all_heads, char(wanted_heads.empty()));
    layer = wanted_layer;
    for (const int32_t head : wanted_heads) heads[head] = 1;
    int count = 0;
    for (const char counts : heads) count += counts;
    share = count ? 1.0f / float(count) : 0.0f;
  }

  // Makes room for the weights of one step: `count` rows of the chunk, at most `source_width`
  // source tokens.
  void begin(int count, int source_width) {
    width = source_width;
    weights_.resize(size_t(count) * heads.size() * width);
  }

  // Takes in the weights of one head for `rows` rows of the chunk, from row `first` on. Threads may
  // call this at the same time with different heads or rows.
  void take(int first, int rows, int head, const float* weights, int length, int stride) {
    if (!heads[head]) return;
    for (int row = 0; row < rows; ++row)
      std::memcpy(place(first + row, head), weights + size_t(row) * stride, length * sizeof(float));
  }

  // Writes the mean over the wanted heads for one row of the chunk.
  void mean(int row, int length, float* to) const {
    std::fill(to, to + length, 0.0f);
    for (size_t head = 0; head < heads.size(); ++head)
      if (heads[head]) add(to, place(row, int(head)), length);
    for (int s = 0; s < length; ++s) to[s] *= share;
  }

  int width = 0;

 private:
  float* place(int row, int head) {
    return weights_.data() + (size_t(row) * heads.size() + head) * width;
  }
  const float* place(int row, int head) const {
    return weights_.data() + (size_t(row) * heads.size() + head) * width;
  }

  Buffer<float> weights_;  // [row][head][width]
};
