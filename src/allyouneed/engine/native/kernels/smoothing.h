// Cross-entropy with label smoothing, and R-Drop. Each function replaces the logits by their
// gradient, one row at a time, so that the row stays in the cache.
#pragma once

#include <algorithm>

#include "numbers.h"
#include "rooms.h"

// losses[row] = log Σ eˣ - (1 - ε) · x[label] - ε · mean x; each row becomes
// softmax(x) - (1 - ε) · [label] - ε / V.
template <class T>
void smoothed_loss(T* logits, int64_t rows, int vocabulary, const int64_t* labels, float smoothing,
                   float* losses) {
  Rooms rooms(vocabulary);
#pragma omp parallel if (rows * vocabulary >= kManyNumbers)
  {
    float* x = rooms.own();
#pragma omp for schedule(static)
    for (int64_t row = 0; row < rows; ++row) {
      T* here = logits + row * vocabulary;
      widen(here, x, vocabulary);
      const float most = largest(x, vocabulary), label = x[labels[row]];
      float all = 0.0f, sum = 0.0f;
      for (int i = 0; i < vocabulary; ++i) {
        all += x[i];
        x[i] = exponential(x[i] - most);
        sum += x[i];
      }
      const float share = 1.0f / sum, spread = smoothing / float(vocabulary);
      for (int i = 0; i < vocabulary; ++i) x[i] = x[i] * share - spread;
      x[labels[row]] -= 1.0f - smoothing;
      narrow(x, here, vocabulary);
      losses[row] = std::log(sum) + most - (1.0f - smoothing) * label - spread * all;
    }
  }
}

// R-Drop's loss over two passes, the second's rows after the first's. D is the KL divergence of the
// first pass from the second, D' that of the second from the first. losses[row] is the mean of both
// smoothed losses + α / 4 · (D + D'). A row becomes half of its gradient above plus
// α / 4 · (p · (log p - log q - D) + p - q); in the second pass p and q are exchanged.
template <class T>
void r_drop_loss(T* logits, int64_t rows, int vocabulary, const int64_t* labels, float smoothing,
                 float alpha, float* losses) {
  Rooms rooms(size_t(4) * vocabulary);
#pragma omp parallel if (2 * rows * vocabulary >= kManyNumbers)
  {
    float *x = rooms.own(), *y = x + vocabulary, *p = y + vocabulary, *q = p + vocabulary;
#pragma omp for schedule(static)
    for (int64_t row = 0; row < rows; ++row) {
      T *one = logits + row * vocabulary, *other = logits + (rows + row) * vocabulary;
      widen(one, x, vocabulary);
      widen(other, y, vocabulary);
      const float most_x = largest(x, vocabulary), most_y = largest(y, vocabulary);
      float all = 0.0f, sum_p = 0.0f, sum_q = 0.0f;
      for (int i = 0; i < vocabulary; ++i) {
        all += x[i] + y[i];
        p[i] = exponential(x[i] - most_x);
        q[i] = exponential(y[i] - most_y);
        sum_p += p[i];
        sum_q += q[i];
      }
      const float share_p = 1.0f / sum_p, share_q = 1.0f / sum_q;
      const float total_x = std::log(sum_p) + most_x, total_y = std::log(sum_q) + most_y;
      const int64_t label = labels[row];
      const float spread = smoothing / float(vocabulary), sharp = 1.0f - smoothing;
      losses[row] = (total_x + total_y - sharp * (x[label] + y[label]) - spread * all) / 2;
      float from_p = 0.0f, from_q = 0.0f;  // the divergences
      for (int i = 0; i < vocabulary; ++i) {
        p[i] *= share_p;
        q[i] *= share_q;
        x[i] = (x[i] - total_x) - (y[i] - total_y);  // log p - log q
        from_p += p[i] * x[i];
        from_q -= q[i] * x[i];
      }
      losses[row] += alpha / 4 * (from_p + from_q);
      for (int i = 0; i < vocabulary; ++i) {
        const float away = x[i], apart = p[i] - q[i];
        x[i] = (p[i] - spread) / 2 + alpha / 4 * (p[i] * (away - from_p) + apart);
        y[i] = (q[i] - spread) / 2 - alpha / 4 * (q[i] * (away + from_q) + apart);
      }
      x[label] -= sharp / 2;
      y[label] -= sharp / 2;
      narrow(x, one, vocabulary);
      narrow(y, other, vocabulary);
    }
  }
}
