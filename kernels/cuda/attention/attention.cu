// softmax(q k^T scale) v of packed sentences on tensor cores (attention_tiles.h). A block takes all
// queries of one sentence and of one or two heads, 64 at a time, with 64 keys and values in shared
// memory; its warps share out the groups of 16 queries of both heads. Most sentences have one tile
// of keys, which is then loaded once; longer ones run the softmax over their tiles, always from key
// 0 on, so that a query has the same bits whatever the other queries are.
#include "kernels/cuda/attention/attention_tiles.h"
#include "kernels/cuda/runtime/profile.h"

namespace tx {
namespace {

// One group of 16 queries: its softmax so far, of rows tile_row(0) and tile_row(1).
template <int D>
struct Group {
  float most[2], sum[2], o[D / 8][4];
};

template <int D>
struct Shared {
  static constexpr size_t masks = size_t(tile_heads<D>) * 3 * tile_size<D>;
  static constexpr size_t bytes = masks * sizeof(bf16) + tile_warps * 16 * 8;
  bf16* memory;

  TX_DEVICE bf16* q(int unit) const { return memory + unit * 3 * tile_size<D>; }
  TX_DEVICE bf16* k(int unit) const { return q(unit) + tile_size<D>; }
  TX_DEVICE bf16* v(int unit) const { return q(unit) + 2 * tile_size<D>; }
  // A byte for each of 16 queries and 8 blocks of keys, of this warp.
  TX_DEVICE uint8_t* kept() const {
    return reinterpret_cast<uint8_t*>(memory + masks) + tile_warp() * 16 * 8;
  }
};

// What a block works on.
struct Work {
  Span queries, keys;
  int head, heads;  // the first of its heads, and how many
  bool packed;
};

// Tiles of all heads of the block: queries from q0 on, keys and values from k0 on.
template <int D>
TX_DEVICE void load_tiles(const Attention& p, const Work& w, Shared<D> shared, int q0, int k0,
                          bool load_q, bool load_k) {
  __syncthreads();
  for (int u = 0; u < w.heads; ++u) {
    const int head = w.head + u, kv = kv_head_of(p, head);
    if (load_q)
      load_tile<D>(shared.q(u), rows_of<const bf16>(p.q, w.queries, head, p.d_k), q0, w.packed);
    if (load_k) {
      load_tile<D>(shared.k(u), rows_of<const bf16>(p.k, w.keys, kv, p.d_k), k0, w.packed);
      load_tile<D>(shared.v(u), rows_of<const bf16>(p.v, w.keys, kv, p.d_v), k0, w.packed);
    }
  }
  copy_async_commit();
  copy_async_wait<0>();
  __syncthreads();
}

// Weights of dropped keys become zero. Each draw of the warp serves the four lanes of one row.
TX_DEVICE void drop_weights(const Attention& p, const Work& w, int head, int first, int k0,
                            int groups, uint8_t* kept, Product16 (&c)[tile_groups]) {
  __syncwarp();
  for (int e = tile_lane(); e < 32 * groups; e += warp_size) {
    const int row = min(first + e % 16, w.queries.count - 1);
    kept[e % 16 * 8 + e / 16] =
        uint8_t(kept_keys(p.drop, w.queries.first + row, k0 / 8 + e / 16, head));
  }
  __syncwarp();
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const uint64_t bits =
        *reinterpret_cast<const uint64_t*>(kept + tile_row(h) * 8) >> tile_column(0);
#pragma unroll
    for (int g = 0; g < tile_groups; ++g) {
      if (g >= groups) break;
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (!(bits >> (g * 16 + i / 2 * 8 + i % 2) & 1)) c[g][i / 2][2 * h + i % 2] = 0;
    }
  }
}

// Scores become weights, not yet divided by their sum; the sums so far are scaled to match.
// seen[h]: the keys of this tile that row h sees.
template <int D>
TX_DEVICE void softmax_step(Group<D>& group, Product16 (&c)[tile_groups], int groups,
                            const int (&seen)[2], float scale) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    float next = -INFINITY;
#pragma unroll
    for (int g = 0; g < tile_groups; ++g) {
      if (g >= groups) break;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float& x = c[g][i / 2][2 * h + i % 2];
        if (g * 16 + tile_column(i / 2) + i % 2 >= seen[h]) x = -INFINITY;
        next = fmaxf(next, x);
      }
    }
    next = fmaxf(group.most[h], row_max(next));
    const float factor = __expf((group.most[h] - next) * scale);
    group.most[h] = next;
    group.sum[h] *= factor;
#pragma unroll
    for (int g = 0; g < tile_groups; ++g) {
      if (g >= groups) break;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float& x = c[g][i / 2][2 * h + i % 2];
        x = __expf((x - next) * scale);
        group.sum[h] += x;
      }
    }
#pragma unroll
    for (int n = 0; n < D / 8; ++n) group.o[n][2 * h] *= factor, group.o[n][2 * h + 1] *= factor;
  }
}

