// Attention without tensor cores: f32, and heads wider than 128 columns. A block has 16 rows of one
// sentence and head; the other side is loaded to shared memory 32 rows at a time, one per lane. d_k
// is arbitrary (in steps of 64), and so is d_v (128 columns at a time, each with its scores).
#pragma once
#include "kernels/cuda/attention/attention.h"

namespace tx::plain {

constexpr int warps = 4, rows_each = 4, tile = warps * rows_each, lanes = warp_size;
constexpr int depth_step = 64, column_step = 128, parts = column_step / lanes;

using Four = Pack<float, rows_each>;

struct Shared {
  Four x[depth_step][warps + 1];   // transposed: the rows of a warp are one load
  float y[lanes][depth_step + 1];  // one more: lanes read a column without bank conflicts
  float values[lanes][column_step];
  Four weights[warps][lanes];
};

// The keys, of m, that query i attends to: first .. end - 1.
struct Seen {
  int first, end;
  TX_DEVICE bool has(int key) const { return key >= first && key < end; }
};
TX_DEVICE Seen seen_keys(const Attention& p, int i, int m) {
  const int end = visible_keys(p, i, m);
  if (p.window == 0) return {0, end};
  return {max(0, i - p.window + 1), min(end, i + p.window)};
}
TX_DEVICE int lane_index() { return int(threadIdx.x) % warp_size; }
TX_DEVICE int warp_index() { return int(threadIdx.x) / warp_size; }

// put(i, j, element) of rows first + i, columns column + j of `from`; zero beyond its rows.
template <class T, class Put>
TX_DEVICE void fill(int count, Rows<const T> from, int first, int column, int columns, Put put) {
  for (int i = warp_index(); i < count; i += warps) {
    const bool inside = first + i < from.count;
    const T* row = from.row(inside ? first + i : 0) + column;
    for (int j = lane_index(); j < columns; j += lanes) put(i, j, inside ? load(row[j]) : 0.f);
  }
}

// s[i] = x row (first_x + 4 warp + i) . y row (first_y + lane).
template <class T>
TX_DEVICE void products(Rows<const T> x, int first_x, Rows<const T> y, int first_y, Shared& shared,
                        float (&s)[rows_each]) {
  for (int i = 0; i < rows_each; ++i) s[i] = 0;
  for (int depth = 0; depth < x.width; depth += depth_step) {
    const int here = min(depth_step, x.width - depth);
    __syncthreads();
    fill(tile, x, first_x, depth, here,
         [&](int i, int j, float value) { shared.x[j][i / rows_each].at[i % rows_each] = value; });
    fill(lanes, y, first_y, depth, here,
         [&](int i, int j, float value) { shared.y[i][j] = value; });
    __syncthreads();
    for (int l = 0; l < here; ++l) {
      const float factor = shared.y[lane_index()][l];
      const Four rows = shared.x[l][warp_index()];
      for (int i = 0; i < rows_each; ++i) s[i] = fmaf(rows.at[i], factor, s[i]);
    }
  }
}

// sum[i][c] += w[i] of lane j times y row (first_y + j), column (column + 32 c + lane), over j.
template <class T>
TX_DEVICE void accumulate(const float (&w)[rows_each], Rows<const T> y, int first_y, int column,
                          Shared& shared, float (&sum)[rows_each][parts]) {
  const int columns = min(column_step, y.width - column);
  if (columns <= 0) return;  // the same for all threads
  __syncthreads();
  fill(lanes, y, first_y, column, columns,
       [&](int i, int j, float value) { shared.values[i][j] = value; });
  for (int i = 0; i < rows_each; ++i) shared.weights[warp_index()][lane_index()].at[i] = w[i];
  __syncthreads();
  const int count = min(lanes, y.count - first_y);
  for (int j = 0; j < count; ++j) {
    const Four factor = shared.weights[warp_index()][j];
    for (int c = 0; c < parts; ++c) {
      if (c * lanes >= columns) break;
      const float value = shared.values[j][c * lanes + lane_index()];
      for (int i = 0; i < rows_each; ++i) sum[i][c] = fmaf(factor.at[i], value, sum[i][c]);
    }
  }
}

// Assigns what accumulate() summed, times factor[i].
template <class T>
TX_DEVICE void assign(Rows<T> to, int first, int column, const float (&sum)[rows_each][parts],
                      const float (&factor)[rows_each]) {
  for (int i = 0; i < rows_each; ++i) {
    const int row = first + warp_index() * rows_each + i;
    if (row >= to.count) continue;
    for (int c = 0; c < parts; ++c) {
      const int at = column + c * lanes + lane_index();
      if (at < to.width) store(to.row(row)[at], sum[i][c] * factor[i]);
    }
  }
}

// Bit i: whether the lane's key is kept for query first + 4 warp + i. 16 lanes make one draw each.
TX_DEVICE uint32_t kept_rows(const Attention& p, Span queries, int first, int first_key, int head) {
  if (p.drop.threshold == 0) return ~0u;
  const int lane = lane_index(), mine = first + warp_index() * rows_each + lane / 4 % rows_each;
  const uint32_t drawn = lane < 16 ? kept_keys(p.drop, queries.first + min(mine, queries.count - 1),
                                               first_key / 8 + lane % 4, head)
                                   : 0u;
  uint32_t kept = 0;
  for (int i = 0; i < rows_each; ++i) {
    const uint32_t bits = __shfl_sync(whole_warp, drawn, i * 4 + lane / 8);
    kept |= (bits >> (lane % 8) & 1u) << i;
  }
  return kept;
}

// Host: sentences, heads, slots for tiles of rows.
inline dim3 grid_of(const Cuda::State& s, const Attention& p, int heads, int64_t rows) {
  return dim3(unsigned(p.sentences), unsigned(heads),
              tile_slots(s, p.sentences, heads, rows, tile));
}

}  // namespace tx::plain
