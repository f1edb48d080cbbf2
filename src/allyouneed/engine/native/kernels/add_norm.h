// s = x + dropout(y) and n = LayerNorm(s). The forward and the backward pass each read memory once.
#pragma once

#include "numbers.h"
#include "rooms.h"

struct AddNorm {
  int64_t rows;
  int width;
  const float *gain, *shift;
  float epsilon;
  Dropout dropout;

  // `wide` and `narrowed` both receive n; either may be null. `moments` receives each row's mean
  // and scale.
  template <class T>
  void forward(const float* x, const T* y, float* sum, float* wide, T* narrowed,
               float* moments) const {
    Rooms rooms(width);
#pragma omp parallel if (rows * width >= kManyNumbers)
    {
      // A local copy, so that the compiler knows that no store changes it.
      const Dropout draw = dropout;
      float* n = rooms.own();
#pragma omp for schedule(static)
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t at = row * width;
        float* s = sum + at;
        float mean = 0.0f, variance = 0.0f;
        for (int i = 0; i < width; ++i) {
          s[i] = x[at + i] + to_float(y[at + i]) * draw(uint32_t(at) + uint32_t(i));
          mean += s[i];
        }
        mean /= float(width);
        for (int i = 0; i < width; ++i) variance += (s[i] - mean) * (s[i] - mean);
        const float scale = 1.0f / std::sqrt(variance / float(width) + epsilon);
        for (int i = 0; i < width; ++i) n[i] = (s[i] - mean) * scale * gain[i] + shift[i];
        if (wide) std::memcpy(wide + at, n, width * sizeof(float));
        if (narrowed) narrow(n, narrowed + at, width);
        moments[2 * row] = mean;
        moments[2 * row + 1] = scale;
      }
    }
  }

  // Computes the gradients of x, y, gain and shift from those of s and n (null where there is
  // none). With h = (s - mean) · scale and g = gain · d n:  d s += scale · (g - Σg/D - h · Σgh/D).
  // `partial` receives each thread's gradients of gain and shift, [threads][2][width]. It holds
  // zeros at first.
  template <class T>
  void backward(const float* sum, const float* moments, const float* grad_sum,
                const float* grad_wide, const T* grad_narrowed, float* grad_x, T* grad_y,
                float* partial, int threads) const {
    Rooms rooms(size_t(5) * width, threads);
#pragma omp parallel num_threads(threads) if (rows * width >= kManyNumbers)
    {
      const Dropout draw = dropout;
      float *own = rooms.own(), *own_gain = own, *own_shift = own + width;  // `rooms` holds zeros
      float *g = own_shift + width, *h = g + width, *d = h + width;
#pragma omp for schedule(static)
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t at = row * width;
        const float mean = moments[2 * row], scale = moments[2 * row + 1];
        if (grad_narrowed)
          widen(grad_narrowed + at, d, width);
        else
          std::memset(d, 0, width * sizeof(float));
        if (grad_wide) add(d, grad_wide + at, width);
        float sum_g = 0.0f, sum_gh = 0.0f;
        for (int i = 0; i < width; ++i) {
          h[i] = (sum[at + i] - mean) * scale;
          own_gain[i] += d[i] * h[i];
          own_shift[i] += d[i];
          g[i] = d[i] * gain[i];
          sum_g += g[i];
          sum_gh += g[i] * h[i];
        }
        sum_g /= float(width);
        sum_gh /= float(width);
        for (int i = 0; i < width; ++i) d[i] = scale * (g[i] - sum_g - h[i] * sum_gh);
        if (grad_sum) add(d, grad_sum + at, width);
        std::memcpy(grad_x + at, d, width * sizeof(float));
        for (int i = 0; i < width; ++i) d[i] *= draw(uint32_t(at) + uint32_t(i));
        narrow(d, grad_y + at, width);
      }
      std::memcpy(partial + size_t(omp_get_thread_num()) * 2 * width, own,
                  2 * width * sizeof(float));
    }
  }
};