// Keys k0 .. k0 + 63 for queries first .. first + 15, which are the rows at `q`.
template <int D>
TX_DEVICE void step(const Attention& p, const Work& w, Shared<D> shared, int unit, const bf16* q,
                    int first, int k0, Group<D>& group) {
  const int last = min(first + 16, w.queries.count) - 1;
  const int groups = min((visible_keys(p, last, w.keys.count) - k0 + 15) / 16, tile_groups);
  if (groups <= 0) return;  // the same for the warp
  Product16 c[tile_groups];
  Left<D> a;
  load_left<D>(a, q);
#pragma unroll
  for (int g = 0; g < tile_groups; ++g) {
    if (g >= groups) break;
    multiply<D>(c[g], a, shared.k(unit) + g * group_size<D>);
  }
  const Sight sight = sight_of(p, first, k0, w.keys.count);
  const int seen[2] = {sight.of(tile_row(0)), sight.of(tile_row(1))};
  softmax_step<D>(group, c, groups, seen, float(p.scale));
  if (p.drop.threshold) drop_weights(p, w, w.head + unit, first, k0, groups, shared.kept(), c);
#pragma unroll
  for (int g = 0; g < tile_groups; ++g) {
    if (g >= groups) break;
    accumulate<D>(group.o, c[g], shared.v(unit) + g * group_size<D>);
  }
}

template <int D>
TX_DEVICE void finish(const Attention& p, const Work& w, int unit, int first,
                      const Group<D>& group) {
  const int head = w.head + unit;
  float factor[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const float sum = row_sum(group.sum[h]);
    const int row = first + tile_row(h);
    factor[h] = w.keys.count > 0 ? float(p.drop.scale) / sum : 0.f;  // no key: zeros
    if (p.lse && tile_lane() % 4 == 0 && row < w.queries.count)
      static_cast<float*>(p.lse)[int64_t(w.queries.first + row) * p.heads + head] =
          w.keys.count > 0 ? group.most[h] * float(p.scale) + logf(sum) : -INFINITY;
  }
  assign<D>(rows_of<bf16>(p.o, w.queries, head, p.d_v), first, group.o, factor, w.packed);
}

// Grid: sentences, heads (in twos), slots.
template <int D>
__global__ void __launch_bounds__(tile_warps* warp_size, D <= 64 ? 4 : 2)
    forward(Attention p, bool packed) {
  const Shared<D> shared{dynamic_shared<bf16>()};
  const int head = int(blockIdx.y) * tile_heads<D>;
  const Work w{span_of(p.q_offsets, blockIdx.x), span_of(p.k_offsets, blockIdx.x), head,
               min(tile_heads<D>, p.heads - head), packed};
  int loaded_q = -1, loaded_k = -1;
  for (int q0 = int(blockIdx.z) * tile_rows; q0 < w.queries.count;
       q0 += int(gridDim.z) * tile_rows) {
    const int rows = min(tile_rows, w.queries.count - q0), items = (rows + 15) / 16 * w.heads;
    const int limit = visible_keys(p, q0 + rows - 1, w.keys.count);
    for (int item = tile_warp(); item - tile_warp() < items; item += tile_warps) {
      const int unit = item % w.heads, group_index = item / w.heads;
      const int first = q0 + group_index * 16;
      const bf16* q = shared.q(unit) + group_index * group_size<D>;
      Group<D> group;
      group.most[0] = group.most[1] = -INFINITY;
      group.sum[0] = group.sum[1] = 0;
#pragma unroll
      for (int i = 0; i < D / 2; ++i) group.o[i / 4][i % 4] = 0;
      for (int k0 = 0; k0 < limit; k0 += tile_rows) {
        if (loaded_q != q0 || loaded_k != k0)
          load_tiles<D>(p, w, shared, q0, k0, loaded_q != q0, loaded_k != k0);
        loaded_q = q0, loaded_k = k0;
        if (item < items) step<D>(p, w, shared, unit, q, first, k0, group);
      }
      if (item < items) finish<D>(p, w, unit, first, group);
    }
  }
}

}  // namespace

void Cuda::attention(const Attention& p) {
  const Timed timed(*state_, "attention", traffic(p.q, p.k, p.v, p.o));
  TX_ASSERT(p.heads % p.kv_heads == 0);
  if (!takes_tiles(p)) return plain_attention(*state_, p);
  const bool packed = tile_packs(p.q, p.d_k) && tile_packs(p.k, p.d_k) && tile_packs(p.v, p.d_v) &&
                      tile_packs(p.o, p.d_v);
  with_tiles(std::max(p.d_k, p.d_v), [&](auto d) {
    constexpr int D = decltype(d)::value;
    const unsigned heads = blocks_of(p.heads, tile_heads<D>);
    const unsigned slots = tile_slots(*state_, p.sentences, heads, p.q.rows, tile_rows);
    launch(*state_, forward<D>, dim3(unsigned(p.sentences), heads, slots), tile_warps * warp_size,
           Shared<D>::bytes, p, packed);
  });
}

}  // namespace tx
