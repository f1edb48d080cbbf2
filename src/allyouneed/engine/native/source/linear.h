// A linear map y = W x + b, packed for one precision, and the rows x that it is applied to.
#pragma once

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>

#include "memory.h"
#include "panels.h"
#include "rows.h"
#include "team.h"
#include "tiles.h"

// The matrix that a map is packed from: `row(output, weights)` writes one row of it over zeros and
// returns the row's bias.
struct Matrix {
  int inputs, outputs;
  std::function<float(int output, float* weights)> row;
};

class Screen;  // screen.h

inline int panels_of(int columns) { return (columns + kPanel - 1) / kPanel; }

// Int8: the weights have a scale for each output, the rows a scale each. Products are int32.
struct Int8 {
  using Cached = bfloat16;  // the type of stored keys and values: much finer than int8 rounding
  static constexpr const char* kName = "int8";

  class Rows {
   public:
    void resize(int rows, int width) {
      // More than the width, so that the stride is no power of two and rows use all sets of the
      // cache.
      stride_ = int(round_up(width, kDepth)) + kDepth;
      values_.resize(round_up(rows, 32) * stride_);
      rounded_.resize(rows);
    }
    void set(int row, const float* x, int width) {
      int8_t* q = values_.data() + size_t(row) * stride_;
      rounded_[row] = to_int8(x, q, width, Rounding::kCentred);
      std::fill(q + width, q + round_up(width, kDepth), int8_t(0));
    }

   private:
    friend struct Int8;
    friend class Screen;
    int stride_ = 0;
    Buffer<int8_t> values_;
    Buffer<Rounded> rounded_;
  };

  class Linear {
   public:
    void pack(Arena& arena, const Matrix& from) {
      if (from.inputs > kMostInputs)
        throw std::invalid_argument("int8 products of " + std::to_string(from.inputs) +
                                    " inputs do not fit into 32 bits; use float32");
      inputs = from.inputs;
      outputs = from.outputs;
      depth_ = int(round_up(inputs, kDepth));
      const int columns = panels_of(outputs) * kPanel;
      weight_ = arena.take<uint8_t>(size_t(columns) * depth_);
      scale_ = arena.take<float>(columns);
      bias_ = arena.take<float>(columns);
      total_ = arena.take<int32_t>(columns);
      if (arena.restored()) return;
      std::vector<float> row(inputs);
      std::vector<int8_t> q(depth_, 0);
      for (int column = 0; column < columns; ++column) {
        std::fill(row.begin(), row.end(), 0.0f);
        bias_[column] = column < outputs ? from.row(column, row.data()) : 0.0f;
        const Rounded rounded = to_int8(row.data(), q.data(), inputs, Rounding::kSymmetric);
        scale_[column] = rounded.unit;
        total_[column] = rounded.sum;
        for (int k = 0; k < depth_; k += 4)
          for (int i = 0; i < 4; ++i) place(column, k)[i] = uint8_t(q[k + i] + 128);
      }
    }

    // Makes this map the part of `whole` that computes the chosen outputs, as a copy.
    void pick(Arena& arena, const Linear& whole, const int32_t* chosen, int count) {
      inputs = whole.inputs;
      outputs = count;
      depth_ = whole.depth_;
      const int columns = panels_of(count) * kPanel;
      weight_ = arena.take<uint8_t>(size_t(columns) * depth_);
      scale_ = arena.take<float>(columns);
      bias_ = arena.take<float>(columns);
      total_ = arena.take<int32_t>(columns);
      for (int first = 0; first < columns; first += kPanel) {
        const uint8_t* from[kPanel];
        for (int c = 0; c < kPanel; ++c) {
          const int column = first + c, id = chosen[std::min(column, count - 1)];
          scale_[column] = whole.scale_[id];
          bias_[column] = whole.bias_[id];
          total_[column] = whole.total_[id];
          from[c] = whole.place(id, 0);
        }
        uint8_t* to = place(first, 0);  // written in order; sixteen columns are read side by side
        for (int at = 0; at < depth_ * kPanel; at += 4 * kPanel)
          for (int c = 0; c < kPanel; ++c, to += 4) std::memcpy(to, from[c] + at, 4);
      }
    }

    // Writes row `output` of the matrix, with the rounded values.
    void row(int output, float* weights) const {
      const float scale = scale_[output];
      const uint8_t* four = place(output, 0);
      for (int k = 0; k < inputs; ++k) {
        weights[k] = float(int(four[k & 3]) - 128) * scale;
        if ((k & 3) == 3) four += 4 * kPanel;
      }
    }

    // Multiplies the first `rows` rows of x by panels [first, last) of the matrix. The results of
    // panel `first` are written from y[0] on.
    void multiply(const Rows& x, int rows, int first, int last, float* y, int stride) const {
      alignas(64) int32_t sums[32][kPanel];
#if HAS_TILES
      const bool tiles = rows >= kTilesPayFrom && may_use_tiles(kInt8Tiles);
      if (tiles) set_tiles();
#else
      constexpr bool tiles = false;
#endif
      const int step = tiles ? 32 : kIntRows;
      for (int panel = first; panel < last; ++panel, y += kPanel) {
        const uint8_t* w = weight_ + size_t(panel) * depth_ * kPanel;
        for (int row = 0; row < rows; row += step) {
          const int block = std::min(step, rows - row);
          const int8_t* a = x.values_.data() + size_t(row) * x.stride_;
#if HAS_TILES
          if (tiles)
            tile_block(row == 0, block, a, x.stride_, w, depth_, sums);
          else
#endif
            int_tile(block, a, x.stride_, w, depth_, sums);
          for (int r = 0; r < block; ++r)
            finish(sums[r], x.rounded_[row + r], panel * kPanel,
                   y + size_t(row + r) * stride);
        }
      }
#if HAS_TILES
      if (tiles) release_tiles();
#endif
    }

