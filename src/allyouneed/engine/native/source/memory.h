// Memory for the engine: aligned buffers that grow, and an arena that holds weights back to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

constexpr size_t kAlignment = 64;              // bytes: a cache line, and the widest vector
constexpr size_t kHugePage = size_t{2} << 20;  // bytes

inline size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// The number of bytes of `count` values of T. Throws std::bad_alloc where no memory could hold
// them.
template <class T>
size_t bytes_of(size_t count) {
  if (count > std::numeric_limits<size_t>::max() / 2 / sizeof(T)) throw std::bad_alloc();
  return count * sizeof(T);
}

template <size_t ALIGNMENT>
struct Aligned {
  struct Free {
    void operator()(void* memory) const { ::operator delete(memory, std::align_val_t(ALIGNMENT)); }
  };
  template <class T>
  using Pointer = std::unique_ptr<T, Free>;

  static void* allocate(size_t bytes) {
    return ::operator new(round_up(bytes, ALIGNMENT), std::align_val_t(ALIGNMENT));
  }
};

// An array that keeps its memory when it shrinks and forgets its contents when it grows.
template <class T>
class Buffer {
 public:
  T* resize(size_t count) {
    if (count > capacity_) {
      memory_.reset();  // freed first, so that the old and the new memory are not held together
      capacity_ = 0;
      memory_.reset(static_cast<T*>(Memory::allocate(bytes_of<T>(count))));
      capacity_ = count;
    }
    return data();
  }
  T* data() { return memory_.get(); }
  const T* data() const { return memory_.get(); }
  T& operator[](size_t i) { return memory_.get()[i]; }
  const T& operator[](size_t i) const { return memory_.get()[i]; }

 private:
  using Memory = Aligned<kAlignment>;
  typename Memory::template Pointer<T> memory_;
  size_t capacity_ = 0;
};

// Memory for weights, which lie in it back to back in the order of their use. Every decoding step
// reads all of them. Their order lets the processor prefetch across matrices; huge pages save
// address translations.
//
// The contents can be stored, and restored into another arena. That arena hands out the same parts
// in the same order, with their contents.
class Arena {
 public:
  template <class T>
  T* take(size_t count) {
    const size_t bytes = round_up(bytes_of<T>(count), kAlignment);
    if (chunks_.empty() || chunks_.back().used + bytes > chunks_.back().size) add_chunk(bytes);
    Chunk& chunk = chunks_.back();
    void* place = static_cast<char*>(chunk.memory.get()) + chunk.used;
    chunk.used += bytes;
    return static_cast<T*>(place);
  }

  // Takes all parts back. Their memory is kept, if it is one chunk.
  void clear() {
    if (chunks_.size() > 1) chunks_.clear();
    for (Chunk& chunk : chunks_) chunk.used = 0;
  }

  // Whether the parts that `take` returns have their contents already.
  bool restored() const { return restored_; }

  // Calls write(bytes, size) for all contents, in the order in which they were taken.
  template <class Write>
  void store(const Write& write) const {
    for (const Chunk& chunk : chunks_) write(chunk.memory.get(), chunk.used);
  }

  // Fills an empty arena with stored contents, which read(bytes, size) provides.
  template <class Read>
  void restore(size_t size, const Read& read) {
    add_chunk(size);
    chunks_.back().size = size;
    read(chunks_.back().memory.get(), size);
    restored_ = true;
  }

  // Throws std::invalid_argument if not all restored contents have been taken.
  void check_all_taken() const {
    if (restored_ && chunks_.back().used != chunks_.back().size) throw_other_model();
  }

 private:
  using Memory = Aligned<kHugePage>;
  struct Chunk {
    Memory::Pointer<void> memory;
    size_t size, used = 0;
  };

  void add_chunk(size_t least) {
    if (restored_) throw_other_model();
    const size_t size = round_up(least > kChunk ? least : kChunk, kHugePage);
    chunks_.push_back({Memory::Pointer<void>(Memory::allocate(size)), size});
#if defined(MADV_HUGEPAGE)
    madvise(chunks_.back().memory.get(), size, MADV_HUGEPAGE);
#endif
  }
  [[noreturn]] static void throw_other_model() {
    throw std::invalid_argument("the packed weights are those of another model");
  }

  static constexpr size_t kChunk = size_t{16} << 20;  // bytes
  std::vector<Chunk> chunks_;
  bool restored_ = false;
};
