// Attention over short sentences that are packed one after the other. One head of one sentence is
// computed at a time, so that its numbers stay in the cache.
//
// T queries · S keys · K head width
#pragma once

#include <algorithm>
#include <limits>

#include "numbers.h"
#include "rooms.h"
#include "transpose.h"

// c = a × b. Shapes: a is m × k with any strides, b is k × n, c is m × n; n is a multiple of
// kLanes.
inline void product(const float* a, int row_stride, int column_stride, const float* b, int ldb,
                    float* c, int ldc, int m, int k, int n) {
  constexpr int kRows = 8;
  for (int i = 0; i < m; i += kRows) {
    const int rows = std::min(kRows, m - i);
    const float* from[kRows];
    for (int r = 0; r < kRows; ++r) from[r] = a + (i + std::min(r, rows - 1)) * row_stride;
    for (int j = 0; j < n; j += kLanes) {
      Floats sums[kRows] = {};
      for (int p = 0; p < k; ++p) {
        const Floats column = load(b + p * ldb + j);
        for (int r = 0; r < kRows; ++r) sums[r] += from[r][p * column_stride] * column;
      }
      for (int r = 0; r < rows; ++r) store(sums[r], c + (i + r) * ldc + j);
    }
  }
}

// n rounded up to whole vectors.
inline int whole_vectors(int n) { return (n + kLanes - 1) / kLanes * kLanes; }

// The queries, keys or values of all heads and sentences in memory, one row for each token.
template <class T>
struct Rows {
  T* first;
  int64_t stride;
  T* at(int64_t row, int column) const { return first + row * stride + column; }
};

// Rotary positions, or none where the tables are null. Row t is rotated to position t; gradients
// are rotated back.
struct Rotary {
  const float *cosines, *sines;  // [position][half a head's width]

  void turn_rows(float* rows, int count, int row, int width, float sign = 1.0f) const {
    if (!cosines) return;
    const int pairs = width / 2;
    for (int t = 0; t < count; ++t, rows += row)
      turn(rows, cosines + size_t(t) * pairs, sines + size_t(t) * pairs, pairs, sign);
  }
  void turn_rows_back(float* rows, int count, int row, int width) const {
    turn_rows(rows, count, row, width, -1.0f);
  }
};

struct Heads {
  int sentences, heads, width;
  bool causal;
  const int32_t *query_starts, *key_starts;  // [sentences + 1]: each sentence's first row; the end
  Rotary rotary;
  Dropout dropout;
  bool drops;

  // The memory for one head of one sentence. Rows are padded with zeros to whole vectors.
  struct Scratch {
    int queries, keys, width;
    int key_row, row;  // numbers in a row of weights, and in a row of any other matrix
    float *memory, *q, *k, *v, *grads, *turned, *weights, *scores, *out;

    static size_t floats(int t, int s, int head_width) {
      const size_t row = whole_vectors(head_width), key_row = whole_vectors(s);
      const size_t tk = t * row, sk = key_row * row, ts = t * key_row;
      return 2 * tk + 3 * sk + 2 * ts + std::max(tk, sk);
    }
    // Divides the memory for t queries and s keys; it uses floats(t, s, head_width) numbers of it.
    void fit(int t, int s, int head_width) {
      queries = t, keys = s, width = head_width;
      key_row = whole_vectors(s), row = whole_vectors(width);
      const size_t tk = size_t(t) * row, sk = size_t(key_row) * row, ts = size_t(t) * key_row;
      q = memory, k = q + tk, v = k + sk, grads = v + sk, turned = grads + tk;
      weights = turned + sk, scores = weights + ts, out = scores + ts;
    }
    template <class T>
    void fetch(Rows<const T> from, int64_t first, int column, int count, float* to) const {
      for (int i = 0; i < count; ++i, to += row) {
        widen(from.at(first + i, column), to, width);
        __builtin_prefetch(from.at(first + i, column + width));  // the next head's
        std::fill(to + width, to + row, 0.0f);
      }
    }
    // Fetches one row for each key, and writes zeros to the rows that pad them.
    template <class T>
    void fetch_keys(Rows<const T> from, int64_t first, int column, float* to) const {
      fetch(from, first, column, keys, to);
      std::fill(to + keys * row, to + key_row * row, 0.0f);
    }
    template <class T>
    void put(const float* from, int count, Rows<T> to, int64_t first, int column) const {
      for (int i = 0; i < count; ++i) narrow(from + i * row, to.at(first + i, column), width);
    }
    // to = a × bᵀ; a has a row for each query, b one for each key.
    void compare(const float* a, const float* b, float* to) const {
      using Turn = Transpose<float>;
      static_assert(kLanes % Turn::kSide == 0, "rows and columns come in whole tiles");
      for (int s = 0; s < key_row; s += Turn::kSide)
        for (int c = 0; c < row; c += Turn::kSide)
          Turn::tile(b + s * row + c, row, turned + c * key_row + s, key_row);
      product(a, row, 1, turned, key_row, to, key_row, queries, width, key_row);
    }
    // sum_keys gives each query the weighted sum of the keys' rows. sum_queries gives each key the
    // weighted sum of the queries' rows. Both write to `out`.
    void sum_keys(const float* by, const float* rows) const {
      product(by, key_row, 1, rows, row, out, row, queries, keys, row);
    }
    void sum_queries(const float* by, const float* rows) const {
      product(by, 1, key_row, rows, row, out, row, keys, queries, row);
    }
  };

