// Attention without tensor cores: f32, and heads wider than 128 columns. A block takes 16 rows of
// one sentence and head, 4 a warp; the other side passes through shared memory 32 rows at a time, a
// lane each. Scores have any depth (in steps of 64); outputs any width (128 columns a time, for
// each of which the scores are computed again).
#include "kernels/cuda/attention.h"

namespace tx {
namespace {

constexpr int warps = 4, rows_each = 4, tile = warps * rows_each, lanes = warp_size;
constexpr int depth_step = 64, column_step = 128, parts = column_step / lanes;

using Four = Pack<float, rows_each>;

struct Shared {
  Four x[depth_step][warps + 1];   // transposed: the rows of a warp are one load
  float y[lanes][depth_step + 1];  // one more: lanes read a column without bank conflicts
  float values[lanes][column_step];
  Four weights[warps][lanes];
};

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

// Bit i: whether the lane's key first_key + lane is kept for query first + 4 warp + i. The 16 draws
// are one a lane.
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

// Softmax as the keys come: sums of exp(scale * (score - most)), most being the largest so far.
struct Running {
  float most[rows_each], sum[rows_each];  // sum: the lane's part

  TX_DEVICE void begin() {
    for (int i = 0; i < rows_each; ++i) most[i] = -INFINITY, sum[i] = 0;
  }
  // s[i] becomes the weight before division by the sum; returns by what older weights change.
  TX_DEVICE float step(int i, float& s, bool seen, float scale) {
    if (!seen) s = -INFINITY;
    const float next = fmaxf(most[i], warp_max(s));
    const float factor = expf((most[i] - next) * scale);
    s = expf((s - next) * scale);
    sum[i] = fmaf(sum[i], factor, s);
    most[i] = next;
    return factor;
  }
};

template <class T>
TX_DEVICE void forward_tile(const Attention& p, Span queries, Span keys, int head, int first,
                            int column, Shared& shared) {
  const int kv = kv_head_of(p, head);
  const auto q = rows_of<const T>(p.q, queries, head, p.d_k);
  const auto k = rows_of<const T>(p.k, keys, kv, p.d_k), v = rows_of<const T>(p.v, keys, kv, p.d_v);
  const int limit = visible_keys(p, min(first + tile, queries.count) - 1, keys.count);
  Running running;
  running.begin();
  float sum[rows_each][parts] = {};
  for (int key = 0; key < limit; key += lanes) {
    float s[rows_each];
    products(q, first, k, key, shared, s);
    const uint32_t kept = kept_rows(p, queries, first, key, head);
    for (int i = 0; i < rows_each; ++i) {
      const int row = first + warp_index() * rows_each + i;
      const bool seen = key + lane_index() < visible_keys(p, row, keys.count);
      const float factor = running.step(i, s[i], seen, float(p.scale));
      for (int c = 0; c < parts; ++c) sum[i][c] *= factor;
      if (!(kept >> i & 1u)) s[i] = 0;
    }
    accumulate(s, v, key, column, shared, sum);
  }
  float factor[rows_each];
  for (int i = 0; i < rows_each; ++i) {
    const float total = warp_sum(running.sum[i]);
    const int row = first + warp_index() * rows_each + i;
    factor[i] = limit > 0 ? float(p.drop.scale) / total : 0.f;
    if (p.lse && column == 0 && lane_index() == 0 && row < queries.count)
      static_cast<float*>(p.lse)[int64_t(queries.first + row) * p.heads + head] =
          running.most[i] * float(p.scale) + logf(total);
  }
  assign(rows_of<T>(p.o, queries, head, p.d_v), first, column, sum, factor);
}

// Grid: sentences, heads, slots.
template <class T>
__global__ void __launch_bounds__(warps* warp_size, 4) plain_forward(Attention p) {
  __shared__ Shared shared;
  const Span queries = span_of(p.q_offsets, blockIdx.x), keys = span_of(p.k_offsets, blockIdx.x);
  for (int first = int(blockIdx.z) * tile; first < queries.count; first += int(gridDim.z) * tile)
    for (int column = 0; column < p.d_v; column += column_step)
      forward_tile<T>(p, queries, keys, int(blockIdx.y), first, column, shared);
}

// Grid: tiles of queries.
template <class T>
__global__ void __launch_bounds__(warps* warp_size, 4)
    plain_weights(Attention p, int64_t sentence, int head, Matrix weights) {
  __shared__ Shared shared;
  const Span queries = span_of(p.q_offsets, sentence), keys = span_of(p.k_offsets, sentence);
  const auto q = rows_of<const T>(p.q, queries, head, p.d_k);
  const auto k = rows_of<const T>(p.k, keys, kv_head_of(p, head), p.d_k);
  const int first = int(blockIdx.x) * tile;
  if (first >= queries.count) return;
  const Rows<float> to{static_cast<float*>(weights.data), weights.stride, queries.count,
                       keys.count};
  Running running;
  running.begin();
  float s[rows_each], inverse[rows_each];
  const auto sees = [&](int i, int key) {
    return key < visible_keys(p, first + warp_index() * rows_each + i, keys.count);
  };
  for (int key = 0; key < keys.count; key += lanes) {
    products(q, first, k, key, shared, s);
    for (int i = 0; i < rows_each; ++i)
      running.step(i, s[i], sees(i, key + lane_index()), float(p.scale));
  }
  for (int i = 0; i < rows_each; ++i) inverse[i] = 1.f / warp_sum(running.sum[i]);
  for (int key = 0; key < keys.count; key += lanes) {
    products(q, first, k, key, shared, s);
    for (int i = 0; i < rows_each; ++i) {
      const int row = first + warp_index() * rows_each + i, at = key + lane_index();
      const float weight = expf((s[i] - running.most[i]) * float(p.scale)) * inverse[i];
      if (row < to.count && at < to.width) to.row(row)[at] = sees(i, at) ? weight : 0.f;
    }
  }
}

// One weight and the gradient by it, behind the dropout of the weight.
struct Pair {
  float weight, gradient;
};
TX_DEVICE Pair recomputed(const Attention& p, float score, float dp, float lse, bool seen,
                          bool kept) {
  return {seen ? expf(score * float(p.scale) - lse) : 0.f,
          seen && kept ? dp * float(p.drop.scale) : 0.f};
}

// Weights and gradients of the warp's rows against key first_key + lane.
template <class T>
TX_DEVICE void recompute(const Attention& p, const AttentionGradient& g, Span queries, Span keys,
                         int head, int first, int key, const float (&lse)[rows_each],
                         Shared& shared, Pair (&pair)[rows_each]) {
  const int kv = kv_head_of(p, head);
  float s[rows_each], dp[rows_each];
  products(rows_of<const T>(p.q, queries, head, p.d_k), first,
           rows_of<const T>(p.k, keys, kv, p.d_k), key, shared, s);
  products(rows_of<const T>(g.d_o, queries, head, p.d_v), first,
           rows_of<const T>(p.v, keys, kv, p.d_v), key, shared, dp);
  const uint32_t kept = kept_rows(p, queries, first, key, head);
  for (int i = 0; i < rows_each; ++i) {
    const int row = first + warp_index() * rows_each + i;
    const bool seen = row < queries.count && key + lane_index() < visible_keys(p, row, keys.count);
    pair[i] = recomputed(p, s[i], dp[i], lse[i], seen, kept >> i & 1u);
  }
}

// dq, and dots (T,H) = sum of weight * gradient over the keys. Grid: sentences, heads, slots.
template <class T>
__global__ void __launch_bounds__(warps* warp_size, 4)
    plain_dq(Attention p, AttentionGradient g, float* dots) {
  __shared__ Shared shared;
  const Span queries = span_of(p.q_offsets, blockIdx.x), keys = span_of(p.k_offsets, blockIdx.x);
  const int head = int(blockIdx.y);
  const auto k = rows_of<const T>(p.k, keys, kv_head_of(p, head), p.d_k);
  const float scale[rows_each] = {float(p.scale), float(p.scale), float(p.scale), float(p.scale)};
  for (int first = int(blockIdx.z) * tile; first < queries.count; first += int(gridDim.z) * tile) {
    const int limit = visible_keys(p, min(first + tile, queries.count) - 1, keys.count);
    float lse[rows_each], dot[rows_each] = {};
    Pair pair[rows_each];
    for (int i = 0; i < rows_each; ++i) {
      const int row = min(first + warp_index() * rows_each + i, queries.count - 1);
      lse[i] = static_cast<const float*>(p.lse)[int64_t(queries.first + row) * p.heads + head];
    }
    for (int key = 0; key < limit; key += lanes) {
      recompute<T>(p, g, queries, keys, head, first, key, lse, shared, pair);
      for (int i = 0; i < rows_each; ++i) dot[i] = fmaf(pair[i].weight, pair[i].gradient, dot[i]);
    }
    for (int i = 0; i < rows_each; ++i) {
      dot[i] = warp_sum(dot[i]);
      const int row = first + warp_index() * rows_each + i;
      if (lane_index() == 0 && row < queries.count)
        dots[int64_t(queries.first + row) * p.heads + head] = dot[i];
    }
    for (int column = 0; column < p.d_k; column += column_step) {
      float sum[rows_each][parts] = {}, ds[rows_each];
      for (int key = 0; key < limit; key += lanes) {
        recompute<T>(p, g, queries, keys, head, first, key, lse, shared, pair);
        for (int i = 0; i < rows_each; ++i) ds[i] = pair[i].weight * (pair[i].gradient - dot[i]);
        accumulate(ds, k, key, column, shared, sum);
      }
      assign(rows_of<T>(g.dq, queries, head, p.d_k), first, column, sum, scale);
    }
  }
}

// Adds the part of one query head to the sums of 16 keys: rows are keys, lanes are queries.
template <class T>
TX_DEVICE void add_head(const Attention& p, const AttentionGradient& g, const float* dots,
                        Span queries, Span keys, int head, int first, int column, Shared& shared,
                        float (&dk)[rows_each][parts], float (&dv)[rows_each][parts]) {
  const int kv = kv_head_of(p, head), lane = lane_index();
  const auto q = rows_of<const T>(p.q, queries, head, p.d_k);
  const auto d_o = rows_of<const T>(g.d_o, queries, head, p.d_v);
  const auto k = rows_of<const T>(p.k, keys, kv, p.d_k), v = rows_of<const T>(p.v, keys, kv, p.d_v);
  const int64_t begin = p.causal ? max(int64_t(0), first - p.query_position) : 0;
  if (begin >= queries.count) return;  // the same for all threads
  for (int query = int(begin) / lanes * lanes; query < queries.count; query += lanes) {
    float s[rows_each], dp[rows_each], weight[rows_each], ds[rows_each];
    products(k, first, q, query, shared, s);
    products(v, first, d_o, query, shared, dp);
    const int i = min(query + lane, queries.count - 1), key = first + warp_index() * rows_each;
    const int64_t at = int64_t(queries.first + i) * p.heads + head;
    const float lse = static_cast<const float*>(p.lse)[at], dot = dots[at];
    const int limit = query + lane < queries.count ? visible_keys(p, i, keys.count) : 0;
    const uint32_t kept =
        p.drop.threshold ? kept_keys(p.drop, queries.first + i, key / 8, head) >> key % 8 : ~0u;
    for (int r = 0; r < rows_each; ++r) {
      const bool keep = kept >> r & 1u;
      const Pair pair = recomputed(p, s[r], dp[r], lse, key + r < limit, keep);
      ds[r] = pair.weight * (pair.gradient - dot);
      weight[r] = keep ? pair.weight : 0.f;
    }
    accumulate(ds, q, query, column, shared, dk);
    accumulate(weight, d_o, query, column, shared, dv);
  }
}

// dk and dv. Grid: sentences, key/value heads, slots.
template <class T>
__global__ void __launch_bounds__(warps* warp_size, 4)
    plain_dkv(Attention p, AttentionGradient g, const float* dots) {
  __shared__ Shared shared;
  const Span queries = span_of(p.q_offsets, blockIdx.x), keys = span_of(p.k_offsets, blockIdx.x);
  const int kv = int(blockIdx.y), group = p.heads / p.kv_heads;
  const float drop = float(p.drop.scale);
  const float scale[rows_each] = {float(p.scale), float(p.scale), float(p.scale), float(p.scale)};
  const float drops[rows_each] = {drop, drop, drop, drop};
  for (int first = int(blockIdx.z) * tile; first < keys.count; first += int(gridDim.z) * tile)
    for (int column = 0; column < max(p.d_k, p.d_v); column += column_step) {
      float dk[rows_each][parts] = {}, dv[rows_each][parts] = {};
      for (int head = kv * group; head < (kv + 1) * group; ++head)
        add_head<T>(p, g, dots, queries, keys, head, first, column, shared, dk, dv);
      assign(rows_of<T>(g.dk, keys, kv, p.d_k), first, column, dk, scale);
      assign(rows_of<T>(g.dv, keys, kv, p.d_v), first, column, dv, drops);
    }
}

dim3 grid_of(const Cuda::State& s, const Attention& p, int heads, int64_t rows) {
  return dim3(unsigned(p.sentences), unsigned(heads),
              tile_slots(s, p.sentences, heads, rows, tile));
}

}  // namespace

void plain_attention(const Cuda::State& s, const Attention& p) {
  with_type(p.q.dtype, [&](auto t) {
    launch(s, plain_forward<decltype(t)>, grid_of(s, p, p.heads, p.q.rows), warps * warp_size, 0,
           p);
  });
}

void plain_attention_backward(const Cuda::State& s, const Attention& p, const AttentionGradient& g,
                              float* dots) {
  with_type(p.q.dtype, [&](auto t) {
    using T = decltype(t);
    launch(s, plain_dq<T>, grid_of(s, p, p.heads, p.q.rows), warps * warp_size, 0, p, g, dots);
    launch(s, plain_dkv<T>, grid_of(s, p, p.kv_heads, p.k.rows), warps * warp_size, 0, p, g, dots);
  });
}

void Cuda::attention_weights(const Attention& p, int64_t sentence, int head, Matrix weights) {
  with_type(p.q.dtype, [&](auto t) {
    launch(*state_, plain_weights<decltype(t)>, dim3(blocks_of(weights.rows, tile)),
           warps * warp_size, 0, p, sentence, head, weights);
  });
}

}  // namespace tx
