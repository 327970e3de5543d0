// The building blocks of attention_backward.cu: the tiles of a block in shared memory, and one step
// of it, 32 keys of each query of the tiles.
#pragma once
#include "kernels/cuda/attention/attention_tiles.h"

namespace tx::attention_gradient {

// The work of a block, and the tiles in its shared memory.
struct Held {
  Span queries, keys;
  int kv;  // the key/value head of the first of the query heads in shared memory
  Tiles tiles;
  bool packed;
  int reader = -1, q0 = -1, k0 = -1;
};

constexpr int weight_pitch = step_keys + 8;  // padded as tile_pitch

template <int D>
struct HeldTiles {
  static constexpr size_t operands = size_t(4) * operand_size<D>;
  static constexpr int weights_size = all_rows * weight_pitch;
  static constexpr size_t rows = operands + size_t(2) * weights_size;
  static constexpr size_t bytes =
      rows * sizeof(bf16) + 2 * all_rows * sizeof(float) + all_rows * all_rows / 8;
  bf16* memory;

  TX_DEVICE bf16* q(const Held& w, int unit) const {
    return memory + unit * w.tiles.rows * tile_pitch<D>;
  }
  TX_DEVICE bf16* d_o(const Held& w, int unit) const { return q(w, unit) + operand_size<D>; }
  TX_DEVICE bf16* k(const Held& w, int unit) const { return q(w, unit) + 2 * operand_size<D>; }
  TX_DEVICE bf16* v(const Held& w, int unit) const { return q(w, unit) + 3 * operand_size<D>; }
  // Of each query 32 keys. Part 0: weights after dropout, without its factor; 1: gradients of the
  // weights' logarithms.
  TX_DEVICE bf16* weights(const Held& w, int unit, int part) const {
    return memory + operands + part * weights_size + unit * w.tiles.rows * weight_pitch;
  }
  TX_DEVICE float* lse(const Held& w, int unit) const {
    return reinterpret_cast<float*>(memory + rows) + unit * w.tiles.rows;
  }
  TX_DEVICE float* dot(const Held& w, int unit) const { return lse(w, unit) + all_rows; }
  // Kept keys of the tile: for each query a bit each.
  TX_DEVICE uint8_t* kept(const Held& w, int unit) const {
    return reinterpret_cast<uint8_t*>(memory + rows) + 2 * all_rows * sizeof(float) +
           unit * w.tiles.rows * w.tiles.rows / 8;
  }
};

// The query head of a unit: those in shared memory begin with the `reader`-th that reads w.kv.
TX_DEVICE int query_head(const Attention& p, const Held& w, int unit, int reader) {
  return w.kv * (p.heads / p.kv_heads) + reader + unit;
}

TX_DEVICE void draw_masks(const Attention& p, const Held& w, int head, uint8_t* kept) {
  const int rows = min(w.queries.count - w.q0, w.tiles.rows), each = w.tiles.rows / 8;
  const int limit = min(w.keys.count - w.k0, w.tiles.rows);
  for (int e = fresh_thread(); e < rows * each; e += tile_warps * warp_size) {
    const int i = e / each, key = e % each * 8, at = w.k0 + key;
    if (key < limit && at < visible_keys(p, w.q0 + i, w.keys.count))
      kept[e] = uint8_t(kept_keys(p.drop, w.queries.first + w.q0 + i, at / 8, head));
  }
}

// Loads the tiles of queries q0 .. of these heads and of keys k0 .. where needed, and the dots.
template <int D>
TX_DEVICE void hold(const Attention& p, const AttentionGradient& g, const float* dots, Held& w,
                    HeldTiles<D> shared, int reader, int q0, int k0) {
  const bool new_q = w.reader != reader || w.q0 != q0, new_k = w.k0 != k0;
  if (!new_q && !new_k) return;
  __syncthreads();
  w.reader = reader, w.q0 = q0, w.k0 = k0;
  const int most = w.tiles.rows;
  for (int u = 0; u < w.tiles.heads; ++u) {
    const int head = query_head(p, w, u, reader), kv = kv_head_of(p, head);
    if (new_q) {
      load_tile<D>(shared.q(w, u), rows_of<const bf16>(p.q, w.queries, head, p.d_k), q0, most,
                   w.packed);
      load_tile<D>(shared.d_o(w, u), rows_of<const bf16>(g.d_o, w.queries, head, p.d_v), q0, most,
                   w.packed);
      for (int i = fresh_thread(); i < most; i += tile_warps * warp_size) {
        const bool inside = q0 + i < w.queries.count;  // the weights of rows beyond are zero
        const int64_t at = int64_t(w.queries.first + q0 + i) * p.heads + head;
        shared.lse(w, u)[i] = inside ? static_cast<const float*>(p.lse)[at] : INFINITY;
        shared.dot(w, u)[i] = inside && dots ? dots[at] : 0.f;
      }
    }
    if (new_k) {
      load_tile<D>(shared.k(w, u), rows_of<const bf16>(p.k, w.keys, kv, p.d_k), k0, most, w.packed);
      load_tile<D>(shared.v(w, u), rows_of<const bf16>(p.v, w.keys, kv, p.d_v), k0, most, w.packed);
    }
    if (p.drop.threshold) draw_masks(p, w, head, shared.kept(w, u));
  }
  copy_async_commit();
  copy_async_wait<0>();
  __syncthreads();
}

// A group of 16 queries, which a warp multiplies with all keys: rows `first` .. of a tile.
struct QueryGroup {
  int unit, first;
  float dot[2];  // of rows tile_row(0) and tile_row(1); of this lane's keys before finish_dots()
};
TX_DEVICE QueryGroup query_group(const Held& w) {
  return {tile_warp() % w.tiles.heads, tile_warp() / w.tiles.heads * 16, {0, 0}};
}

// The number of leading keys that the group's queries attend to; 0 if it has no queries.
TX_DEVICE int group_keys(const Attention& p, const Held& w, const QueryGroup& group) {
  const int first = w.q0 + group.first, end = min(first + 16, w.queries.count);
  return group.first < w.tiles.rows && first < end ? visible_keys(p, end - 1, w.keys.count) : 0;
}

// Weights c of the group and their gradients d against `groups` groups of keys from `key0` on, a
// row of the tile. Dropped weights become negative.
template <int D>
TX_DEVICE void recompute(const Attention& p, const Held& w, HeldTiles<D> shared,
                         const QueryGroup& group, int key0, int groups, Product16 (&c)[step_groups],
                         Product16 (&d)[step_groups]) {
  const int unit = group.unit;
#pragma unroll
  for (int i = 0; i < step_groups; ++i) {
    if (i >= groups) break;
    const int at = key0 * tile_pitch<D> + i * group_size<D>;
    multiply<D>(c[i], shared.q(w, unit) + group.first * tile_pitch<D>, shared.k(w, unit) + at);
    multiply<D>(d[i], shared.d_o(w, unit) + group.first * tile_pitch<D>, shared.v(w, unit) + at);
  }
  const Sight sight = sight_of(p, w.q0, w.k0 + key0, w.keys.count);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int row = group.first + tile_row(h), seen = sight.of(row);
    const float lse = shared.lse(w, unit)[row];
    uint32_t kept = ~0u;
    if (p.drop.threshold)
      kept = *reinterpret_cast<const uint32_t*>(shared.kept(w, unit) +
                                                (row * w.tiles.rows + key0) / 8) >>
             tile_column(0);
#pragma unroll
    for (int i = 0; i < step_groups; ++i) {
      if (i >= groups) break;
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int key = i * 16 + tile_column(e / 2) + e % 2;
        float &weight = c[i][e / 2][2 * h + e % 2], &gradient = d[i][e / 2][2 * h + e % 2];
        weight = key < seen ? __expf(weight * float(p.scale) - lse) : 0.f;
        const bool keep = kept >> (i * 16 + e / 2 * 8 + e % 2) & 1;
        gradient = keep && key < seen ? gradient * float(p.drop.scale) : 0.f;
        weight = keep ? weight : -weight;
      }
    }
  }
}

