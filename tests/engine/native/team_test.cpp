// Exercises source/team.h; prints one word for every part that holds.
#include "team.h"

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <new>
#include <stdexcept>

// Every share is done exactly once in every round, and before the round ends.
bool done_once(int size, int rounds) {
  Team team(size);
  std::vector<long> sums(team.size());
  for (int round = 0; round < rounds; ++round) {
    std::vector<int> done(team.size());
    team.run([&](int member, int members) {
      if (members != int(done.size())) throw std::logic_error("members");
      done[member] += 1;
      sums[member] += round;
    });
    for (const int times : done)
      if (times != 1) return false;
    if (round % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));  // all asleep
  }
  for (const long sum : sums)
    if (sum != long(rounds) * (rounds - 1) / 2) return false;
  return true;
}

// `run` rethrows the exception of a member after all shares are done. The team can then run again.
bool throws(int thrower) {
  Team team(3);
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> done{0};
    try {
      team.run([&](int member, int) {
        ++done;
        if (member == thrower) throw std::bad_alloc();
      });
      return false;
    } catch (const std::bad_alloc&) {
      if (done != 3) return false;
    }
    done = 0;
    team.run([&](int, int) { ++done; });
    if (done != 3) return false;
  }
  return true;
}

// If a thread is held up before it takes its share, the others do not wait for it.
bool shares_are_taken_over() {
  Team team(2);
  std::thread::id other{};
  const auto self = std::this_thread::get_id();
  while (other == std::thread::id{})  // until the second member has got hold of a share
    team.run([&](int member, int) {
      if (member == 1 && std::this_thread::get_id() != self) other = std::this_thread::get_id();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  // The member sleeps by now, or is about to. Rounds that end at once do not need it.
  int by_self = 0;
  for (int round = 0; round < 2000; ++round)
    team.run([&](int member, int) {
      if (member == 1 && std::this_thread::get_id() == self) ++by_self;
    });
  return by_self > 0;
}

// If the system gives no threads, the team has one member. Must run before any thread was started.
bool without_threads() {
  const rlimit little{1 << 20, 1 << 20};
  setrlimit(RLIMIT_AS, &little);  // no room for a stack
  Team team(4);
  int done = 0;
  team.run([&](int, int members) { done += members; });
  return team.size() == 1 && done == 1;
}

int main(int count, char**) {
  if (count > 1) {
    if (without_threads()) std::puts("one");
    return 0;
  }
  if (done_once(1, 100) && done_once(2, 20000) && done_once(5, 3000)) std::puts("once");
  if (throws(0) && throws(1) && throws(2)) std::puts("throws");
  if (shares_are_taken_over()) std::puts("taken");
}
