// The innermost loops of our own products for AMX, with bf16 and with 8-bit weights: tiles of 16
// rows by 64 bytes. Panels are read in place. Four tiles of sums alternate, to hide the latency of
// their additions; the remainder of k is copied and zero-padded.
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/simd.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernels/cpu/x86.h"

#define TX_AMX \
  __attribute__((target("amx-tile,amx-int8,amx-bf16,avx512f,avx512bw,avx512vl,avx512bf16")))

namespace tx::gemm {
namespace {

constexpr int64_t kTileRows = 16, kTileBytes = 64, kTileSize = kTileRows * kTileBytes;
constexpr int64_t kColumns = 16;  // of sums in a tile

// What LDTILECFG reads. Tiles 0 to 3 are sums: upper left, upper right, lower left, lower right; 4
// and 5 are the upper and lower rows, 6 and 7 the weights on the left and on the right.
struct alignas(64) Shapes {
  uint8_t palette = 1, start_row = 0, zero[14] = {};
  uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};

  explicit Shapes(int64_t n) {
    rows[0] = rows[1] = rows[4] = uint8_t(std::min(n, kTileRows));
    if (n > kTileRows) rows[2] = rows[3] = rows[5] = uint8_t(n - kTileRows);
  }
};

// The operands of a pass over k: consecutive tiles; `right`: the stride between tiles of columns.
struct Operands {
  const char* rows;
  int64_t row_step;
  const char* weights;
  int64_t weight_step, next, right;
};

// sums += rows * weights. The intrinsics need tile numbers that are literals.
#define TX_TILE_PRODUCT(sums, rows, weights) \
  do {                                       \
    if constexpr (Bytes) {                   \
      _tile_dpbsud(sums, rows, weights);     \
    } else {                                 \
      _tile_dpbf16ps(sums, rows, weights);   \
    }                                        \
  } while (false)

// Sums of up to 32 rows and of one or two tiles of columns, over `tiles` tiles of k.
template <bool Bytes, bool Lower, bool Two>
TX_AMX void pass(Operands from, int64_t tiles) {
  for (; tiles > 0; tiles--, from.rows += kTileBytes, from.weights += from.next) {
    _tile_loadd(4, from.rows, from.row_step);
    _tile_loadd(6, from.weights, from.weight_step);
    TX_TILE_PRODUCT(0, 4, 6);
    if (Two) {
      _tile_loadd(7, from.weights + from.right, from.weight_step);
      TX_TILE_PRODUCT(1, 4, 7);
    }
    if (Lower) {
      _tile_loadd(5, from.rows + kTileRows * from.row_step, from.row_step);
      TX_TILE_PRODUCT(2, 5, 6);
      if (Two) TX_TILE_PRODUCT(3, 5, 7);
    }
  }
}

// `rest` is one more tile of k, or empty.
template <bool Bytes, bool Lower, bool Two>
TX_AMX void multiply(const Operands& whole, int64_t tiles, const Operands& rest, void* sums,
                     int64_t stride, bool add) {
  char* at = static_cast<char*>(sums);
  char* below = at + kTileRows * stride;
  constexpr int64_t kRight = kColumns * 4;
  if (add) {
    _tile_loadd(0, at, stride);
    if (Two) _tile_loadd(1, at + kRight, stride);
    if (Lower) _tile_loadd(2, below, stride);
    if (Lower && Two) _tile_loadd(3, below + kRight, stride);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  pass<Bytes, Lower, Two>(whole, tiles);
  if (rest.rows) pass<Bytes, Lower, Two>(rest, 1);
  _tile_stored(0, at, stride);
  if (Two) _tile_stored(1, at + kRight, stride);
  if (Lower) _tile_stored(2, below, stride);
  if (Lower && Two) _tile_stored(3, below + kRight, stride);
}

using Multiply = void (*)(const Operands& whole, int64_t tiles, const Operands& rest, void* sums,
                          int64_t stride, bool add);
template <bool Bytes>
Multiply multiply_for(int64_t rows, bool two) {
  if (rows > kTileRows) return two ? multiply<Bytes, true, true> : multiply<Bytes, true, false>;
  return two ? multiply<Bytes, false, true> : multiply<Bytes, false, false>;
}

// Copies `bytes` of each of n rows, zero-padded to the 64 of a tile.
void fill_up(const char* from, int64_t step, int64_t bytes, int64_t n, char* to) {
  for (int64_t r = 0; r < n; r++, to += kTileBytes) {
    std::memcpy(to, from + r * step, size_t(bytes));
    std::memset(to + bytes, 0, size_t(kTileBytes - bytes));
  }
}

// -- bf16: a panel is [k / 2][64][2], a tile of weights 16 pairs of k, its rows 256 bytes apart.

constexpr int kPanel = 64;

TX_AMX void tiles_bf16(Left left, int64_t rows, const void* panel, int64_t k, float* sums,
                       bool add) {
  constexpr int64_t kStep = kPanel * 4, kDepth = kTileBytes / 2;
  const int64_t tiles = k / kDepth, over = k % kDepth, pairs = (over + 1) / 2;
  const char* weights = static_cast<const char*>(panel);
  alignas(64) char last_rows[kTilesRows * kTileBytes], last[kTileRows * kStep];
  if (over > 0) {
    fill_up(left.data + tiles * kTileBytes, left.row_step, over * 2, rows, last_rows);
    std::memcpy(last, weights + tiles * kTileRows * kStep, size_t(pairs * kStep));
    std::memset(last + pairs * kStep, 0, size_t((kTileRows - pairs) * kStep));
  }
  const Shapes shapes(rows);
  _tile_loadconfig(&shapes);
  const Multiply sum = multiply_for<false>(rows, true);
  for (int64_t column = 0; column < kPanel; column += 2 * kColumns) {
    const Operands whole{left.data, left.row_step,     weights + column * 4,
                         kStep,     kTileRows * kStep, kColumns * 4};
    const Operands rest{
        over > 0 ? last_rows : nullptr, kTileBytes, last + column * 4, kStep, 0, kColumns * 4};
    sum(whole, tiles, rest, sums + column, kPanel * 4, add);
  }
  _tile_release();
}

// -- 8-bit weights: a tile is 16 quads of a group, 1 KB without gaps.

TX_AMX void add_starts(const Int8Left& left, int64_t rows, int64_t groups, int32_t* sums) {
  for (int64_t r = 0; r < rows; r++) {
    const __m512i start = _mm512_set1_epi32(left.start[r]);
    for (int64_t g = 0; g < groups; g++, sums += kInt8Group)
      _mm512_store_si512(sums, _mm512_add_epi32(_mm512_load_si512(sums), start));
  }
}

// Rows are already zero-padded; only the weights have a remainder.
TX_AMX void tiles_int8(const Int8Left& left, int64_t rows, const Int8Right& right, int64_t groups,
                       int32_t* sums) {
  const int64_t tiles = right.quads / kTileRows, over = right.quads % kTileRows;
  alignas(64) char last[2 * kTileSize];
  const Shapes shapes(rows);
  _tile_loadconfig(&shapes);
  for (int64_t g = 0; g < groups; g += 2) {
    const char* weights = reinterpret_cast<const char*>(right.groups + g * right.group_bytes);
    const bool two = groups - g > 1;
    for (int64_t i = 0; over > 0 && i <= int64_t(two); i++) {
      char* to = last + i * kTileSize;
      std::memcpy(to, weights + i * right.group_bytes + tiles * kTileSize,
                  size_t(over * kTileBytes));
      std::memset(to + over * kTileBytes, 0, size_t((kTileRows - over) * kTileBytes));
    }
    const Operands whole{left.data, left.step, weights, kTileBytes, kTileSize, right.group_bytes};
    const Operands rest{over > 0 ? left.data + tiles * kTileBytes : nullptr,
                        left.step,
                        last,
                        kTileBytes,
                        0,
                        kTileSize};
    multiply_for<true>(rows, two)(whole, tiles, rest, sums + g * kInt8Group,
                                  groups * kInt8Group * 4, false);
  }
  _tile_release();
  add_starts(left, rows, groups, sums);
}

// Linux enables AMX for a process only on request.
bool allowed_tiles() {
  constexpr long kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

}  // namespace

// Bits 22, 24 and 25 of cpuid 7's edx: AMX-BF16, AMX-TILE, AMX-INT8.
bool has_amx() {
  static const bool has = [] {
    constexpr unsigned kAll = 1u << 22 | 1u << 24 | 1u << 25;
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & kAll) == kAll && allowed_tiles();
  }();
  return has;
}

Micro micro_amx() {
  static_assert(kPanel <= kMaxPanel);
  Micro m = micro_avx512_bf16();
  if (m.panel != kPanel) return {};
  m.name = "AMX", m.rows = kTilesRows, m.tiles = tiles_bf16;
  return m;
}
Int8Tiles int8_tiles_amx() { return tiles_int8; }

}  // namespace tx::gemm

#else

namespace tx::gemm {

bool has_amx() { return false; }
Micro micro_amx() { return {}; }
Int8Tiles int8_tiles_amx() { return nullptr; }

}  // namespace tx::gemm

#endif
