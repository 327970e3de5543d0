// The gradient of attention on tensor cores (attention_tiles.h). A block takes one sentence and two
// key/value heads, with tiles of q, d_o, k and v in shared memory, and recomputes the weights
// from the kept log-sum-exps, 32 keys at a time: each warp those of 16 queries, for which it sums
// dq. It puts weights and gradients, rounded to bf16, to shared memory; then each warp sums dv or
// dk of 16 of the keys over all queries. Every element has one writer and one order of summation.
//   gradient of a weight's logarithm: weight * (dp - dot), dp = dropout(d_o . v), dot = sum of
//   weight * dp over the keys of a query.
#include "kernels/cuda/attention/attention_backward.h"
#include "kernels/cuda/runtime/profile.h"

namespace tx {
namespace {

using namespace attention_gradient;

// A sentence of one tile, and heads that do not share keys: everything in one pass over the keys,
// after one for the dots if there are more than 32.
template <int D>
TX_DEVICE void short_sentence(const Attention& p, const AttentionGradient& g, Held& w,
                              HeldTiles<D> shared) {
  hold<D>(p, g, nullptr, w, shared, 0, 0, 0);
  QueryGroup group = query_group(w);
  float dq[D / 8][4];
  clear<D>(dq);
  const int mine = group_keys(p, w, group);
  const bool once = w.keys.count <= step_keys;
  for (int pass = once ? 1 : 0; pass < 2; ++pass) {
    for (int k0 = 0; k0 < w.keys.count; k0 += step_keys) {
      const int groups = min((mine - k0 + 15) / 16, step_groups);
      if (groups > 0) {  // the same for the whole warp
        Product16 c[step_groups], d[step_groups];
        recompute<D>(p, w, shared, group, k0, groups, c, d);
        if (once || pass == 0) add_dots(group, groups, c, d);
        if (once) finish_dots(group);
        if (pass == 1) {
#pragma unroll
          for (int i = 0; i < step_groups; ++i) {
            if (i >= groups) break;
            Fragment x[1];
            weights_of(c[i], x[0]);
            put(shared.weights(w, group.unit, 0), group, i, x[0]);
            log_gradients_of(group, c[i], d[i], x[0]);
            put(shared.weights(w, group.unit, 1), group, i, x[0]);
            const int key = k0 + i * 16;
            accumulate<D>(dq, x, shared.k(w, group.unit) + key * tile_pitch<D>);
          }
        }
      }
      if (pass == 0) continue;
      __syncthreads();
      for (int unit = 0; unit < w.tiles.heads; ++unit) {
        float sum[D / 8][4];
        clear<D>(sum);
        add_queries<D>(p, w, shared, unit, k0 + key_group(), sum);
        assign_keys<D>(p, g, w, w.kv + unit, k0 + key_group(), sum);
      }
      __syncthreads();
    }
    if (pass == 0) finish_dots(group);
  }
  assign_dq<D>(p, g, w, 0, 0, group, dq);
}

// Keeps the dots of the group's rows in shared memory, and in `dots` for hold().
template <int D>
TX_DEVICE void keep_dots(const Attention& p, float* dots, const Held& w, HeldTiles<D> shared,
                         const QueryGroup& group) {
  const int head = query_head(p, w, group.unit, w.reader);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int row = group.first + tile_row(h);
    if (tile_lane() % 4 != 0 || w.q0 + row >= w.queries.count) continue;
    dots[int64_t(w.queries.first + w.q0 + row) * p.heads + head] = group.dot[h];
    shared.dot(w, group.unit)[row] = group.dot[h];
  }
  __syncwarp();
}

// A sentence of several tiles, or heads that share keys. First for each tile of queries the dots
// and, in a second pass over the keys if there are more than 32, dq. Then for each 32 keys dk and
// dv, over the tiles of queries of all heads that read them.
template <int D>
TX_DEVICE void long_sentence(const Attention& p, const AttentionGradient& g, float* dots, Held& w,
                             HeldTiles<D> shared) {
  const int rows = w.tiles.rows, units = w.tiles.heads, readers = p.heads / p.kv_heads;
  const int q_tiles = (w.queries.count + rows - 1) / rows;
  const int tiles = q_tiles * ((readers + units - 1) / units);
  const int steps = (w.keys.count + step_keys - 1) / step_keys;
  for (int outer = 0; outer < tiles + steps; ++outer) {
    const bool keys = outer >= tiles;
    const int inner_end = keys ? tiles : steps > 1 ? 2 * steps : steps;
    const auto first_reader = [&](int tile) {
      const int reader = tile / q_tiles * units;
      w.tiles.heads = min(units, readers - reader);
      return reader;
    };
    const int outer_reader = keys ? 0 : first_reader(outer);
    QueryGroup group = query_group(w);
    float sum[D / 8][4];
    clear<D>(sum);
    for (int inner = 0; inner < inner_end; ++inner) {
      const int tile = keys ? inner : outer;
      const int k0 = (keys ? outer - tiles : inner % steps) * step_keys;
      const int q0 = tile % q_tiles * rows;
      if (k0 >= visible_keys(p, min(q0 + rows, w.queries.count) - 1, w.keys.count)) continue;
      const int reader = keys ? first_reader(tile) : outer_reader;
      hold<D>(p, g, keys ? dots : nullptr, w, shared, reader, q0, k0 / rows * rows);
      if (keys) group = query_group(w);
      const int mine = group_keys(p, w, group), groups = min((mine - k0 + 15) / 16, step_groups);
      const bool sums_dots = !keys && inner < steps, sums_dq = !keys && inner_end - inner <= steps;
      if (groups > 0) {  // the same for the whole warp
        Product16 c[step_groups], d[step_groups];
        recompute<D>(p, w, shared, group, k0 % rows, groups, c, d);
        if (sums_dots) {
          add_dots(group, groups, c, d);
          if (k0 + step_keys >= mine) {
            finish_dots(group);
            keep_dots(p, dots, w, shared, group);
          }
        }
        if (keys)
          for (int h = 0; h < 2; ++h)
            group.dot[h] = shared.dot(w, group.unit)[group.first + tile_row(h)];
#pragma unroll
        for (int i = 0; i < step_groups; ++i) {
          if (i >= groups || !(keys || sums_dq)) break;
          Fragment x[1];
          if (keys) {
            weights_of(c[i], x[0]);
            put(shared.weights(w, group.unit, 0), group, i, x[0]);
          }
          log_gradients_of(group, c[i], d[i], x[0]);
          if (keys) put(shared.weights(w, group.unit, 1), group, i, x[0]);
          const int key = k0 % rows + i * 16;
          if (!keys) accumulate<D>(sum, x, shared.k(w, group.unit) + key * tile_pitch<D>);
        }
      }
      if (!keys) continue;
      __syncthreads();
      for (int unit = 0; unit < w.tiles.heads; ++unit)
        add_queries<D>(p, w, shared, unit, k0 + key_group(), sum);
      __syncthreads();
    }
    if (keys)
      assign_keys<D>(p, g, w, w.kv, (outer - tiles) * step_keys + key_group(), sum);
    else
      assign_dq<D>(p, g, w, outer_reader, outer % q_tiles * rows, group, sum);
    if (outer == tiles - 1) __syncthreads();  // the dots are read by all
  }
  w.tiles.heads = units;
}

// Blocks per multiprocessor: as many as registers allow almost without spilling.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
template <int D>
constexpr int blocks_each = D <= 32   ? 4
                            : D <= 64 ? 3
                                      : 2;
#else
template <int D>
constexpr int blocks_each = D <= 32   ? 5 - fewer_blocks
                            : D <= 64 ? 4
                                      : 2;
#endif

// Grid: sentences, pairs of key/value heads. dots (T,H): scratch.
template <int D>
__global__ void __launch_bounds__(tile_warps* warp_size, blocks_each<D>)
    backward(Attention p, AttentionGradient g, float* dots, bool packed) {
  const HeldTiles<D> shared{dynamic_shared<bf16>()};
  const int first = int(blockIdx.y) * tile_heads, end = min(first + tile_heads, p.kv_heads);
  const int readers = p.heads / p.kv_heads;
  Held w;
  w.queries = uniform(span_of(p.q_offsets, blockIdx.x));
  w.keys = uniform(span_of(p.k_offsets, blockIdx.x));
  w.tiles = tiles_of(w.queries.count, w.keys.count,
                     readers == 1 ? end - first : min(readers, tile_heads));
  w.packed = packed;
  const bool is_short =
      readers == 1 && w.queries.count > 0 && max(w.queries.count, w.keys.count) <= w.tiles.rows;
  for (w.kv = first; w.kv < end; w.kv += is_short ? w.tiles.heads : 1) {
    w.reader = w.q0 = w.k0 = -1;
    if (is_short)
      short_sentence<D>(p, g, w, shared);
    else
      long_sentence<D>(p, g, dots, w, shared);
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
