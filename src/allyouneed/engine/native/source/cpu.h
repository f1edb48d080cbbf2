// The features of the processor that the system lets programs use, named as in Linux's
// /proc/cpuinfo.
#pragma once

#include <cstdint>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

#if defined(__x86_64__)

inline std::string features() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  std::string names;
  const auto add = [&](unsigned word, int bit, const char* name) {
    if (word >> bit & 1) names += std::string(names.empty() ? "" : " ") + name;
  };
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) return names;  // vectors are not saved
  unsigned saved, high;
  asm volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  // The registers that the system saves when it switches threads: AVX, AVX-512.
  constexpr unsigned kVectors = 0x6, kWideVectors = 0xe6;
  if ((saved & kVectors) != kVectors) return names;
  add(c, 12, "fma");
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return names;
  const unsigned subleaves = a;
  add(b, 5, "avx2");
  if ((saved & kWideVectors) == kWideVectors) {
    add(b, 16, "avx512f");
    add(b, 17, "avx512dq");
    add(b, 30, "avx512bw");
    add(b, 31, "avx512vl");
    add(c, 11, "avx512_vnni");
  }
  if (subleaves >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) add(a, 4, "avx_vnni");
  return names;
}

#elif defined(__aarch64__)

inline bool has(int linux_word, int linux_bit, const char* apple_name) {
#if defined(__linux__)
  (void)apple_name;
  return getauxval(linux_word) >> linux_bit & 1;
#elif defined(__APPLE__)
  (void)linux_word, (void)linux_bit;
  int32_t value = 0;
  size_t size = sizeof value;
  return sysctlbyname(apple_name, &value, &size, nullptr, 0) == 0 && value;
#else
  (void)linux_word, (void)linux_bit, (void)apple_name;
  return false;
#endif
}

inline std::string features() {
  constexpr int kWord = 16, kSecondWord = 26;  // AT_HWCAP and AT_HWCAP2
  std::string names;
  if (has(kWord, 20, "hw.optional.arm.FEAT_DotProd")) names += "asimddp";
  if (has(kSecondWord, 13, "hw.optional.arm.FEAT_I8MM")) names += names.empty() ? "i8mm" : " i8mm";
  return names;
}

#else

inline std::string features() { return ""; }

#endif
