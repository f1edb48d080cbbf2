// Errors on their way to the C interfaces. Functions throw; the interfaces return error numbers, and
// no exception crosses them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

// Both interfaces declare these numbers under names of their own.
constexpr int32_t kOk = 0, kFailed = 1, kMemory = 2;
constexpr int kTextBytes = 512;  // of an error's text, including the final zero

// An error with a number of its own.
struct Numbered : std::runtime_error {
  Numbered(int32_t number, const std::string& text) : std::runtime_error(text), number(number) {}
  const int32_t number;
};

// Throws std::invalid_argument if the condition does not hold.
inline void demand(bool holds, const char* otherwise) {
  if (!holds) throw std::invalid_argument(otherwise);
}

inline void check_threads(int32_t threads) {
  constexpr int32_t kMostThreads = 1024;
  if (threads < 1 || threads > kMostThreads)
    throw std::invalid_argument(std::to_string(threads) + " threads are not in 1 ... 1024");
}

// Runs `call`. Returns kOk or an error's number, and writes the error's text to `error` unless that
// is null.
template <class Call>
int32_t guarded(char* error, const Call& call) {
  const auto tell = [&](const char* text, int32_t number) {
    if (error) std::snprintf(error, kTextBytes, "%s", text);
    return number;
  };
  try {
    call();
    return kOk;
  } catch (const std::bad_alloc&) {
    return tell("out of memory", kMemory);
  } catch (const std::length_error&) {
    return tell("out of memory", kMemory);
  } catch (const Numbered& e) {
    return tell(e.what(), e.number);
  } catch (const std::exception& e) {
    return tell(e.what(), kFailed);
  } catch (...) {
    return tell("an unknown error", kFailed);
  }
}

// The text that MAKE returns, made at the first call. It is empty while memory is short.
template <std::string (*MAKE)()>
const char* lasting_text() {
  const char* lasting = "";
  guarded(nullptr, [&] {
    static const std::string text = MAKE();
    lasting = text.c_str();
  });
  return lasting;
}
