// Tiles of rows in shared memory and their products on tensor cores. A block holds 64 rows of each
// operand: 32 rows of each of two heads for a short sentence, 64 rows of one head at a time for a
// longer one. Each warp multiplies one group of 16 rows (queries, or keys for their gradients) with
// 16 rows of the other side at a time. D is the larger of d_k and d_v, rounded up to 32, 64 or 128;
// rows are zero-padded.
#pragma once
#include "kernels/cuda/attention/attention.h"
#include "kernels/cuda/runtime/mma.h"

namespace tx {

constexpr int tile_warps = 4, all_rows = 16 * tile_warps, tile_heads = 2;
// Keys whose weights a warp holds at once, in groups of 16.
constexpr int step_groups = 2, step_keys = 16 * step_groups;

// Rows are padded by 16 bytes, so that the 8 rows of an ldmatrix are in different banks.
template <int D>
constexpr int tile_pitch = D + 8;
template <int D>
constexpr int operand_size = all_rows* tile_pitch<D>;
template <int D>
constexpr int group_size = 16 * tile_pitch<D>;

// How the rows of an operand are divided: the rows of a tile, and how many heads have one.
struct Tiles {
  int rows, heads;
};
TX_DEVICE Tiles tiles_of(int queries, int keys, int heads) {
  const bool is_short = max(queries, keys) <= all_rows / tile_heads;
  return is_short ? Tiles{all_rows / tile_heads, heads} : Tiles{all_rows, 1};
}

// Host: f(std::integral_constant<int, D>).
template <class F>
void with_tiles(int width, F&& f) {
  if (width <= 32) return f(std::integral_constant<int, 32>{});
  if (width <= 64) return f(std::integral_constant<int, 64>{});
  f(std::integral_constant<int, 128>{});
}
// Host: whether heads of `width` columns may be moved in packs of 16 bytes.
inline bool tile_packs(const Matrix& m, int width) { return packs(m, 16) && width % 8 == 0; }

// Broadcast from lane 0: the compiler then knows that it is uniform in the warp (saves registers).
TX_DEVICE int uniform(int x) { return __shfl_sync(whole_warp, x, 0); }
TX_DEVICE Span uniform(Span x) { return {uniform(x.first), uniform(x.count)}; }
TX_DEVICE int tile_warp() { return uniform(int(threadIdx.x) / warp_size); }
TX_DEVICE int tile_lane() { return int(threadIdx.x) % warp_size; }
// The same, recomputed at each use: keeping it would cost registers.
TX_DEVICE int fresh_lane() {
#ifdef TX_EMULATED_CUDA
  return tile_lane();
#else
  int lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
#endif
}
TX_DEVICE int fresh_thread() {
#ifdef TX_EMULATED_CUDA
  return int(threadIdx.x);
#else
  int thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
#endif
}
// The elements of a 16 x 16 product that a lane holds: rows tile_row(0) and tile_row(1), 8 apart,
// and columns tile_column(0), tile_column(1) and the one after each.
TX_DEVICE int tile_row(int half) { return fresh_lane() / 4 + 8 * half; }
TX_DEVICE int tile_column(int half) { return fresh_lane() % 4 * 2 + 8 * half; }

// How many keys from k0 on each query of the tile from q0 on attends to, in few registers.
struct Sight {
  int keys, diagonal;
  TX_DEVICE int of(int row) const { return min(keys, diagonal + row); }
};
TX_DEVICE Sight sight_of(const Attention& p, int q0, int k0, int keys) {
  constexpr int far = 1 << 30;
  return {keys - k0, p.causal ? q0 + 1 - k0 : far};
}

using Product16 = float[2][4];  // c[n][2 h + e]: row tile_row(h), column tile_column(n) + e

// Copies rows first .. of `from` to a tile of up to `most` rows, with zeros beyond its end.
template <int D>
TX_DEVICE void load_tile(bf16* to, Rows<const bf16> from, int first, int most, bool packed) {
  constexpr int each = D / 8;
  const int rows = min((from.count - first + 15) / 16 * 16, most);
  for (int e = fresh_thread(); e < rows * each; e += tile_warps * warp_size) {
    const int i = e / each, j = e % each * 8;
    const bool inside = first + i < from.count && j < from.width;
    const bf16* at = inside ? from.row(first + i) + j : from.data;
    bf16* out = to + i * tile_pitch<D> + j;
    if (packed) {
      copy_async_16_or_zero(out, at, inside);
    } else {
      Pack<bf16, 8> pack;
#pragma unroll
      for (int l = 0; l < 8; ++l) pack.at[l] = inside && j + l < from.width ? at[l] : bf16{0};
      *reinterpret_cast<Pack<bf16, 8>*>(out) = pack;
    }
  }
}

// c (16 x 16) = 16 rows at `left` . 16 rows at `rows`, transposed.
template <int D>
TX_DEVICE void multiply(Product16& c, const bf16* left, const bf16* rows) {
  const int lane = tile_lane();
#pragma unroll
  for (int i = 0; i < 8; ++i) c[i / 4][i % 4] = 0;
#pragma unroll
  for (int k = 0; k < D / 16; ++k) {
    uint32_t a[4], b[4];
    ldmatrix_x4(a, left + lane % 16 * tile_pitch<D> + k * 16 + lane / 16 * 8);
    ldmatrix_x4(b, rows + (lane / 16 * 8 + lane % 8) * tile_pitch<D> + k * 16 + lane / 8 % 2 * 8);
    mma_bf16(c[0], a, {b[0], b[1]});
    mma_bf16(c[1], a, {b[2], b[3]});
  }
}

// A 16 x 16 product, rounded to bf16, as the left operand of another. [2 n + h]: two elements of
// row tile_row(h), from column tile_column(n) on.
using Fragment = uint32_t[4];

// Rounds w, and in `low` what this lost.
TX_DEVICE void split(const Product16& w, Fragment& high, Fragment& low) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float x = w[i / 2][i % 2 * 2], y = w[i / 2][i % 2 * 2 + 1];
    high[i] = bf16_pair(x, y);
    low[i] =
        bf16_pair(x - __uint_as_float(high[i] << 16), y - __uint_as_float(high[i] & 0xffff0000u));
  }
}