    int inputs = 0, outputs = 0;

   private:
    friend class Screen;
    static constexpr int kMostInputs = 1 << 16;  // 255 · 127 of each are below 2³¹
    uint8_t* place(int column, int k) const {  // k a multiple of four
      const size_t four = size_t(column / kPanel) * depth_ / 4 + k / 4;
      return weight_ + (four * kPanel + column % kPanel) * 4;
    }
    void finish(const int32_t* sums, const Rounded& x, int column, float* y) const {
      const int32_t offset = kOffset * x.sum, zero = x.zero;
      for (int c = 0; c < kPanel; ++c)
        y[c] = float(sums[c] - offset + zero * total_[column + c]) * (x.unit * scale_[column + c]) +
               bias_[column + c];
    }

    int depth_ = 0;
    uint8_t* weight_ = nullptr;
    float *scale_ = nullptr, *bias_ = nullptr;
    int32_t* total_ = nullptr;  // the sum of each column's int8 weights
  };

  using Tokens = Linear;  // embeddings: output v is the embedding of id v
};

// The same in float32, without rounding.
struct Float32 {
  using Cached = float;
  static constexpr const char* kName = "float32";

  class Rows {
   public:
    void resize(int rows, int width) {
      stride_ = width;
      values_.resize(size_t(rows) * width);
    }
    void set(int row, const float* x, int width) {
      std::memcpy(values_.data() + size_t(row) * stride_, x, width * sizeof(float));
    }

   private:
    friend struct Float32;
    int stride_ = 0;
    Buffer<float> values_;
  };

  class Linear {
   public:
    void pack(Arena& arena, const Matrix& from) {
      take(arena, from.inputs, from.outputs);
      if (arena.restored()) return;
      std::vector<float> row(inputs);
      for (int column = 0; column < panels_of(outputs) * kPanel; ++column) {
        std::fill(row.begin(), row.end(), 0.0f);
        bias_[column] = column < outputs ? from.row(column, row.data()) : 0.0f;
        for (int k = 0; k < inputs; ++k) *place(column, k) = row[k];
      }
    }

    void pick(Arena& arena, const Linear& whole, const int32_t* chosen, int count) {
      take(arena, whole.inputs, count);
      for (int column = 0; column < panels_of(count) * kPanel; ++column) {
        const int from = chosen[std::min(column, count - 1)];
        bias_[column] = whole.bias_[from];
        for (int k = 0; k < inputs; ++k) *place(column, k) = *whole.place(from, k);
      }
    }

    void multiply(const Rows& x, int rows, int first, int last, float* y, int stride) const {
      for (int panel = first; panel < last; ++panel, y += kPanel) {
        const float* w = weight_ + size_t(panel) * inputs * kPanel;
        float_panel(x.values_.data(), x.stride_, rows, w, inputs, y, stride);
        for (int r = 0; r < rows; ++r) add(y + size_t(r) * stride, bias_ + panel * kPanel, kPanel);
      }
    }

    int inputs = 0, outputs = 0;

   private:
    void take(Arena& arena, int inputs_, int outputs_) {
      inputs = inputs_;
      outputs = outputs_;
      const size_t columns = size_t(panels_of(outputs)) * kPanel;
      weight_ = arena.take<float>(columns * inputs);
      bias_ = arena.take<float>(columns);
    }
    float* place(int column, int k) const {
      return weight_ + (size_t(column / kPanel) * inputs + k) * kPanel + column % kPanel;
    }

    float *weight_ = nullptr, *bias_ = nullptr;
  };

  // Embeddings, stored row by row. In a packed map the numbers of a row lie far apart, which makes
  // them slower to read.
  class Tokens {
   public:
    void pack(Arena& arena, const Matrix& from) {
      inputs = from.inputs;
      outputs = from.outputs;
      rows_ = arena.take<float>(size_t(inputs) * outputs);
      if (arena.restored()) return;
      for (int id = 0; id < outputs; ++id) from.row(id, rows_ + size_t(id) * inputs);
    }
    void row(int id, float* to) const {
      std::memcpy(to, rows_ + size_t(id) * inputs, inputs * sizeof(float));
    }

    int inputs = 0, outputs = 0;

   private:
    float* rows_ = nullptr;
  };
};

// y = W x + b for all rows. The team's threads share the columns. `stride` is the number of floats
// from row to row of y: at least the number of columns, rounded up to whole panels.
template <class Linear, class Rows>
void apply(Team& team, const Linear& map, const Rows& x, int rows, float* y, int stride) {
  team.run([&](int member, int members) {
    const Share share(panels_of(map.outputs), member, members);
    map.multiply(x, rows, share.begin, share.end, y + share.begin * kPanel, stride);
  });
}
