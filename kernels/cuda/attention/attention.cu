// softmax(q k^T scale) v of packed sentences on tensor cores (attention_tiles.h). A block takes all
// queries of one sentence and two heads, each warp 16 queries of one head. Most sentences have one
// tile of keys; for longer ones the softmax is computed online over several. Every query proceeds
// in steps of 32 keys from key 0 on, so that its bits do not depend on the other queries.
#include "kernels/cuda/attention/attention_tiles.h"
#include "kernels/cuda/runtime/profile.h"

namespace tx {
namespace {

// The running softmax of one group of 16 queries, for rows tile_row(0) and tile_row(1).
template <int D>
struct Group {
  float most[2], sum[2], o[D / 8][4];
};

// The work of a block.
struct Work {
  Span queries, keys;
  int head;  // the first of those in shared memory
  Tiles tiles;
  bool packed;
};

template <int D>
struct Shared {
  static constexpr size_t masks = size_t(3) * operand_size<D>;
  static constexpr size_t bytes = masks * sizeof(bf16) + tile_warps * 16 * sizeof(uint32_t);
  bf16* memory;

  TX_DEVICE bf16* q(const Work& w, int unit) const {
    return memory + unit * w.tiles.rows * tile_pitch<D>;
  }
  TX_DEVICE bf16* k(const Work& w, int unit) const { return q(w, unit) + operand_size<D>; }
  TX_DEVICE bf16* v(const Work& w, int unit) const { return q(w, unit) + 2 * operand_size<D>; }
  // Of this warp: for each of 16 queries the bits of 32 keys.
  TX_DEVICE uint32_t* kept() const {
    return reinterpret_cast<uint32_t*>(memory + masks) + tile_warp() * 16;
  }
};

// Tiles of the heads: queries from q0 on, keys and values from k0 on.
template <int D>
TX_DEVICE void load_tiles(const Attention& p, const Work& w, Shared<D> shared, int q0, int k0,
                          bool load_q, bool load_k) {
  __syncthreads();
  for (int u = 0; u < w.tiles.heads; ++u) {
    const int head = w.head + u, kv = kv_head_of(p, head), most = w.tiles.rows;
    if (load_q)
      load_tile<D>(shared.q(w, u), rows_of<const bf16>(p.q, w.queries, head, p.d_k), q0, most,
                   w.packed);
    if (load_k) {
      load_tile<D>(shared.k(w, u), rows_of<const bf16>(p.k, w.keys, kv, p.d_k), k0, most, w.packed);
      load_tile<D>(shared.v(w, u), rows_of<const bf16>(p.v, w.keys, kv, p.d_v), k0, most, w.packed);
    }
  }
  copy_async_commit();
  copy_async_wait<0>();
  __syncthreads();
}

// Bit j of kept[i]: whether key k0 + j of query `first` + i is kept. A draw serves four lanes.
TX_DEVICE void draw_masks(const Attention& p, const Work& w, int head, int first, int k0,
                          int groups, uint32_t* kept) {
  __syncwarp();
  for (int e = tile_lane(); e < 32 * groups; e += warp_size) {
    const int row = min(first + e % 16, w.queries.count - 1);
    reinterpret_cast<uint8_t*>(kept + e % 16)[e / 16] =
        uint8_t(kept_keys(p.drop, w.queries.first + row, k0 / 8 + e / 16, head));
  }
  __syncwarp();
}

// Weights of dropped keys become zero.
TX_DEVICE void drop_weights(const uint32_t* kept, int groups, Product16 (&c)[step_groups]) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const uint32_t bits = kept[tile_row(h)] >> tile_column(0);
#pragma unroll
    for (int g = 0; g < step_groups; ++g) {
      if (g >= groups) break;
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (!(bits >> (g * 16 + i / 2 * 8 + i % 2) & 1)) c[g][i / 2][2 * h + i % 2] = 0;
    }
  }
}

// Scores become weights, not yet divided by their sum. seen[h]: the keys that row h sees.
template <int D>
TX_DEVICE void softmax_step(Group<D>& group, Product16 (&c)[step_groups], int groups,
                            const int (&seen)[2], float scale) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    float next = -INFINITY;