// Adds the contributions of these keys to the lane's partial dots. d of a dropped weight is 0.
TX_DEVICE void add_dots(QueryGroup& group, int groups, const Product16 (&c)[step_groups],
                        const Product16 (&d)[step_groups]) {
#pragma unroll
  for (int i = 0; i < step_groups; ++i) {
    if (i >= groups) break;
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      float& dot = group.dot[e % 4 / 2];
      dot = fmaf(c[i][e / 4][e % 4], d[i][e / 4][e % 4], dot);
    }
  }
}
TX_DEVICE void finish_dots(QueryGroup& group) {
  group.dot[0] = row_sum(group.dot[0]), group.dot[1] = row_sum(group.dot[1]);
}

// Weights of these keys after dropout.
TX_DEVICE void weights_of(const Product16& c, Fragment& to) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
    to[i] = bf16_pair(fmaxf(c[i / 2][i % 2 * 2], 0), fmaxf(c[i / 2][i % 2 * 2 + 1], 0));
}

// Gradients of the weights' logarithms. The dots must be complete.
TX_DEVICE void log_gradients_of(const QueryGroup& group, const Product16& c, const Product16& d,
                                Fragment& to) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float *w = &c[i / 2][i % 2 * 2], *gradient = &d[i / 2][i % 2 * 2];
    to[i] = bf16_pair(fabsf(w[0]) * (gradient[0] - group.dot[i % 2]),
                      fabsf(w[1]) * (gradient[1] - group.dot[i % 2]));
  }
}

