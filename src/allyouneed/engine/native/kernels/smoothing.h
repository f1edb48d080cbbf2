// Cross-entropy with label smoothing: logits become their own gradient, row by row in caches.
#pragma once

#include <algorithm>
#include <vector>

#include "numbers.h"

// losses[row] = log Σ eˣ - (1 - ε) · x[label] - ε · mean x; each row becomes
// softmax(x) - (1 - ε) · [label] - ε / V.
template <class T>
void smoothed_loss(T* logits, int64_t rows, int vocabulary, const int64_t* labels, float smoothing,
                   float* losses) {
#pragma omp parallel if (rows * vocabulary >= kManyNumbers)
  {
    std::vector<float> buffer(vocabulary);
    float* x = buffer.data();
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
