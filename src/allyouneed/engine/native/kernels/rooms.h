// Memory for the threads of a parallel region, zeros at first. It is allocated before the region,
// because an exception must not leave a parallel region.
#pragma once

#include <omp.h>

#include <vector>

#include "memory.h"

class Rooms {
 public:
  explicit Rooms(size_t floats, int threads = omp_get_max_threads())
      : each_(round_up(floats, 16)), memory_(each_ * size_t(threads)) {}

  // The room of the calling thread.
  float* own() { return memory_.data() + each_ * size_t(omp_get_thread_num()); }

 private:
  size_t each_;
  std::vector<float> memory_;
};
