// Intel's matrix unit (AMX) and int8 products on it. One instruction multiplies a matrix of 16 × 64
// numbers by one of 64 × 16.
#pragma once

#include "panels.h"

#if defined(__AVX512VNNI__) && defined(__linux__)
#define HAS_TILES 1
#include <sys/syscall.h>
#include <unistd.h>

constexpr int kTilesPayFrom = 6;    // rows; with fewer rows most of a tile would be empty

// The bits of cpuid that tell which kinds of numbers the unit multiplies.
constexpr int kInt8Tiles = 25, kBfloat16Tiles = 22;

// Whether the processor has the unit for this kind of numbers and the system lets this process use
// it. The first call asks the system; later calls repeat its answer.
inline bool may_use_tiles(int kind) {
  static const unsigned known = [] {
    unsigned a = 7, b, c = 0, d;
    asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    constexpr int kTiles = 24, kAskForState = 0x1023, kTileData = 18;
    return (d >> kTiles & 1) && syscall(SYS_arch_prctl, kAskForState, kTileData) == 0 ? d : 0u;
  }();
  return known >> kind & 1;
}

#define WITH_TILES __attribute__((target("amx-tile,amx-int8,amx-bf16,avx512bf16")))

// The shape of all eight tiles: 16 rows of 64 bytes.
struct alignas(64) TileShape {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
// A variable in memory, not a temporary: the compiler believes that _tile_loadconfig reads only the
// first bytes, and would leave the rest of a temporary unwritten.
inline const TileShape kTileShape;

// Called before every product, because other code of the process may have set the tiles
// differently.
WITH_TILES inline void set_tiles() { _tile_loadconfig(&kTileShape); }
WITH_TILES inline void release_tiles() { _tile_release(); }

// The same sums as `int_tile`, for up to 32 rows. `a` must have 32 rows; the contents of those
// beyond `rows` do not matter. `first` says that the panel is not in the cache yet and is to be
// prefetched.
WITH_TILES inline void tile_block(bool first, int rows, const int8_t* a, int a_stride, const uint8_t* panel,
                                  int depth, int32_t (*sums)[kPanel]) {
  constexpr int kPanelRow = 4 * kPanel, kSumsRow = 4 * kPanel;  // bytes
  _tile_zero(0);
  _tile_zero(1);
  const auto fetch = [&](const uint8_t* w) {
    if (first)
      for (int i = 0; i < 16; ++i) fetch_ahead(w + i * kPanelRow);
  };
  if (rows > 16) {
    _tile_zero(2);
    _tile_zero(3);
    for (int k = 0; k < depth; k += 64, panel += 16 * kPanelRow) {
      fetch(panel);
      _tile_loadd(4, a + k, a_stride);
      _tile_loadd(6, panel, kPanelRow);
      _tile_dpbsud(0, 4, 6);
      _tile_loadd(7, panel + 64, kPanelRow);
      _tile_dpbsud(1, 4, 7);
      _tile_loadd(5, a + 16 * a_stride + k, a_stride);
      _tile_dpbsud(2, 5, 6);
      _tile_dpbsud(3, 5, 7);
    }
    _tile_stored(2, sums[16], kSumsRow);
    _tile_stored(3, sums[16] + kLanes, kSumsRow);
  } else {
    for (int k = 0; k < depth; k += 64, panel += 16 * kPanelRow) {
      fetch(panel);
      _tile_loadd(4, a + k, a_stride);
      _tile_loadd(6, panel, kPanelRow);
      _tile_dpbsud(0, 4, 6);
      _tile_loadd(7, panel + 64, kPanelRow);
      _tile_dpbsud(1, 4, 7);
    }
  }
  _tile_stored(0, sums[0], kSumsRow);
  _tile_stored(1, sums[0] + kLanes, kSumsRow);
}
#endif
