// The gradient of attention on tensor cores (attention_tiles.h). A block takes one sentence and one
// or two key/value heads, with tiles of q, d_o, k and v in shared memory, and computes the weights
// again from the kept log-sum-exps. First dq, each warp 16 queries against all keys; then dk and
// dv, each warp 16 keys against all queries of all query heads that read them: every element has
// one writer and one order of summation. Sentences of up to 64 tokens load their tiles, and draw
// their masks, once for both.
//   gradient of a weight's logarithm: weight * (dp - dot), dp = dropout(d_o . v), dot = sum of
//   weight * dp over the keys of a query.
#include "kernels/cuda/attention/attention_tiles.h"
#include "kernels/cuda/runtime/profile.h"

namespace tx {
namespace {

constexpr int blocks_each = tile_rows / 8;  // of 8 keys, in a tile

// What a block works on, and which tiles it holds.
struct Work {
  Span queries, keys;
  int kv, heads;  // the first of its key/value heads, and how many
  bool packed;
  int reader = -1, q0 = -1, k0 = -1;
};

template <int D>
struct Shared {
  static constexpr int units = tile_heads<D>;
  static constexpr size_t rows = size_t(units) * 4 * tile_size<D>;
  static constexpr size_t bytes =
      rows * sizeof(bf16) + units * 2 * tile_rows * sizeof(float) + units * tile_rows * blocks_each;
  bf16* memory;

