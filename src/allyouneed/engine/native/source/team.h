// A team of threads that split one piece of work after another among them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

inline void relax() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// A share [begin, end) of `count` pieces for member `member` of `members`.
struct Share {
  int begin, end;
  Share(int count, int member, int members)
      : begin(int(int64_t(count) * member / members)),
        end(int(int64_t(count) * (member + 1) / members)) {}
};

class Team {
 public:
  explicit Team(int size) : size_(size < 1 ? 1 : size) {
    for (int member = 1; member < size_; ++member)
      threads_.emplace_back([this, member] { serve(member); });
  }
  ~Team() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      leaving_ = true;
      round_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return size_; }

  // work(member, members) on every thread, the caller being member 0; returns when all are done.
  template <class Work>
  void run(const Work& work) {
    if (size_ == 1) return work(0, 1);
    work_ = &work;
    call_ = [](const void* w, int member, int members) {
      (*static_cast<const Work*>(w))(member, members);
    };
    pending_.store(size_ - 1, std::memory_order_relaxed);
    {
      std::lock_guard<std::mutex> lock(mutex_);  // a member may be about to fall asleep
      round_.fetch_add(1, std::memory_order_release);
    }
    if (asleep_.load(std::memory_order_relaxed)) wake_.notify_all();
    work(0, size_);
    for (int spins = 0; pending_.load(std::memory_order_acquire); ++spins)
      spins < kSpins ? relax() : std::this_thread::yield();
  }

 private:
  void serve(int member) {
    for (uint64_t seen = 0;;) {
      for (int spins = 0; round_.load(std::memory_order_acquire) == seen; ++spins) {
        if (spins < kSpins) {
          relax();
        } else {
          std::unique_lock<std::mutex> lock(mutex_);
          asleep_.fetch_add(1);
          wake_.wait(lock, [&] { return round_.load(std::memory_order_relaxed) != seen; });
          asleep_.fetch_sub(1);
        }
      }
      seen = round_.load(std::memory_order_acquire);
      if (leaving_) return;
      call_(work_, member, size_);
      pending_.fetch_sub(1, std::memory_order_release);
    }
  }

  static constexpr int kSpins = 20000;  // some tenths of a millisecond, longer than a step's gaps
  const int size_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<uint64_t> round_{0};
  std::atomic<int> pending_{0}, asleep_{0};
  bool leaving_ = false;
  const void* work_ = nullptr;
  void (*call_)(const void*, int, int) = nullptr;
};
