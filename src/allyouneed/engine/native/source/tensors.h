// The tensors of a model file, fetched from the caller in parts.
#pragma once

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "interface.h"

class Tensors {
 public:
  explicit Tensors(aya_fetch fetch) : fetch_(fetch) {}

  bool has(const std::string& name) const { return fetch_(name.c_str(), 0, 0, nullptr) > 0; }

  // Throws std::invalid_argument if the tensor is missing or has another size.
  void check(const std::string& name, int64_t size) const {
    const int64_t real = fetch_(name.c_str(), 0, 0, nullptr);
    if (real == 0) throw std::invalid_argument(name + " is missing");
    if (real != size)
      throw std::invalid_argument(name + " has " + std::to_string(real) + " numbers instead of " +
                                  std::to_string(size));
  }

  // A copy of the tensor's numbers. Throws as `check` and `read`.
  std::vector<float> get(const std::string& name, int64_t size) const {
    check(name, size);  // before memory is taken
    std::vector<float> numbers(static_cast<size_t>(size));
    read(name, 0, numbers);
    return numbers;
  }

  // Fills `numbers` from the tensor's number `first` on. Throws std::invalid_argument if they cannot
  // be read, or hold NaN or infinity.
  void read(const std::string& name, int64_t first, std::vector<float>& numbers) const {
    if (fetch_(name.c_str(), first, int64_t(numbers.size()), numbers.data()) < 1)
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
  }

 private:
  aya_fetch fetch_;
};

// The rows of a matrix. Only one block of them is in memory, because the output layer of a large
// vocabulary takes a gigabyte in float32.
class MatrixRows {
 public:
  // Throws as `Tensors::check`.
  MatrixRows(const Tensors& tensors, std::string name, int rows, int width)
      : tensors_(tensors), name_(std::move(name)), rows_(rows), width_(width) {
    tensors_.check(name_, int64_t(rows) * width);
  }

  // Row `row`, until another row is asked for. Throws as `Tensors::read`.
  const float* operator[](int row) {
    const int held = int(block_.size() / width_);
    if (row < first_ || row >= first_ + held) {
      first_ = row;
      block_.resize(size_t(std::min(std::max(kBlock / width_, 1), rows_ - row)) * width_);
      tensors_.read(name_, int64_t(first_) * width_, block_);
    }
    return block_.data() + size_t(row - first_) * width_;
  }

 private:
  static constexpr int kBlock = 1 << 18;  // numbers

  const Tensors& tensors_;
  std::string name_;
  int rows_, width_, first_ = 0;
  std::vector<float> block_;
};