  TX_DEVICE bf16* q(int unit) const { return memory + unit * 4 * tile_size<D>; }
  TX_DEVICE bf16* d_o(int unit) const { return q(unit) + tile_size<D>; }
  TX_DEVICE bf16* k(int unit) const { return q(unit) + 2 * tile_size<D>; }
  TX_DEVICE bf16* v(int unit) const { return q(unit) + 3 * tile_size<D>; }
  TX_DEVICE float* lse(int unit) const {
    return reinterpret_cast<float*>(memory + rows) + unit * 2 * tile_rows;
  }
  TX_DEVICE float* dot(int unit) const { return lse(unit) + tile_rows; }
  // Kept keys of the tile: a byte for each query and 8 keys.
  TX_DEVICE uint8_t* kept(int unit) const {
    return reinterpret_cast<uint8_t*>(lse(units)) + unit * tile_rows * blocks_each;
  }
};

// The query head that reads key/value head kv + unit as its `reader`-th.
TX_DEVICE int query_head(const Attention& p, const Work& w, int unit, int reader) {
  return (w.kv + unit) * (p.heads / p.kv_heads) + reader;
}

TX_DEVICE void draw_masks(const Attention& p, const Work& w, int head, uint8_t* kept) {
  const int rows = min(w.queries.count - w.q0, tile_rows);
  const int blocks = min((w.keys.count - w.k0 + 7) / 8, blocks_each);
  for (int e = int(threadIdx.x); e < rows * blocks_each; e += tile_warps * warp_size) {
    const int i = e / blocks_each, block = e % blocks_each, at = w.k0 + 8 * block;
    if (block < blocks && at < visible_keys(p, w.q0 + i, w.keys.count))
      kept[e] = uint8_t(kept_keys(p.drop, w.queries.first + w.q0 + i, at / 8, head));
  }
}

// Makes w hold queries q0 .. of the reader-th query heads and keys k0 ..; dots that are known
// already come from memory.
template <int D>
TX_DEVICE void hold(const Attention& p, const AttentionGradient& g, const float* dots, Work& w,
                    Shared<D> shared, int reader, int q0, int k0) {
  const bool new_q = w.reader != reader || w.q0 != q0, new_k = w.k0 != k0;
  if (!new_q && !new_k) return;
  __syncthreads();
  w.reader = reader, w.q0 = q0, w.k0 = k0;
  for (int u = 0; u < w.heads; ++u) {
    const int head = query_head(p, w, u, reader);
    if (new_q) {
      load_tile<D>(shared.q(u), rows_of<const bf16>(p.q, w.queries, head, p.d_k), q0, w.packed);
      load_tile<D>(shared.d_o(u), rows_of<const bf16>(g.d_o, w.queries, head, p.d_v), q0, w.packed);
      for (int i = int(threadIdx.x); i < tile_rows; i += tile_warps * warp_size) {
        const bool inside = q0 + i < w.queries.count;  // the weights of rows beyond are zero
        const int64_t at = int64_t(w.queries.first + q0 + i) * p.heads + head;
        shared.lse(u)[i] = inside ? static_cast<const float*>(p.lse)[at] : INFINITY;
        shared.dot(u)[i] = inside && dots ? dots[at] : 0.f;
      }
    }
    if (new_k) {
      load_tile<D>(shared.k(u), rows_of<const bf16>(p.k, w.keys, w.kv + u, p.d_k), k0, w.packed);
      load_tile<D>(shared.v(u), rows_of<const bf16>(p.v, w.keys, w.kv + u, p.d_v), k0, w.packed);
    }
    if (p.drop.threshold) draw_masks(p, w, head, shared.kept(u));
  }
  copy_async_commit();
  copy_async_wait<0>();
  __syncthreads();
}

// The masks of query i of the tile in keys 8 * block on; all ones where nothing is dropped.
template <class T>
TX_DEVICE T kept_bits(const Attention& p, const uint8_t* kept, int i, int block) {
  return p.drop.threshold ? *reinterpret_cast<const T*>(kept + i * blocks_each + block) : T(~T(0));
}

// One group of 16 queries, rows `first` .. of the tile.
template <int D>
struct QueryGroup {
  int unit, first;
  float dot[2] = {0, 0}, dq[D / 8][4];
};

// Weights c and their gradients d of the group against the first `groups` groups of keys.
template <int D>
TX_DEVICE void recompute(const Attention& p, const Work& w, Shared<D> shared,
                         const QueryGroup<D>& group, int groups, Product16 (&c)[tile_groups],
                         Product16 (&d)[tile_groups]) {
#pragma unroll
  for (int i = 0; i < tile_groups; ++i) {
    if (i >= groups) break;
    multiply<D>(c[i], shared.q(group.unit) + group.first * tile_pitch<D>,
                shared.k(group.unit) + i * group_size<D>);
    multiply<D>(d[i], shared.d_o(group.unit) + group.first * tile_pitch<D>,
                shared.v(group.unit) + i * group_size<D>);
  }
  const Sight sight = sight_of(p, w.q0, w.k0, w.keys.count);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int row = group.first + tile_row(h), seen = sight.of(row);
    const float lse = shared.lse(group.unit)[row];
    const auto kept = kept_bits<uint64_t>(p, shared.kept(group.unit), row, 0) >> tile_column(0);
#pragma unroll
    for (int i = 0; i < tile_groups; ++i) {
      if (i >= groups) break;
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int key = i * 16 + tile_column(e / 2) + e % 2;
        float &weight = c[i][e / 2][2 * h + e % 2], &gradient = d[i][e / 2][2 * h + e % 2];
        weight = key < seen ? __expf(weight * float(p.scale) - lse) : 0.f;
        const bool keep = key < seen && (kept >> (i * 16 + e / 2 * 8 + e % 2) & 1);
        gradient = keep ? gradient * float(p.drop.scale) : 0.f;
      }
    }
  }
}

// Adds the part of the tile's keys to the lane's parts of the dots.
template <int D>
TX_DEVICE void add_dots(QueryGroup<D>& group, int groups, const Product16 (&c)[tile_groups],
                        const Product16 (&d)[tile_groups]) {
#pragma unroll
  for (int i = 0; i < tile_groups; ++i) {
    if (i >= groups) break;
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      float& dot = group.dot[e % 4 / 2];
      dot = fmaf(c[i][e / 4][e % 4], d[i][e / 4][e % 4], dot);
    }
  }
}

// Adds the part of the tile's keys to dq; the dots are complete.
template <int D>
TX_DEVICE void add_dq(Shared<D> shared, QueryGroup<D>& group, int groups,
                      Product16 (&c)[tile_groups], const Product16 (&d)[tile_groups]) {
#pragma unroll
  for (int i = 0; i < tile_groups; ++i) {
    if (i >= groups) break;
#pragma unroll
    for (int e = 0; e < 8; ++e) c[i][e / 4][e % 4] *= d[i][e / 4][e % 4] - group.dot[e % 4 / 2];
    accumulate<D>(group.dq, c[i], shared.k(group.unit) + i * group_size<D>);
  }
}

