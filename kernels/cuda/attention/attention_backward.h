// What a block of attention_backward.cu has in shared memory, and how it gets there.
#pragma once
#include "kernels/cuda/attention/attention_tiles.h"

namespace tx {

// What a block works on, and which tiles it holds.
struct Held {
  Span queries, keys;
  int kv;  // the first of the key/value heads in shared memory
  Tiles tiles;
  bool packed;
  int reader = -1, q0 = -1, k0 = -1;
};

template <int D>
struct HeldTiles {
  static constexpr size_t rows = size_t(4) * operand_size<D>;
  static constexpr size_t bytes =
      rows * sizeof(bf16) + 2 * all_rows * sizeof(float) + all_rows * all_rows / 8;
  bf16* memory;

  TX_DEVICE bf16* q(const Held& w, int unit) const {
    return memory + unit * w.tiles.rows * tile_pitch<D>;
  }
  TX_DEVICE bf16* d_o(const Held& w, int unit) const { return q(w, unit) + operand_size<D>; }
  TX_DEVICE bf16* k(const Held& w, int unit) const { return q(w, unit) + 2 * operand_size<D>; }
  TX_DEVICE bf16* v(const Held& w, int unit) const { return q(w, unit) + 3 * operand_size<D>; }
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

// The query head that reads key/value head kv + unit as its `reader`-th.
TX_DEVICE int query_head(const Attention& p, const Held& w, int unit, int reader) {
  return (w.kv + unit) * (p.heads / p.kv_heads) + reader;
}

TX_DEVICE void draw_masks(const Attention& p, const Held& w, int head, uint8_t* kept) {
  const int rows = min(w.queries.count - w.q0, w.tiles.rows), each = w.tiles.rows / 8;
  const int limit = min(w.keys.count - w.k0, w.tiles.rows);
  for (int e = int(threadIdx.x); e < rows * each; e += tile_warps * warp_size) {
    const int i = e / each, key = e % each * 8, at = w.k0 + key;
    if (key < limit && at < visible_keys(p, w.q0 + i, w.keys.count))
      kept[e] = uint8_t(kept_keys(p.drop, w.queries.first + w.q0 + i, at / 8, head));
  }
}

// Makes w hold queries q0 .. of the reader-th query heads and keys k0 ..; dots that are known
// already come from memory.
template <int D>
TX_DEVICE void hold(const Attention& p, const AttentionGradient& g, const float* dots, Held& w,
                    HeldTiles<D> shared, int reader, int q0, int k0) {
  const bool new_q = w.reader != reader || w.q0 != q0, new_k = w.k0 != k0;
  if (!new_q && !new_k) return;
  __syncthreads();
  w.reader = reader, w.q0 = q0, w.k0 = k0;
  const int most = w.tiles.rows;
  for (int u = 0; u < w.tiles.heads; ++u) {
    const int head = query_head(p, w, u, reader), kv = w.kv + u;
    if (new_q) {
      load_tile<D>(shared.q(w, u), rows_of<const bf16>(p.q, w.queries, head, p.d_k), q0, most,
                   w.packed);
      load_tile<D>(shared.d_o(w, u), rows_of<const bf16>(g.d_o, w.queries, head, p.d_v), q0, most,
                   w.packed);
      for (int i = int(threadIdx.x); i < most; i += tile_warps * warp_size) {
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

}  // namespace tx
