// Attention without tensor cores, and the weights of one head.
#include "kernels/cuda/attention/attention_plain.h"

namespace tx {
using namespace plain;
namespace {

// Softmax as the keys come: sums of exp(scale * (score - most)), most being the largest so far.
struct Running {
  float most[rows_each], sum[rows_each];  // sum: the lane's part

  TX_DEVICE void begin() {
    for (int i = 0; i < rows_each; ++i) most[i] = -INFINITY, sum[i] = 0;
  }
  // s[i] becomes the weight before division by the sum; returns the factor of earlier weights.
  TX_DEVICE float step(int i, float& s, bool seen, float scale) {
    if (!seen) s = -INFINITY;
    const float next = fmaxf(most[i], warp_max(s));
    const float base = next == -INFINITY ? 0.f : next;  // before a window there is no key
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
      s[i] -= slope * distance(row, key + lane_index());
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
      s[i] -= slope * distance(row_of_tile(i), key + lane_index());
      running.step(i, s[i], sees(i, key + lane_index()), float(p.scale));
    }
  }
  for (int i = 0; i < rows_each; ++i) inverse[i] = 1.f / warp_sum(running.sum[i]);
  for (int key = 0; key < keys.count; key += lanes) {
    products(q, first, k, key, shared, s);
    for (int i = 0; i < rows_each; ++i) {
      const int row = row_of_tile(i), at = key + lane_index();
      s[i] -= slope * distance(row, at);
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

}  // namespace tx
