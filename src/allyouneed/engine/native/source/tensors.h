// The tensors of a model file, fetched from the caller one at a time.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "interface.h"

class Tensors {
 public:
  explicit Tensors(aya_fetch fetch) : fetch_(fetch) {}

  bool has(const std::string& name) const { return fetch_(name.c_str(), 0, nullptr) > 0; }

  // A copy of the tensor's numbers, which are finite.
  std::vector<float> get(const std::string& name, int64_t size) const {
    std::vector<float> numbers(static_cast<size_t>(size));
    const int64_t real = fetch_(name.c_str(), size, numbers.data());
    if (real == 0) throw std::invalid_argument(name + " is missing");
    if (real > 0)
      throw std::invalid_argument(name + " has " + std::to_string(real) + " numbers instead of " +
                                  std::to_string(size));
    // The sum is 0, or NaN where a number is NaN or infinity. Sixteen sums fill the processor's lanes.
    float zeros[16] = {};
    size_t i = 0;
    for (; i + 16 <= numbers.size(); i += 16)
      for (size_t lane = 0; lane < 16; ++lane) zeros[lane] += 0.0f * numbers[i + lane];
    for (; i < numbers.size(); ++i) zeros[0] += 0.0f * numbers[i];
    for (const float zero : zeros)
      if (std::isnan(zero)) throw std::invalid_argument(name + " holds NaN or infinity");
    return numbers;
  }

 private:
  aya_fetch fetch_;
};