// Puts a fragment of the group's rows to columns 16 * i on of HeldTiles::weights().
TX_DEVICE void put(bf16* weights, const QueryGroup& group, int i, const Fragment& x) {
#pragma unroll
  for (int j = 0; j < 4; ++j)
    *reinterpret_cast<uint32_t*>(weights + (group.first + tile_row(j % 2)) * weight_pitch + i * 16 +
                                 tile_column(j / 2)) = x[j];
}

// sum: the group's part of dq, or dv or dk of 16 keys.
template <int D>
TX_DEVICE void clear(float (&sum)[D / 8][4]) {
#pragma unroll
  for (int i = 0; i < D / 2; ++i) sum[i / 4][i % 4] = 0;
}

template <int D>
TX_DEVICE void assign_dq(const Attention& p, const AttentionGradient& g, const Held& w, int reader,
                         int q0, const QueryGroup& group, const float (&sum)[D / 8][4]) {
  if (group.first >= w.tiles.rows || q0 + group.first >= w.queries.count) return;
  const float scale[2] = {float(p.scale), float(p.scale)};
  assign<D>(rows_of<bf16>(g.dq, w.queries, query_head(p, w, group.unit, reader), p.d_k),
            q0 + group.first, sum, scale, w.packed);
}

// In the second half of a step a warp has a group of 16 of its keys: of two warps one sums dv (part
// 0), the other dk (part 1).
TX_DEVICE int key_part() { return tile_warp() / step_groups; }
TX_DEVICE int key_group() { return tile_warp() % step_groups * 16; }

// Adds the queries of a unit. key: the first of the group.
template <int D>
TX_DEVICE void add_queries(const Attention& p, const Held& w, HeldTiles<D> shared, int unit,
                           int key, float (&sum)[D / 8][4]) {
  const int lane = fresh_lane(), end = min(w.queries.count - w.q0, w.tiles.rows);
  const bf16* weights = shared.weights(w, unit, key_part()) + key_group() +
                        (lane / 16 * 8 + lane % 8) * weight_pitch + lane / 8 % 2 * 8;
  const bf16* rows = key_part() == 0 ? shared.d_o(w, unit) : shared.q(w, unit);
  for (int i = p.causal ? max(key - w.q0, 0) : 0; i < end; i += 16) {
    Fragment x[1];
    ldmatrix_x4_transposed(x[0], weights + i * weight_pitch);
    accumulate<D>(sum, x, rows + i * tile_pitch<D>);
  }
}

template <int D>
TX_DEVICE void assign_keys(const Attention& p, const AttentionGradient& g, const Held& w, int kv,
                           int key, const float (&sum)[D / 8][4]) {
  if (key >= w.keys.count) return;
  const bool values = key_part() == 0;
  const float scale = float(values ? p.drop.scale : p.scale), factor[2] = {scale, scale};
  assign<D>(rows_of<bf16>(values ? g.dv : g.dk, w.keys, kv, values ? p.d_v : p.d_k), key, sum,
            factor, w.packed);
}

}  // namespace tx::attention_gradient