// sum (16 x D) += the sum of the fragments w (16 x 16) times the 16 rows at `rows`.
template <int D, int fragments>
TX_DEVICE void accumulate(float (&sum)[D / 8][4], const Fragment (&w)[fragments],
                          const bf16* rows) {
  const int lane = tile_lane();
#pragma unroll
  for (int n = 0; n < D / 16; ++n) {
    uint32_t b[4];
    ldmatrix_x4_transposed(b, rows + lane % 16 * tile_pitch<D> + n * 16 + lane / 16 * 8);
#pragma unroll
    for (int i = 0; i < fragments; ++i) {
      mma_bf16(sum[2 * n], w[i], {b[0], b[1]});
      mma_bf16(sum[2 * n + 1], w[i], {b[2], b[3]});
    }
  }
}

// w[i] of lane t becomes w[t] of lane i, among the four lanes that share a row.
TX_DEVICE void transpose(uint32_t (&w)[4], int lane) {
#pragma unroll
  for (int step = 1; step < 4; step *= 2)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i & step) continue;
      const bool upper = lane & step;
      const uint32_t got = __shfl_xor_sync(whole_warp, upper ? w[i] : w[i + step], step);
      (upper ? w[i] : w[i + step]) = got;
    }
}

// Rows first .. first + 15 of `to` = sum * factor[half of the rows]. Each lane writes 8 at once.
template <int D>
TX_DEVICE void assign(Rows<bf16> to, int first, const float (&sum)[D / 8][4],
                      const float (&factor)[2], bool packed) {
  const int lane = fresh_lane();
#pragma unroll
  for (int h = 0; h < 2; ++h)
#pragma unroll
    for (int m = 0; m < D / 32; ++m) {
      Pack<uint32_t, 4> pack;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float(&c)[4] = sum[4 * m + i];
        pack.at[i] = bf16_pair(c[2 * h] * factor[h], c[2 * h + 1] * factor[h]);
      }
      transpose(pack.at, lane);
      const int row = first + lane / 4 + 8 * h, column = m * 32 + lane % 4 * 8;
      if (row >= to.count || column >= to.width) continue;
      bf16* at = to.row(row) + column;
      if (packed) {
        *reinterpret_cast<Pack<uint32_t, 4>*>(at) = pack;
      } else {
#pragma unroll
        for (int l = 0; l < 8; ++l)
          if (column + l < to.width) at[l].bits = uint16_t(pack.at[l / 2] >> l % 2 * 16);
      }
    }
}

// The sum, or the largest, of the four lanes that share a row.
TX_DEVICE float row_sum(float x) {
  x += __shfl_xor_sync(whole_warp, x, 1);
  return x + __shfl_xor_sync(whole_warp, x, 2);
}
TX_DEVICE float row_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(whole_warp, x, 1));
  return fmaxf(x, __shfl_xor_sync(whole_warp, x, 2));
}

}  // namespace tx
