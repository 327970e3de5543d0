// Attention without tensor cores, the weights of one head, and the gradient: a kernel for dq, which
// keeps for each query the sum of weight times gradient, and one for dk and dv, which reads it.
#include "kernels/cuda/attention/attention_plain.h"

namespace tx {
using namespace plain;
namespace {

// Online softmax: sums of exp(scale * (score - most)), where most is the largest score so far.
struct Running {
  float most[rows_each], sum[rows_each];  // sum: the lane's part

  TX_DEVICE void begin() {
    for (int i = 0; i < rows_each; ++i) most[i] = -INFINITY, sum[i] = 0;
  }
  // s[i] becomes the weight before division by the sum; returns the factor of earlier weights.
  TX_DEVICE float step(int i, float& s, bool seen, float scale) {
    if (!seen) s = -INFINITY;
    const float next = fmaxf(most[i], warp_max(s));
    const float base = next == -INFINITY ? 0.f : next;  // all keys so far are outside the window
    const float factor = expf((most[i] - base) * scale);
    s = expf((s - base) * scale);
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
  const int limit = seen_keys(p, min(first + tile, queries.count) - 1, keys.count).end;
  const float slope = slope_of(p, head);
  Running running;
  running.begin();
  float sum[rows_each][parts] = {};
  const int begin = seen_keys(p, first, keys.count).first / lanes * lanes;
  for (int key = begin; key < limit; key += lanes) {
    float s[rows_each];
    products(q, first, k, key, shared, s);
    const uint32_t kept = kept_rows(p, queries, first, key, head);
    for (int i = 0; i < rows_each; ++i) {
      const int row = first + warp_index() * rows_each + i;
      s[i] = shifted(p, head, slope, s[i], row, key + lane_index());
      const bool seen = seen_keys(p, row, keys.count).has(key + lane_index());
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
  const float slope = slope_of(p, head);
  const auto row_of_tile = [&](int i) { return first + warp_index() * rows_each + i; };
  const auto sees = [&](int i, int key) {
    return seen_keys(p, row_of_tile(i), keys.count).has(key);
  };
  for (int key = 0; key < keys.count; key += lanes) {
    products(q, first, k, key, shared, s);
    for (int i = 0; i < rows_each; ++i) {
      s[i] = shifted(p, head, slope, s[i], row_of_tile(i), key + lane_index());
      running.step(i, s[i], sees(i, key + lane_index()), float(p.scale));
    }
  }
  for (int i = 0; i < rows_each; ++i) inverse[i] = 1.f / warp_sum(running.sum[i]);
  for (int key = 0; key < keys.count; key += lanes) {
    products(q, first, k, key, shared, s);
    for (int i = 0; i < rows_each; ++i) {
      const int row = row_of_tile(i), at = key + lane_index();
      s[i] = shifted(p, head, slope, s[i], row, at);
      const float weight = expf((s[i] - running.most[i]) * float(p.scale)) * inverse[i];
      if (row < to.count && at < to.width) to.row(row)[at] = sees(i, at) ? weight : 0.f;
    }
  }
}

}  // namespace

void plain_attention(const Cuda::State& s, const Attention& p) {
  with_type(p.q.dtype, [&](auto t) {
    launch(s, plain_forward<decltype(t)>, grid_of(s, p, p.heads, p.q.rows), warps * warp_size, 0,
           p);
  });
}

void Cuda::attention_weights(const Attention& p, int64_t sentence, int head, Matrix weights) {
  with_type(p.q.dtype, [&](auto t) {
    launch(*state_, plain_weights<decltype(t)>, dim3(blocks_of(weights.rows, tile)),
           warps * warp_size, 0, p, sentence, head, weights);
  });
}

namespace {

// One weight and its gradient, after the dropout of the weight.
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
  const float slope = slope_of(p, head);
  for (int i = 0; i < rows_each; ++i) {
    const int row = first + warp_index() * rows_each + i, at = key + lane_index();
    const bool seen = row < queries.count && seen_keys(p, row, keys.count).has(at);
    s[i] = shifted(p, head, slope, s[i], row, at);
    pair[i] = recomputed(p, s[i], dp[i], lse[i], seen, kept >> i & 1u);
  }
}

// Sums of the scores' gradients by bucket: lane l of each warp has the buckets l, l + 32, ...
struct BucketSums {
  static constexpr int each = 4;  // ModelConfig::max_buckets / 32
  float sum[each] = {};
  // ds: of `row` and the lane's key, first_key + lane; 0 if it is not seen.
  TX_DEVICE void add(const DistanceBias& d, int row, int first_key, float ds) {
    for (int l = 0; l < warp_size; ++l) {
      const float value = __shfl_sync(whole_warp, ds, l);
      const int bucket = bucket_of(d, row, first_key + l);
      for (int e = 0; e < each; ++e)
        if (bucket == e * warp_size + lane_index()) sum[e] += value;
    }
  }
  TX_DEVICE void write(float* to, int buckets) const {
    for (int e = 0; e < each; ++e)
      if (const int b = e * warp_size + lane_index(); b < buckets) to[b] = sum[e];
  }
};

// dq, and dots (T,H) = sum of weight * gradient over the keys. With biases by distance also their
// gradient: partial (sentences, slots, warps, heads, buckets). Grid: sentences, heads, slots.
template <class T>
__global__ void __launch_bounds__(warps* warp_size, 4)
    plain_dq(Attention p, AttentionGradient g, float* dots, float* partial) {
  __shared__ Shared shared;
  const Span queries = span_of(p.q_offsets, blockIdx.x), keys = span_of(p.k_offsets, blockIdx.x);
  const int head = int(blockIdx.y);
  const auto k = rows_of<const T>(p.k, keys, kv_head_of(p, head), p.d_k);
  const float scale[rows_each] = {float(p.scale), float(p.scale), float(p.scale), float(p.scale)};
  BucketSums buckets;
  for (int first = int(blockIdx.z) * tile; first < queries.count; first += int(gridDim.z) * tile) {
    const int limit = seen_keys(p, min(first + tile, queries.count) - 1, keys.count).end;
    const int begin = seen_keys(p, first, keys.count).first / lanes * lanes;
    float lse[rows_each], dot[rows_each] = {};
    Pair pair[rows_each];
    for (int i = 0; i < rows_each; ++i) {
      const int row = min(first + warp_index() * rows_each + i, queries.count - 1);
      lse[i] = static_cast<const float*>(p.lse)[int64_t(queries.first + row) * p.heads + head];
    }
    for (int key = begin; key < limit; key += lanes) {
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
      for (int key = begin; key < limit; key += lanes) {
        recompute<T>(p, g, queries, keys, head, first, key, lse, shared, pair);
        for (int i = 0; i < rows_each; ++i) {
          ds[i] = pair[i].weight * (pair[i].gradient - dot[i]);
          if (partial && column == 0)
            buckets.add(p.distances, first + warp_index() * rows_each + i, key, ds[i]);
        }
        accumulate(ds, k, key, column, shared, sum);
      }
      assign(rows_of<T>(g.dq, queries, head, p.d_k), first, column, sum, scale);
    }
  }
  const int64_t block = int64_t(blockIdx.x) * gridDim.z + blockIdx.z;
  if (partial)
    buckets.write(partial + ((block * warps + warp_index()) * p.heads + head) * p.distances.buckets,
                  p.distances.buckets);
}

// Adds `count` rows of partial sums in order. A thread per column of `to`.
__global__ void add_partial(const float* partial, int64_t count, Matrix to, bool add) {
  const int64_t column = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column >= to.cols) return;
  float* sum = static_cast<float*>(to.data) + column;
  float value = add ? *sum : 0.f;
  for (int64_t i = 0; i < count; ++i) value += partial[i * to.cols + column];
  *sum = value;
}

// Adds the contributions of one query head to dk and dv of 16 keys: rows are keys, lanes queries.
template <class T>
TX_DEVICE void add_head(const Attention& p, const AttentionGradient& g, const float* dots,
                        Span queries, Span keys, int head, int first, int column, Shared& shared,
                        float (&dk)[rows_each][parts], float (&dv)[rows_each][parts]) {
  const int kv = kv_head_of(p, head), lane = lane_index();
  const auto q = rows_of<const T>(p.q, queries, head, p.d_k);
  const auto d_o = rows_of<const T>(g.d_o, queries, head, p.d_v);
  const auto k = rows_of<const T>(p.k, keys, kv, p.d_k), v = rows_of<const T>(p.v, keys, kv, p.d_v);
  const float slope = slope_of(p, head);
  const int before = p.window ? max(0, first - p.window + 1) : 0, begin = p.causal ? first : before;
  const int end = p.window ? min(queries.count, first + tile + p.window) : queries.count;
  if (begin >= queries.count) return;  // the same for all threads
  for (int query = begin / lanes * lanes; query < end; query += lanes) {
    float s[rows_each], dp[rows_each], weight[rows_each], ds[rows_each];
    products(k, first, q, query, shared, s);
    products(v, first, d_o, query, shared, dp);
    const int i = min(query + lane, queries.count - 1), key = first + warp_index() * rows_each;
    const int64_t at = int64_t(queries.first + i) * p.heads + head;
    const float lse = static_cast<const float*>(p.lse)[at], dot = dots[at];
    const Seen seen = query + lane < queries.count ? seen_keys(p, i, keys.count) : Seen{0, 0};
    const uint32_t kept =
        p.drop.threshold ? kept_keys(p.drop, queries.first + i, key / 8, head) >> key % 8 : ~0u;
    for (int r = 0; r < rows_each; ++r) {
      const bool keep = kept >> r & 1u;
      s[r] = shifted(p, head, slope, s[r], i, key + r);
      const Pair pair = recomputed(p, s[r], dp[r], lse, seen.has(key + r), keep);
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

}  // namespace

// The rows of partial sums of plain_dq().
static int64_t partial_rows(const Cuda::State& s, const Attention& p) {
  return p.sentences * grid_of(s, p, p.heads, p.q.rows).z * warps;
}

size_t plain_scratch(const Cuda::State& s, const Attention& p, const AttentionGradient& g) {
  return sizeof(float) * size_t(p.q.rows * p.heads + partial_rows(s, p) * g.d_distances.cols);
}

void plain_attention_backward(const Cuda::State& s, const Attention& p, const AttentionGradient& g,
                              float* dots) {
  TX_ASSERT(p.distances.buckets <= BucketSums::each * warp_size);
  float* partial = g.d_distances.empty() ? nullptr : dots + p.q.rows * p.heads;
  with_type(p.q.dtype, [&](auto t) {
    using T = decltype(t);
    launch(s, plain_dq<T>, grid_of(s, p, p.heads, p.q.rows), warps * warp_size, 0, p, g, dots,
           partial);
    launch(s, plain_dkv<T>, grid_of(s, p, p.kv_heads, p.k.rows), warps * warp_size, 0, p, g, dots);
  });
  if (partial)
    launch(s, add_partial, blocks_of(g.d_distances.cols, 128), 128, 0, partial, partial_rows(s, p),
           g.d_distances, g.add_distances);
}

}  // namespace tx
