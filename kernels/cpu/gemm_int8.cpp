// Quantising, and the outer loops of products with 8-bit weights.
#include <algorithm>
#include <limits>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/simd.h"

namespace tx::gemm {
namespace {

template <class T>
TX_CLONES float largest(const T* x, int64_t n) {
  // The bits of |x| have the order of the values; NaN is largest.
  uint32_t max = 0;
#pragma omp simd reduction(max : max)
  for (int64_t i = 0; i < n; i++) {
    const float value = load(x[i]);
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    max = std::max(max, bits & 0x7fffffffu);
  }
  float value;
  std::memcpy(&value, &max, 4);
  return value;
}

// Rounds to nearest even: a float near 1.5 * 2^23 has no fraction bits.
TX_INLINE int32_t rounded(float x) {
  const float shifted = x + 12582912.0f;
  int32_t bits;
  std::memcpy(&bits, &shifted, 4);
  return bits - 0x4b400000;
}

// q of x; returns their sum. A factor of 0 gives zeros even where x is not finite.
template <class T, bool Clamp>
TX_CLONES int32_t quantise(const T* x, int64_t n, float factor, int8_t* q) {
  int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) {
    float value = load(x[i]) * factor;
    if (Clamp) value = std::min(std::max(value, -127.0f), 127.0f);
    const int32_t r = factor == 0 ? 0 : rounded(value);
    q[i] = int8_t(r);
    sum += r;
  }
  return sum;
}

// The scratch memory: q of all rows, then the scale and the start of each.
struct Rows {
  char* q;
  float* scales;
  int32_t* starts;
  int64_t step;
};
int64_t row_step(int64_t inputs, bool split) {
  return (int8_quads(inputs) * (split ? 8 : 4) + 63) / 64 * 64;
}
Rows rows_of(char* scratch, int64_t rows, int64_t inputs, bool split) {
  const int64_t step = row_step(inputs, split);
  char* behind = scratch + rows * step;
  return {scratch, reinterpret_cast<float*>(behind), reinterpret_cast<int32_t*>(behind + rows * 4),
          step};
}

// Spreads the quads in the second half of a row over all of it: |q| of each, then q.
TX_CLONES void split_quads(char* row, int64_t quads) {
  for (int64_t k = 0; k < quads; k++) {
    uint32_t q;
    std::memcpy(&q, row + 4 * (quads + k), 4);
    const uint32_t negative = q >> 7 & 0x01010101u;
    const uint64_t both = ((q ^ negative * 255) + negative) | uint64_t(q) << 32;
    std::memcpy(row + 8 * k, &both, 8);
  }
}

template <class T>
void quantise_row(const Matrix& x, int64_t i, const Rows& to, bool split, float input_factor) {
  const T* from = x.row<const T>(i);
  char* const row = to.q + i * to.step;
  int8_t* const q = reinterpret_cast<int8_t*>(split ? row + to.step / 2 : row);
  int32_t sum;
  if (input_factor > 0) {
    sum = quantise<T, true>(from, x.cols, input_factor, q);
  } else {
    const Int8Scale s = int8_scale(largest(from, x.cols));
    to.scales[i] = s.scale;
    sum = quantise<T, false>(from, x.cols, s.factor, q);
  }
  to.starts[i] = split ? 0 : -128 * sum;
  std::fill(q + x.cols, reinterpret_cast<int8_t*>(row) + to.step, int8_t(0));
  if (split) split_quads(row, to.step / 8);
}

template <class T>
TX_CLONES void finish(const int32_t* sums, int64_t columns, float scale, const float* scales,
                      const float* bias, bool relu, T* y) {
  const float min = relu ? 0 : -std::numeric_limits<float>::infinity();
  for (int64_t j = 0; j < columns; j++) {
    const float value = float(sums[j]) * (scale * scales[j]) + (bias ? bias[j] : 0);
    store(y[j], value < min ? min : value);
  }
}

template <class T>
TX_CLONES void finish_fixed(const int32_t* sums, int64_t columns, const int32_t* starts,
                            const float* factors, const float* shifts, const float* bias, bool relu,
                            T* y) {
  const float min = relu ? 0 : -std::numeric_limits<float>::infinity();
  for (int64_t j = 0; j < columns; j++) {
    const float shift = shifts[j] + (bias ? bias[j] : 0);
    const float value = float(sums[j] + starts[j]) * factors[j] + shift;
    store(y[j], value < min ? min : value);
  }
}

// Rows first .. first + count - 1 of y, outputs from 16 * group on.
template <class T>
void panel(const Int8Product& p, const Rows& x, const Int8Micro& m, int64_t first, int64_t count,
           int64_t group) {
  alignas(64) int32_t tile[kTilesRows * kInt8MaxGroups * kInt8Group];
  const int64_t bytes = int8_group_bytes(p.w.cols), column = group * kInt8Group;
  const int64_t groups = std::min<int64_t>(m.groups, int8_groups(p.w.rows) - group);
  const int64_t columns = std::min(groups * kInt8Group, p.w.rows - column);
  Int8Right right{p.w.groups + group * bytes, bytes, int8_quads(p.w.cols), false};
  const float* bias = p.bias.empty() ? nullptr : static_cast<const float*>(p.bias.data) + column;
  const bool tiles = m.tiles && count >= kInt8LeastTileRows;
  const int64_t max = tiles ? kTilesRows : m.rows;
  for (int64_t done = 0, blocks = (count + max - 1) / max; blocks > 0; blocks--) {
    const int64_t rows = (count - done + blocks - 1) / blocks, row = first + done;
    right.last = blocks == 1;
    const Int8Left left{x.q + row * x.step, x.step, x.starts + row};
    if (tiles)
      m.tiles(left, rows, right, groups, tile);
    else
      m.block[rows - 1][groups - 1](left, right, tile);
    for (int64_t r = 0; r < rows; r++) {
      const int32_t* sums = tile + r * groups * kInt8Group;
      T* const y = p.y.row<T>(row + r) + column;
      const FixedInputs& f = p.w.fixed;
      if (f.starts)
        finish_fixed(sums, columns, f.starts + column, f.factors + column, f.shifts + column, bias,
                     p.relu, y);
      else
        finish(sums, columns, x.scales[row + r], p.w.scales + column, bias, p.relu, y);
    }
    done += rows;
  }
}

// Rows that are multiplied with a panel while it is in the L2 cache.
constexpr int64_t kChunk = 96;

template <class X, class Y>
void all(const Int8Product& p, const Int8Micro& m, int threads) {
  const Rows rows = rows_of(p.scratch, p.x.rows, p.x.cols, m.split);
  const int64_t panels = (int8_groups(p.w.rows) + m.groups - 1) / m.groups;
  const int64_t chunks = (p.x.rows + kChunk - 1) / kChunk;
  const int64_t size = (p.x.rows + chunks - 1) / chunks;
#pragma omp parallel num_threads(threads) if (threads > 1 && panels * chunks > 1)
  {
#pragma omp for schedule(static)
    for (int64_t i = 0; i < p.x.rows; i++) quantise_row<X>(p.x, i, rows, m.split, p.w.input_factor);
#pragma omp for schedule(static)
    for (int64_t i = 0; i < panels * chunks; i++) {
      const int64_t first = i / panels * size;
      panel<Y>(p, rows, m, first, std::min(size, p.x.rows - first), i % panels * m.groups);
    }
  }
}

void block_plain(const Int8Left& left, const Int8Right& right, int32_t* tile) {
  for (int64_t j = 0; j < kInt8Group; j++) tile[j] = left.start[0];
  const uint8_t* w = right.groups;
  for (int64_t k = 0; k < right.quads; k++, w += 4 * kInt8Group) {
    const int8_t* a = reinterpret_cast<const int8_t*>(left.data) + 4 * k;
    for (int64_t j = 0; j < kInt8Group; j++)
      for (int i = 0; i < 4; i++) tile[j] += int32_t(a[i]) * int32_t(w[4 * j + i]);
  }
}

// Few rows are faster without tiles.
Int8Micro with_tiles(Int8Micro micro) {
  micro.name = "AMX";
  micro.tiles = int8_tiles_amx();
  return micro;
}

}  // namespace