  bool many() const { return int64_t(query_starts[sentences]) * heads * width >= kManyNumbers; }
  // The number of floats that a thread needs for the largest sentence.
  size_t most_floats() const {
    size_t most = 0;
    for (int b = 0; b < sentences; ++b)
      most = std::max(most, Scratch::floats(query_starts[b + 1] - query_starts[b],
                                            key_starts[b + 1] - key_starts[b], width));
    return most;
  }
  float scale() const { return 1.0f / std::sqrt(float(width)); }

  // Computes the weights of a head before dropout, and leaves Q scaled.
  template <class T>
  void weigh(Scratch& s, int b, int head, Rows<const T> q, Rows<const T> k, Rows<const T> v) const {
    const int64_t first_q = query_starts[b], first_k = key_starts[b];
    s.fit(int(query_starts[b + 1] - first_q), int(key_starts[b + 1] - first_k), width);
    s.fetch(q, first_q, head * width, s.queries, s.q);
    s.fetch_keys(k, first_k, head * width, s.k);
    s.fetch_keys(v, first_k, head * width, s.v);
    rotary.turn_rows(s.q, s.queries, s.row, width);
    rotary.turn_rows(s.k, s.keys, s.row, width);
    const float by = scale();
    for (int i = 0; i < s.queries * s.row; ++i) s.q[i] *= by;
    s.compare(s.q, s.k, s.weights);
    const int row = s.key_row;
    for (int t = 0; t < s.queries; ++t) {
      const int seen = causal ? std::min(t + 1, s.keys) : s.keys;
      float* weights = s.weights + t * row;
      std::fill(weights + seen, weights + row, -std::numeric_limits<float>::infinity());
      if (seen)
        softmax(weights, row);  // in whole vectors
      else
        std::fill(weights, weights + row, 0.0f);
    }
  }

  void drop(const Scratch& s, int b, int head, float* weights) const {
    if (!drops) return;
    // A local copy, so that the compiler knows that no store changes it.
    const Dropout draw = dropout;
    for (int t = 0; t < s.queries; ++t, weights += s.key_row) {
      const uint32_t first = uint32_t((int64_t(query_starts[b] + t) * heads + head) * kLongest);
      for (int i = 0; i < s.keys; ++i) weights[i] *= draw(first + uint32_t(i));
    }
  }

  template <class T>
  void forward(Rows<const T> q, Rows<const T> k, Rows<const T> v, Rows<T> out) const {
    Rooms rooms(most_floats());
#pragma omp parallel if (many())
    {
      Scratch s;
      s.memory = rooms.own();
#pragma omp for schedule(static)
      for (int task = 0; task < sentences * heads; ++task) {
        const int b = task / heads, head = task % heads;
        weigh(s, b, head, q, k, v);
        drop(s, b, head, s.weights);
        s.sum_keys(s.weights, s.v);
        s.put(s.out, s.queries, out, query_starts[b], head * width);
      }
    }
  }

  // P are the weights before dropout, Z dropout's factor for each weight, ∘ multiplies element by
  // element, d is the head's width:
  //     dV = (P∘Z)ᵀ dO, dP = (dO Vᵀ)∘Z, dS = P∘(dP - Σ dP∘P), dQ = dS K / √d, dK = dSᵀ Q / √d.
  template <class T>
  void backward(Rows<const T> q, Rows<const T> k, Rows<const T> v, Rows<const T> grad_out,
                Rows<T> grad_q, Rows<T> grad_k, Rows<T> grad_v) const {
    Rooms rooms(most_floats());
#pragma omp parallel if (many())
    {
      Scratch s;
      s.memory = rooms.own();
#pragma omp for schedule(static)
      for (int task = 0; task < sentences * heads; ++task) {
        const int b = task / heads, head = task % heads, column = head * width;
        const int64_t first_q = query_starts[b], first_k = key_starts[b];
        weigh(s, b, head, q, k, v);
        s.fetch(grad_out, first_q, column, s.queries, s.grads);
        s.compare(s.grads, s.v, s.scores);
        drop(s, b, head, s.scores);
        for (int t = 0; t < s.queries; ++t) {
          float *p = s.weights + t * s.key_row, *d = s.scores + t * s.key_row, sum = 0.0f;
          for (int i = 0; i < s.key_row; ++i) sum += d[i] * p[i];
          for (int i = 0; i < s.key_row; ++i) d[i] = p[i] * (d[i] - sum);
        }
        drop(s, b, head, s.weights);
        s.sum_queries(s.weights, s.grads);
        s.put(s.out, s.keys, grad_v, first_k, column);
        s.sum_queries(s.scores, s.q);
        rotary.turn_rows_back(s.out, s.keys, s.row, width);
        s.put(s.out, s.keys, grad_k, first_k, column);
        s.sum_keys(s.scores, s.k);
        for (int i = 0; i < s.queries * s.row; ++i) s.out[i] *= scale();
        rotary.turn_rows_back(s.out, s.queries, s.row, width);
        s.put(s.out, s.queries, grad_q, first_q, column);
      }
    }
  }

  static constexpr int kLongest = 4096;  // keys of a sentence; beyond, dropout would repeat draws
};
