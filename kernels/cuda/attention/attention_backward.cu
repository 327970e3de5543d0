// The gradient of attention on tensor cores (attention_tiles.h). A block takes one sentence and two
// key/value heads, with tiles of q, d_o, k and v in shared memory, and recomputes the weights
// from the kept log-sum-exps. First dq, each warp 16 queries against all keys, 32 at a time; then
// dk and dv, each warp 16 keys against all queries of all query heads that read them: every element
// has one writer and one order of summation. Sentences of up to 64 tokens load their tiles, and
// draw their masks, once for both.
//   gradient of a weight's logarithm: weight * (dp - dot), dp = dropout(d_o . v), dot = sum of
//   weight * dp over the keys of a query.
#include "kernels/cuda/attention/attention_tiles.h"
#include "kernels/cuda/runtime/profile.h"

namespace tx {
namespace {

// The work of a block, and the tiles in its shared memory.
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

// The masks of query i of the tile in keys 8 * block on; all ones without dropout.
template <class T>
TX_DEVICE T kept_bits(const Attention& p, const Held& w, const uint8_t* kept, int i, int block) {
  if (!p.drop.threshold) return T(~T(0));
  return *reinterpret_cast<const T*>(kept + i * (w.tiles.rows / 8) + block);
}

// One group of 16 queries, rows `first` .. of the tile.
template <int D>
struct QueryGroup {
  int unit, first;
  float dot[2] = {0, 0}, dq[D / 8][4];
};

// Weights c of the group and their gradients d against `groups` groups of keys from `key0` on.
template <int D>
TX_DEVICE void recompute(const Attention& p, const Held& w, HeldTiles<D> shared,
                         const QueryGroup<D>& group, int key0, int groups,
                         Product16 (&c)[step_groups], Product16 (&d)[step_groups]) {
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
    const uint32_t kept =
        kept_bits<uint32_t>(p, w, shared.kept(w, unit), row, key0 / 8) >> tile_column(0);
#pragma unroll
    for (int i = 0; i < step_groups; ++i) {
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

// Adds the contributions of these keys to the lane's partial dots.
template <int D>
TX_DEVICE void add_dots(QueryGroup<D>& group, int groups, const Product16 (&c)[step_groups],
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

// Adds the contributions of these keys, the rows at `k`, to dq. The dots must be complete.
template <int D>
TX_DEVICE void add_dq(const bf16* k, QueryGroup<D>& group, int groups, Product16 (&c)[step_groups],
                      const Product16 (&d)[step_groups]) {
#pragma unroll
  for (int i = 0; i < step_groups; ++i) {
    if (i >= groups) break;
#pragma unroll
    for (int e = 0; e < 8; ++e) c[i][e / 4][e % 4] *= d[i][e / 4][e % 4] - group.dot[e % 4 / 2];
    accumulate<D>(group.dq, c[i], k + i * group_size<D>);
  }
}

// dq and the dots of a tile of queries of one head per unit. More than 32 keys are visited twice.
template <int D>
TX_DEVICE void query_tile(const Attention& p, const AttentionGradient& g, float* dots, Held& w,
                          HeldTiles<D> shared, int reader, int q0) {
  QueryGroup<D> group;
  group.unit = tile_warp() % w.tiles.heads, group.first = tile_warp() / w.tiles.heads * 16;
#pragma unroll
  for (int i = 0; i < D / 2; ++i) group.dq[i / 4][i % 4] = 0;
  const int end = min(q0 + w.tiles.rows, w.queries.count);
  const int limit = visible_keys(p, end - 1, w.keys.count);
  const bool works = group.first < w.tiles.rows && q0 + group.first < end;
  const int mine = works ? visible_keys(p, min(q0 + group.first + 16, end) - 1, w.keys.count) : 0;
  const bool once = limit <= step_keys;
  for (int pass = once ? 1 : 0; pass < 2; ++pass) {
    for (int k0 = 0; k0 < limit; k0 += step_keys) {
      const int key0 = k0 % w.tiles.rows;
      hold<D>(p, g, nullptr, w, shared, reader, q0, k0 - key0);
      const int groups = min((mine - k0 + 15) / 16, step_groups);
      if (groups <= 0) continue;  // the same for the whole warp
      Product16 c[step_groups], d[step_groups];
      recompute<D>(p, w, shared, group, key0, groups, c, d);
      if (once || pass == 0) add_dots<D>(group, groups, c, d);
      if (once) group.dot[0] = row_sum(group.dot[0]), group.dot[1] = row_sum(group.dot[1]);
      if (pass == 1) add_dq<D>(shared.k(w, group.unit) + key0 * tile_pitch<D>, group, groups, c, d);
    }
    if (pass == 0) group.dot[0] = row_sum(group.dot[0]), group.dot[1] = row_sum(group.dot[1]);
  }
  if (!works) return;
  const int head = query_head(p, w, group.unit, reader);
  const float scale[2] = {float(p.scale), float(p.scale)};
  assign<D>(rows_of<bf16>(g.dq, w.queries, head, p.d_k), q0 + group.first, group.dq, scale,
            w.packed);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int row = group.first + tile_row(h);
    if (tile_lane() % 4 != 0 || q0 + row >= end) continue;
    dots[int64_t(w.queries.first + q0 + row) * p.heads + head] = group.dot[h];
    shared.dot(w, group.unit)[row] = group.dot[h];
  }
}

// One group of 16 keys, rows `first` .. of the tile.
template <int D>
struct KeyGroup {
  int unit, first;
  float dk[D / 8][4], dv[D / 8][4];
};

// Adds the part of queries `first` .. first + 15 to dk and dv: c, d as in recompute(), transposed.
template <int D>
TX_DEVICE void add_queries(const Attention& p, const Held& w, HeldTiles<D> shared, int first,
                           KeyGroup<D>& group) {
  const int unit = group.unit;
  const bf16* q = shared.q(w, unit) + first * tile_pitch<D>;
  const bf16* d_o = shared.d_o(w, unit) + first * tile_pitch<D>;
  const Sight sight = sight_of(p, w.q0, w.k0, w.keys.count);
  Product16 c, d;
  multiply<D>(c, shared.k(w, unit) + group.first * tile_pitch<D>, q);
  multiply<D>(d, shared.v(w, unit) + group.first * tile_pitch<D>, d_o);
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const int row = first + tile_column(e / 2) + e % 2;
    const int seen = sight.of(row);
    const float lse = shared.lse(w, unit)[row], dot = shared.dot(w, unit)[row];
    const int kept = kept_bits<uint16_t>(p, w, shared.kept(w, unit), row, group.first / 8);
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

// dk and dv of a tile of keys from k0 on.
template <int D>
TX_DEVICE void key_tile(const Attention& p, const AttentionGradient& g, const float* dots, Held& w,
                        HeldTiles<D> shared, int k0) {
  const int rows = w.tiles.rows;
  KeyGroup<D> group;
  group.unit = tile_warp() % w.tiles.heads, group.first = tile_warp() / w.tiles.heads * 16;
#pragma unroll
  for (int i = 0; i < D / 2; ++i) group.dk[i / 4][i % 4] = group.dv[i / 4][i % 4] = 0;
  const bool works = group.first < rows && k0 + group.first < w.keys.count;
  // The first query that attends to a key.
  const auto first_seeing = [&](int key) { return p.causal ? key : 0; };
  const int mine = first_seeing(k0 + group.first);
  for (int reader = 0; reader < p.heads / p.kv_heads; ++reader)
    for (int q0 = first_seeing(k0) / rows * rows; q0 < w.queries.count; q0 += rows) {
      hold<D>(p, g, dots, w, shared, reader, q0, k0);
      const int end = works ? min(w.queries.count - q0, rows) : 0;
      for (int first = max(mine - q0, 0) / 16 * 16; first < end; first += 16)
        add_queries<D>(p, w, shared, first, group);
    }
  if (!works) return;
  const float scale[2] = {float(p.scale), float(p.scale)};
  const float drop[2] = {float(p.drop.scale), float(p.drop.scale)};
  assign<D>(rows_of<bf16>(g.dk, w.keys, w.kv + group.unit, p.d_k), k0 + group.first, group.dk,
            scale, w.packed);
  assign<D>(rows_of<bf16>(g.dv, w.keys, w.kv + group.unit, p.d_v), k0 + group.first, group.dv, drop,
            w.packed);
}

// Blocks per multiprocessor: as many as registers allow almost without spilling.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
template <int D>
constexpr int blocks_each = D <= 32   ? 4
                            : D <= 64 ? 3
                                      : 2;
#else
template <int D>
constexpr int blocks_each = D <= 32   ? 5
                            : D <= 64 ? 4
                                      : 2;
#endif

// Grid: sentences, pairs of key/value heads. dots (T,H): scratch.
template <int D>
__global__ void __launch_bounds__(tile_warps* warp_size, blocks_each<D>)
    backward(Attention p, AttentionGradient g, float* dots, bool packed) {
  const HeldTiles<D> shared{dynamic_shared<bf16>()};
  const int first = int(blockIdx.y) * tile_heads, end = min(first + tile_heads, p.kv_heads);
  Held w;
  w.queries = span_of(p.q_offsets, blockIdx.x), w.keys = span_of(p.k_offsets, blockIdx.x);
  w.tiles = tiles_of(w.queries.count, w.keys.count, end - first);
  w.packed = packed;
  for (w.kv = first; w.kv < end; w.kv += w.tiles.heads) {
    w.reader = w.q0 = w.k0 = -1;
    for (int reader = 0; reader < p.heads / p.kv_heads; ++reader)
      for (int q0 = 0; q0 < w.queries.count; q0 += w.tiles.rows)
        query_tile<D>(p, g, dots, w, shared, reader, q0);
    __syncthreads();  // the dots are read by all
    for (int k0 = 0; k0 < w.keys.count; k0 += w.tiles.rows) key_tile<D>(p, g, dots, w, shared, k0);
  }
}

}  // namespace

void Cuda::attention_backward(const Attention& p, const AttentionGradient& g) {
  const Timed timed(*state_, "attention, backward",
                    traffic(p.q, p.k, p.v, p.o, g.d_o, g.dq, g.dk, g.dv));
  TX_ASSERT(p.heads % p.kv_heads == 0);
  auto* dots = static_cast<float*>(state_->scratch(plain_scratch(*state_, p, g)));
  if (!takes_tiles(p)) return plain_attention_backward(*state_, p, g, dots);
  const bool packed = tile_packs(p.q, p.d_k) && tile_packs(p.k, p.d_k) && tile_packs(p.v, p.d_v) &&
                      tile_packs(g.d_o, p.d_v) && tile_packs(g.dq, p.d_k) &&
                      tile_packs(g.dk, p.d_k) && tile_packs(g.dv, p.d_v);
  with_tiles(std::max(p.d_k, p.d_v), [&](auto d) {
    constexpr int D = decltype(d)::value;
    launch(*state_, backward<D>, dim3(unsigned(p.sentences), blocks_of(p.kv_heads, tile_heads)),
           tile_warps * warp_size, HeldTiles<D>::bytes, p, g, dots, packed);
  });
}

}  // namespace tx