size_t int8_scratch_bytes(int64_t rows, int64_t inputs) {
  return size_t(rows) * size_t(row_step(inputs, true) + 8);
}

const Int8Micro& int8_micro(Int8Isa isa) {
  static const Int8Micro vnni = int8_micro_avx512_vnni();
  static const Int8Micro all[] = {{"plain", 1, 1, false, {{block_plain}}, nullptr},
                                  int8_micro_avx2(),
                                  int8_micro_avx_vnni(),
                                  vnni,
                                  with_tiles(vnni),
                                  int8_micro_neon(),
                                  int8_micro_dotprod(),
                                  int8_micro_i8mm()};
  int best = int(isa);
  while (all[best].rows == 0) best--;
  return all[best];
}

void int8_product(const Int8Product& p, const Int8Micro& micro, int threads) {
  TX_ASSERT(p.x.cols == p.w.cols && p.y.cols == p.w.rows && p.x.rows == p.y.rows);
  TX_ASSERT(p.bias.empty() || (p.bias.dtype == DType::f32 && p.bias.cols == p.y.cols));
  if (p.y.rows == 0) return;
  const bool narrow = p.x.dtype == DType::bf16;
  TX_ASSERT(narrow || (p.x.dtype == DType::f32 && p.y.dtype == DType::f32));
  if (!narrow) return all<float, float>(p, micro, threads);
  if (p.y.dtype == DType::f32) return all<bf16, float>(p, micro, threads);
  TX_ASSERT(p.y.dtype == DType::bf16);
  all<bf16, bf16>(p, micro, threads);
}

}  // namespace tx::gemm