#pragma unroll
    for (int g = 0; g < step_groups; ++g) {
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
    for (int g = 0; g < step_groups; ++g) {
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

// Keys k0 .. k0 + 31, the rows at `k` and `v`, for queries first .. first + 15, the rows at `q`.
template <int D>
TX_DEVICE void step(const Attention& p, const Work& w, int head, const bf16* q, const bf16* k,
                    const bf16* v, int first, int k0, uint32_t* kept, Group<D>& group) {
  const int last = min(first + 16, w.queries.count) - 1;
  const int groups = min((visible_keys(p, last, w.keys.count) - k0 + 15) / 16, step_groups);
  if (groups <= 0) return;  // the same for the warp
  if (p.drop.threshold) draw_masks(p, w, head, first, k0, groups, kept);
  Product16 c[step_groups];
#pragma unroll
  for (int g = 0; g < step_groups; ++g) {
    if (g >= groups) break;
    multiply<D>(c[g], q, k + g * group_size<D>);
  }
  const Sight sight = sight_of(p, first, k0, w.keys.count);
  const int seen[2] = {sight.of(tile_row(0)), sight.of(tile_row(1))};
  softmax_step<D>(group, c, groups, seen, float(p.scale));
  if (p.drop.threshold) drop_weights(kept, groups, c);
#pragma unroll
  for (int g = 0; g < step_groups; ++g) {
    if (g >= groups) break;
    // Weights keep 16 significant bits: one bf16 would lose a bit of precision, and tensor cores
    // are not the bottleneck for short sentences.
    Fragment w[2];
    split(c[g], w[0], w[1]);
    accumulate<D>(group.o, w, v + g * group_size<D>);
  }
}

template <int D>
TX_DEVICE void finish(const Attention& p, const Work& w, int head, int first,
                      const Group<D>& group) {
  float factor[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const float sum = row_sum(group.sum[h]);
    const int row = first + tile_row(h);
    factor[h] = w.keys.count > 0 ? float(p.drop.scale) / sum : 0.f;  // no keys: zeros
    if (p.lse && tile_lane() % 4 == 0 && row < w.queries.count)
      static_cast<float*>(p.lse)[int64_t(w.queries.first + row) * p.heads + head] =
          w.keys.count > 0 ? group.most[h] * float(p.scale) + logf(sum) : -INFINITY;
  }
  assign<D>(rows_of<bf16>(p.o, w.queries, head, p.d_v), first, group.o, factor, w.packed);
}

// Every gridDim.z-th tile of queries, for the heads that are in shared memory together.
template <int D>
TX_DEVICE void query_tiles(const Attention& p, const Work& w, Shared<D> shared) {
  const int rows = w.tiles.rows;
  const int unit = tile_warp() % w.tiles.heads, at = tile_warp() / w.tiles.heads * 16;
  int loaded_k = -1;
  for (int q0 = int(blockIdx.z) * rows; q0 < w.queries.count; q0 += int(gridDim.z) * rows) {
    const bool works = at < rows && q0 + at < w.queries.count;
    const int limit = visible_keys(p, min(q0 + rows, w.queries.count) - 1, w.keys.count);
    const bf16* q = shared.q(w, unit) + at * tile_pitch<D>;
    Group<D> group;
    group.most[0] = group.most[1] = -INFINITY;
    group.sum[0] = group.sum[1] = 0;
#pragma unroll
    for (int i = 0; i < D / 2; ++i) group.o[i / 4][i % 4] = 0;
    for (int k0 = 0; k0 < limit; k0 += step_keys) {
      const int in_tile = k0 % rows;
      if (in_tile == 0 && (k0 == 0 || loaded_k != k0)) {
        load_tiles<D>(p, w, shared, q0, k0, k0 == 0, loaded_k != k0);
        loaded_k = k0;
      }
      if (works)
        step<D>(p, w, w.head + unit, q, shared.k(w, unit) + in_tile * tile_pitch<D>,
                shared.v(w, unit) + in_tile * tile_pitch<D>, q0 + at, k0, shared.kept(), group);
    }
    if (works) finish<D>(p, w, w.head + unit, q0 + at, group);
  }
}

// Blocks per multiprocessor: as many as registers allow almost without spilling.
template <int D>
constexpr int blocks_each = D <= 32   ? 8 - fewer_blocks
                            : D <= 64 ? 6 - fewer_blocks
                                      : 3;

// Grid: sentences, pairs of heads, slots.
template <int D>
__global__ void __launch_bounds__(tile_warps* warp_size, blocks_each<D>)
    forward(Attention p, bool packed) {
  const Shared<D> shared{dynamic_shared<bf16>()};
  const int first = int(blockIdx.y) * tile_heads, end = min(first + tile_heads, p.heads);
  Work w{span_of(p.q_offsets, blockIdx.x), span_of(p.k_offsets, blockIdx.x), first, {}, packed};
  w.tiles = tiles_of(w.queries.count, w.keys.count, end - first);
  for (; w.head < end; w.head += w.tiles.heads) query_tiles<D>(p, w, shared);
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
    const unsigned heads = blocks_of(p.heads, tile_heads);
    const unsigned slots = tile_slots(*state_, p.sentences, heads, p.q.rows, all_rows);
    launch(*state_, forward<D>, dim3(unsigned(p.sentences), heads, slots), tile_warps * warp_size,
           Shared<D>::bytes, p, packed);
  });
}

}  // namespace tx
