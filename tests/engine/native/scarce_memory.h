// Memory that runs short where a test says so: replaces the program's operator new.
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

inline std::atomic<long> allocations_left{-1};  // until one fails; negative: none fails

inline bool runs_short() { return allocations_left >= 0 && allocations_left.fetch_sub(1) == 0; }

// Runs call() again and again, and lets one of its allocations fail each time: the first, later ones,
// at growing distances. Ends when none has failed, or with false where holds(call()) is false.
template <class Call, class Holds>
bool with_scarce_memory(const Call& call, const Holds& holds) {
  for (long n = 0;; n += 1 + n / 4) {
    allocations_left = n;
    const auto result = call();
    const bool failed = allocations_left < 0;
    allocations_left = -1;
    if (!holds(result)) return false;
    if (!failed) return true;
  }
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return runs_short() ? nullptr : std::malloc(size ? size : 1);
}
void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  const std::size_t side = std::size_t(alignment), whole = (size + side - 1) / side * side;
  void* memory = runs_short() ? nullptr : std::aligned_alloc(side, whole);
  if (!memory) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