// dq and the dots of queries q0 .. q0 + 63 of one query head per unit. A single tile of keys is
// visited once, several are visited twice: for the dots, then for dq.
template <int D>
TX_DEVICE void query_tile(const Attention& p, const AttentionGradient& g, float* dots, Work& w,
                          Shared<D> shared, int reader, int q0) {
  const int rows = min(tile_rows, w.queries.count - q0), items = (rows + 15) / 16 * w.heads;
  const int limit = visible_keys(p, q0 + rows - 1, w.keys.count);
  const bool once = limit <= tile_rows;
  for (int item = tile_warp(); item - tile_warp() < items; item += tile_warps) {
    QueryGroup<D> group;
    group.unit = item % w.heads, group.first = item / w.heads * 16;
#pragma unroll
    for (int i = 0; i < D / 2; ++i) group.dq[i / 4][i % 4] = 0;
    const int last = min(q0 + group.first + 16, w.queries.count) - 1;
    const int mine = item < items ? visible_keys(p, last, w.keys.count) : 0;
    for (int pass = once ? 1 : 0; pass < 2; ++pass) {
      for (int k0 = 0; k0 < limit; k0 += tile_rows) {
        hold<D>(p, g, nullptr, w, shared, reader, q0, k0);
        const int groups = min((mine - k0 + 15) / 16, tile_groups);
        if (groups <= 0) continue;  // the same for the whole warp
        Product16 c[tile_groups], d[tile_groups];
        recompute<D>(p, w, shared, group, groups, c, d);
        if (once || pass == 0) add_dots<D>(group, groups, c, d);
        if (once) group.dot[0] = row_sum(group.dot[0]), group.dot[1] = row_sum(group.dot[1]);
        if (pass == 1) add_dq<D>(shared, group, groups, c, d);
      }
      if (pass == 0) group.dot[0] = row_sum(group.dot[0]), group.dot[1] = row_sum(group.dot[1]);
    }
    if (item >= items) continue;
    const int head = query_head(p, w, group.unit, reader);
    const float scale[2] = {float(p.scale), float(p.scale)};
    assign<D>(rows_of<bf16>(g.dq, w.queries, head, p.d_k), q0 + group.first, group.dq, scale,
              w.packed);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = group.first + tile_row(h);
      if (tile_lane() % 4 != 0 || q0 + row >= w.queries.count) continue;
      dots[int64_t(w.queries.first + q0 + row) * p.heads + head] = group.dot[h];
      shared.dot(group.unit)[row] = group.dot[h];
    }
  }
}

// One group of 16 keys, rows `first` .. of the tile.
template <int D>
struct KeyGroup {
  int unit, first;
  float dk[D / 8][4], dv[D / 8][4];
};

// Adds the part of queries `first` .. first + 15 of the tile: c and d as in recompute(),
// transposed.
template <int D>
TX_DEVICE void add_queries(const Attention& p, const Work& w, Shared<D> shared, int first,
                           KeyGroup<D>& group) {
  const bf16* q = shared.q(group.unit) + first * tile_pitch<D>;
  const bf16* d_o = shared.d_o(group.unit) + first * tile_pitch<D>;
  const Sight sight = sight_of(p, w.q0, w.k0, w.keys.count);
  Product16 c, d;
  multiply<D>(c, shared.k(group.unit) + group.first * tile_pitch<D>, q);
  multiply<D>(d, shared.v(group.unit) + group.first * tile_pitch<D>, d_o);
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const int row = first + tile_column(e / 2) + e % 2;
    const int seen = sight.of(row);
    const float lse = shared.lse(group.unit)[row], dot = shared.dot(group.unit)[row];
    const int kept = kept_bits<uint16_t>(p, shared.kept(group.unit), row, group.first / 8);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int key = group.first + tile_row(h);
      float &weight = c[e / 2][2 * h + e % 2], &gradient = d[e / 2][2 * h + e % 2];
      weight = key < seen ? __expf(weight * float(p.scale) - lse) : 0.f;
      const bool keep = key < seen && (kept >> tile_row(h) & 1);
      gradient = weight * ((keep ? gradient * float(p.drop.scale) : 0.f) - dot);
      if (!keep) weight = 0;
    }
  }
  accumulate<D>(group.dv, c, d_o);
  accumulate<D>(group.dk, d, q);
}

