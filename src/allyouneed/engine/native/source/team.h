// A team of threads that share one piece of work after another.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
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

// Work is split into as many shares as there are members, and each member takes its own share. When
// the caller has finished its share, it also takes every share that has not begun yet. The caller
// therefore never waits for a thread that the system has not scheduled, only for shares that are
// under way.
class Team {
 public:
  // The team has fewer than `size` members where the system gives no more threads or memory.
  explicit Team(int size) : taken_(size < 1 ? 1 : size) {
    threads_.reserve(taken_.size());
    try {
      for (int member = 1; member < size; ++member)
        threads_.emplace_back([this, member] { serve(member); });
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
    size_ = int(threads_.size()) + 1;
  }
  ~Team() {
    leaving_ = true;
    call_all();
    for (auto& thread : threads_) thread.join();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return size_; }

  // Calls work(member, members) for every member; the caller is member 0. Returns when all shares
  // are done. Rethrows the exception of a member.
  template <class Work>
  void run(const Work& work) {
    if (size_ == 1) return work(0, 1);
    work_ = &work;
    call_ = [](const void* w, int member, int members) {
      (*static_cast<const Work*>(w))(member, members);
    };
    pending_.store(size_ - 1, std::memory_order_relaxed);
    const uint64_t round = call_all();
    do_share(0);
    for (int member = 1; member < size_ && pending_.load(std::memory_order_acquire); ++member)
      if (takes(member, round)) finish_share(member);
    for (int spins = 0; pending_.load(std::memory_order_acquire); ++spins) wait_a_little(spins);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  // Begins a round and wakes the members that sleep.
  uint64_t call_all() {
    uint64_t round;
    {
      std::lock_guard<std::mutex> lock(mutex_);  // a member may be about to fall asleep
      round = round_.fetch_add(1, std::memory_order_release) + 1;
    }
    if (asleep_.load(std::memory_order_relaxed)) wake_.notify_all();
    return round;
  }

  void serve(int member) {
    for (uint64_t seen = 0;;) {
      for (int spins = 0; round_.load(std::memory_order_acquire) == seen; ++spins)
        if (spins < kYields) {
          wait_a_little(spins);
        } else {
          std::unique_lock<std::mutex> lock(mutex_);
          asleep_.fetch_add(1);
          wake_.wait(lock, [&] { return round_.load(std::memory_order_relaxed) != seen; });
          asleep_.fetch_sub(1);
        }
      seen = round_.load(std::memory_order_acquire);
      if (leaving_) return;
      if (takes(member, seen)) finish_share(member);
    }
  }

  // Takes a member's share of this round for the calling thread. False if another thread took it
  // first. A round does not end, and `work_` does not change, before every share that was taken is
  // finished.
  bool takes(int member, uint64_t round) {
    uint64_t before = round - 1;
    return taken_[member].compare_exchange_strong(before, round, std::memory_order_acq_rel);
  }

  void finish_share(int member) {
    do_share(member);
    pending_.fetch_sub(1, std::memory_order_release);
  }

  void do_share(int member) {
    try {
      call_(work_, member, size_);
    } catch (...) {
      std::lock_guard<std::mutex> lock(mutex_);
      failure_ = std::current_exception();
    }
  }

  // Spins first, then yields the processor, so that another member can run on it.
  static void wait_a_little(int spins) { spins < kSpins ? relax() : std::this_thread::yield(); }

  static constexpr int kSpins = 1000;   // some hundredths of a millisecond
  static constexpr int kYields = 4000;  // about a millisecond, longer than the gaps within a step
  int size_ = 1;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<uint64_t> round_{0};
  std::vector<std::atomic<uint64_t>> taken_;  // the last round whose share was taken, per member
  std::atomic<int> pending_{0}, asleep_{0};
  std::atomic<bool> leaving_{false};
  std::exception_ptr failure_;
  const void* work_ = nullptr;
  void (*call_)(const void*, int, int) = nullptr;
};
