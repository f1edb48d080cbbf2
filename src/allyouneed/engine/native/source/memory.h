// Memory for the engine: aligned buffers that grow, and an arena that weights lie in back to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

constexpr size_t kAlignment = 64;               // bytes: a cache line, and the widest vector
constexpr size_t kHugePage = size_t{2} << 20;  // bytes

inline size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

inline void* allocate(size_t bytes, size_t alignment) {
  void* memory = std::aligned_alloc(alignment, round_up(bytes, alignment));
  if (!memory) throw std::bad_alloc();
  return memory;
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// An array that keeps its memory when it shrinks and forgets its contents when it grows.
template <class T>
class Buffer {
 public:
  T* resize(size_t count) {
    if (count > capacity_) {
      memory_.reset();  // first, so that old and new need not fit together
      capacity_ = 0;
      memory_.reset(static_cast<T*>(allocate(count * sizeof(T), kAlignment)));
      capacity_ = count;
    }
    return data();
  }
  T* data() { return memory_.get(); }
  const T* data() const { return memory_.get(); }
  T& operator[](size_t i) { return memory_.get()[i]; }
  const T& operator[](size_t i) const { return memory_.get()[i]; }

 private:
  std::unique_ptr<T, Free> memory_;
  size_t capacity_ = 0;
};

// Weights are read from end to end in every decoding step: huge pages spare address translations,
// and lying in the order of their use lets the processor fetch ahead across matrices.
class Arena {
 public:
  template <class T>
  T* take(size_t count) {
    const size_t bytes = round_up(count * sizeof(T), kAlignment);
    if (used_ + bytes > size_) add_chunk(bytes);
    void* place = static_cast<char*>(chunks_.back().get()) + used_;
    used_ += bytes;
    return static_cast<T*>(place);
  }

 private:
  void add_chunk(size_t least) {
    size_ = round_up(least > kChunk ? least : kChunk, kHugePage);
    chunks_.emplace_back(allocate(size_, kHugePage));
#if defined(MADV_HUGEPAGE)
    madvise(chunks_.back().get(), size_, MADV_HUGEPAGE);
#endif
    used_ = 0;
  }

  static constexpr size_t kChunk = size_t{16} << 20;  // bytes
  std::vector<std::unique_ptr<void, Free>> chunks_;
  size_t size_ = 0, used_ = 0;
};