// dk and dv of keys k0 .. k0 + 63.
template <int D>
TX_DEVICE void key_tile(const Attention& p, const AttentionGradient& g, const float* dots, Work& w,
                        Shared<D> shared, int k0) {
  const int rows = min(tile_rows, w.keys.count - k0), items = (rows + 15) / 16 * w.heads;
  // The first query that sees a key.
  const auto first_seeing = [&](int key) { return p.causal ? key : 0; };
  for (int item = tile_warp(); item - tile_warp() < items; item += tile_warps) {
    KeyGroup<D> group;
    group.unit = item % w.heads, group.first = item / w.heads * 16;
#pragma unroll
    for (int i = 0; i < D / 2; ++i) group.dk[i / 4][i % 4] = group.dv[i / 4][i % 4] = 0;
    const int mine = first_seeing(k0 + group.first);
    for (int reader = 0; reader < p.heads / p.kv_heads; ++reader)
      for (int q0 = first_seeing(k0) / tile_rows * tile_rows; q0 < w.queries.count;
           q0 += tile_rows) {
        hold<D>(p, g, dots, w, shared, reader, q0, k0);
        const int end = item < items ? min(w.queries.count - q0, tile_rows) : 0;
        for (int first = max(mine - q0, 0) / 16 * 16; first < end; first += 16)
          add_queries<D>(p, w, shared, first, group);
      }
    if (item >= items) continue;
    const float scale[2] = {float(p.scale), float(p.scale)};
    const float drop[2] = {float(p.drop.scale), float(p.drop.scale)};
    assign<D>(rows_of<bf16>(g.dk, w.keys, w.kv + group.unit, p.d_k), k0 + group.first, group.dk,
              scale, w.packed);
    assign<D>(rows_of<bf16>(g.dv, w.keys, w.kv + group.unit, p.d_v), k0 + group.first, group.dv,
              drop, w.packed);
  }
}

// Grid: sentences, key/value heads (in twos). dots (T,H): scratch.
template <int D>
__global__ void __launch_bounds__(tile_warps* warp_size, D <= 64 ? 3 : 2)
    backward(Attention p, AttentionGradient g, float* dots, bool packed) {
  const Shared<D> shared{dynamic_shared<bf16>()};
  Work w;
  w.queries = span_of(p.q_offsets, blockIdx.x), w.keys = span_of(p.k_offsets, blockIdx.x);
  w.kv = int(blockIdx.y) * tile_heads<D>;
  w.heads = min(tile_heads<D>, p.kv_heads - w.kv);
  w.packed = packed;
  for (int reader = 0; reader < p.heads / p.kv_heads; ++reader)
    for (int q0 = 0; q0 < w.queries.count; q0 += tile_rows)
      query_tile<D>(p, g, dots, w, shared, reader, q0);
  __syncthreads();  // the dots are read by all
  for (int k0 = 0; k0 < w.keys.count; k0 += tile_rows) key_tile<D>(p, g, dots, w, shared, k0);
}

}  // namespace

void Cuda::attention_backward(const Attention& p, const AttentionGradient& g) {
  const Timed timed(*state_, "attention, backward",
                    traffic(p.q, p.k, p.v, p.o, g.d_o, g.dq, g.dk, g.dv));
  TX_ASSERT(p.heads % p.kv_heads == 0);
  auto* dots =
      static_cast<float*>(state_->scratch(size_t(p.q.rows) * size_t(p.heads) * sizeof(float)));
  if (!takes_tiles(p)) return plain_attention_backward(*state_, p, g, dots);
  const bool packed = tile_packs(p.q, p.d_k) && tile_packs(p.k, p.d_k) && tile_packs(p.v, p.d_v) &&
                      tile_packs(g.d_o, p.d_v) && tile_packs(g.dq, p.d_k) &&
                      tile_packs(g.dk, p.d_k) && tile_packs(g.dv, p.d_v);
  with_tiles(std::max(p.d_k, p.d_v), [&](auto d) {
    constexpr int D = decltype(d)::value;
    launch(*state_, backward<D>, dim3(unsigned(p.sentences), blocks_of(p.kv_heads, tile_heads<D>)),
           tile_warps * warp_size, Shared<D>::bytes, p, g, dots, packed);
  });
}

}  // namespace tx
