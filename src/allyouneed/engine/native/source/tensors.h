// The tensors of a model file, fetched from the caller one at a time.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "interface.h"

class Tensors {
 public:
  explicit Tensors(aya_fetch fetch) : fetch_(fetch) {}

  bool has(const std::string& name) const { return fetch_(name.c_str(), 0, nullptr) > 0; }

  // A copy of the tensor's numbers. Throws std::invalid_argument if the tensor is missing, has
  // another size, or holds NaN or infinity.
  std::vector<float> get(const std::string& name, int64_t size) const {
    const int64_t real = fetch_(name.c_str(), 0, nullptr);  // before memory is taken
    if (real == 0) throw std::invalid_argument(name + " is missing");
    if (real != size)
      throw std::invalid_argument(name + " has " + std::to_string(real) + " numbers instead of " +
                                  std::to_string(size));
    std::vector<float> numbers(static_cast<size_t>(size));
    if (fetch_(name.c_str(), size, numbers.data()) != -1)
      throw std::invalid_argument(name + " cannot be read");
    // Exponent bits that are all ones mean NaN or infinity; no optimisation of float arithmetic
    // affects this test. The loop has no branch, so that it can be vectorised.
    uint32_t found = 0;
    for (const float number : numbers) {
      uint32_t bits;
      std::memcpy(&bits, &number, sizeof bits);
      found |= uint32_t((bits & 0x7F800000u) == 0x7F800000u);
    }
    if (found) throw std::invalid_argument(name + " holds NaN or infinity");
    return numbers;
  }

 private:
  aya_fetch fetch_;
};
