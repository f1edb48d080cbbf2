// A rough copy of the output layer, with two bits for each weight. It tells which tokens need an
// exact logit. Greedy search needs only the best token, and the time of a product with one row is
// the time that reading the weights from memory takes, so a smaller copy is faster.
//
// A rough panel holds two blocks of 64 bytes for every 16 inputs. Each byte holds four weights of
// one column; their inputs are four apart:
//     [panel][input / 16][2][16 columns][4]; bits 2f and 2f + 1 of byte i belong to input 4f + i
#pragma once

#include "linear.h"

class Screen {
 public:
  // Weights become -3/2, -1/2, 1/2 or 3/2 times their column's root mean square.
  void pack(Arena& arena, const Int8::Linear& exact) {
    exact_ = &exact;
    const int columns = panels_of(exact.outputs) * kPanel, depth = exact.depth_;
    codes_ = arena.take<uint8_t>(size_t(columns) * depth / 4);
    step_ = arena.take<float>(columns);
    doubt_ = arena.take<float>(columns);
    if (arena.restored()) return;
    std::memset(codes_, 0, size_t(columns) * depth / 4);
    std::vector<int32_t> weight(depth, 0), code(depth, 0);
    for (int column = 0; column < columns; ++column) {
      for (int k = 0; k < depth; k += 4)
        for (int i = 0; i < 4; ++i) weight[k + i] = int(exact.place(column, k)[i]) - 128;
      // The sums are integers, so that compilers vectorise them: 127² · inputs fits into 31 bits
      // for up to 130,000 inputs.
      int32_t squares = 0, products = 0, halves = 0;
      for (int k = 0; k < exact.inputs; ++k) squares += weight[k] * weight[k];
      const double step = std::sqrt(double(squares) / exact.inputs);
      // Codes by weight: 0 below -step, 1 from -step, 2 from 0, 3 from step.
      const int32_t one = -int32_t(std::floor(step)), three = int32_t(std::ceil(step));
      for (int k = 0; k < exact.inputs; ++k) {
        code[k] = squares ? (weight[k] >= one) + (weight[k] >= 0) + (weight[k] >= three) : 0;
        const int32_t half = 2 * code[k] - 3;  // the code's value in halves of a step
        products += weight[k] * half;
        halves += half * half;
      }
      // Σ (weight - half / 2 · step)²
      const double errors = squares - step * products + step * step / 4 * halves;
      for (int k = 0; k < exact.inputs; ++k)
        place(column, k) |= uint8_t(code[k] << (k / 4 % 4 * 2));
      step_[column] = float(step) * exact.scale_[column];
      doubt_[column] =
          float(std::sqrt(std::max(0.0, errors) / exact.inputs)) * exact.scale_[column];
    }
  }

  // Upper bounds of the logits of panels [first, last) for row 0 of x: the rough logit plus
  // `margin` standard deviations of its error. An exact logit is seldom larger.
  void bounds(const Int8::Rows& x, int first, int last, float margin, float* y) const {
    const int8_t* a = x.values_.data();
    const int depth = exact_->depth_;
    int32_t squares = 0;
    for (int k = 0; k < depth; ++k) squares += a[k] * a[k];
    const Rounded& row = x.rounded_[0];
    const float length = margin * row.unit * std::sqrt(float(squares));
    const int32_t offset = (128 - kOffset) * row.sum;
    for (int panel = first; panel < last; ++panel, y += kPanel) {
      alignas(64) int32_t sums[kPanel];
      products(a, codes_ + size_t(panel) * depth * kPanel / 4, depth, sums);
      const int column = panel * kPanel;
      for (int c = 0; c < kPanel; ++c)
        y[c] = (float(sums[c] + offset) - 1.5f * float(row.sum)) * row.unit * step_[column + c] +
               float(row.zero * exact_->total_[column + c]) * row.unit * exact_->scale_[column + c] +
               length * doubt_[column + c] + exact_->bias_[column + c];
    }
  }

  // The logit of one column for row 0 of x.
  float exact(const Int8::Rows& x, int column) const {
    const int8_t* a = x.values_.data();
    const Rounded& row = x.rounded_[0];
    int32_t sum = row.zero * exact_->total_[column];
    for (int k = 0; k < exact_->depth_; k += 4) {
      const uint8_t* w = exact_->place(column, k);
      for (int i = 0; i < 4; ++i) sum += (int(w[i]) - 128) * a[k + i];
    }
    return float(sum) * (row.unit * exact_->scale_[column]) + exact_->bias_[column];
  }

 private:
  uint8_t& place(int column, int k) const {
    const size_t sixteen = size_t(column / kPanel) * exact_->depth_ / 16 + k / 16;
    return codes_[sixteen * kPanel * 4 + column % kPanel * 4 + k % 4];
  }

  static void products(const int8_t* a, const uint8_t* w, int depth, int32_t* sums) {
    Ints sum[2];
    for (int k = 0; k < depth; k += 16, w += kPanel * 4) {
      fetch_ahead(w);
      for (int half = 0; half < 2; ++half)
        for (int f = 0; f < 4; ++f) {
          alignas(64) uint8_t codes[64];
          for (int i = 0; i < 64; ++i) codes[i] = (w[64 * half + i] >> 2 * f) & 3;
          int32_t four;
          std::memcpy(&four, a + k + 4 * f, sizeof four);
          dot(sum[half], columns(codes), four);
        }
    }
    put(sum[0], sums);
    put(sum[1], sums + kLanes);
  }

  const Int8::Linear* exact_ = nullptr;
  uint8_t* codes_ = nullptr;
  float *step_ = nullptr, *doubt_ = nullptr;
};
