// Guided alignment of one head, without tensor cores: a kernel for dq and the losses of rows, one
// for dk. For the formulas see kernels/cpu/attention_guide.cpp.
#include "kernels/cuda/attention/attention_plain.h"
#include "kernels/cuda/runtime/profile.h"

namespace tx {
using namespace plain;
namespace {

struct RowGuide {
  double loss;
  int32_t linked;  // 1 if the row has links
};

// The links of a row: g_j of key j.
struct Links {
  const int32_t *begin, *end;
  float lse;
  TX_DEVICE Links(const Attention& p, const AttentionGuide& guide, int64_t row)
      : begin(guide.columns + guide.starts[row]),
        end(guide.columns + guide.starts[row + 1]),
        lse(static_cast<const float*>(p.lse)[row * p.heads + guide.head]) {}
  TX_DEVICE bool none() const { return begin == end; }
  TX_DEVICE float share(int key) const {
    for (const int32_t* j = begin; j < end; ++j)
      if (*j == key) return 1.f / float(end - begin);
    return 0;
  }
};

// Weight minus target, 0 if the row has no links or the key is masked.
template <class T>
TX_DEVICE float difference(const Attention& p, const Links& links, float score, int key,
                           bool seen) {
  if (!seen || links.none()) return 0;
  return exponential<T>(score * float(p.scale) - links.lse) - links.share(key);
}

// to += sum, as assign() of attention_plain.h assigns it.
template <class T>
TX_DEVICE void add_to(Rows<T> to, int first, int column, const float (&sum)[rows_each][parts],
                      float factor) {
  for (int i = 0; i < rows_each; ++i) {
    const int row = first + warp_index() * rows_each + i;
    if (row >= to.count) continue;
    for (int c = 0; c < parts; ++c) {
      const int at = column + c * lanes + lane_index();
      if (at < to.width) store(to.row(row)[at], load(to.row(row)[at]) + sum[i][c] * factor);
    }
  }
}

TX_DEVICE float factor_of(const Attention& p, const AttentionGuide& guide) {
  return float(guide.weight * guide.record->loss_scale * p.scale);
}

// Grid: sentences, 1, slots.
template <class T>
__global__ void __launch_bounds__(warps* warp_size, 4)
    guide_dq(Attention p, AttentionGuide guide, AttentionGradient g, RowGuide* rows) {
  __shared__ Shared shared;
  const Span queries = span_of(p.q_offsets, blockIdx.x), keys = span_of(p.k_offsets, blockIdx.x);
  const auto q = rows_of<const T>(p.q, queries, guide.head, p.d_k);
  const auto k = rows_of<const T>(p.k, keys, kv_head_of(p, guide.head), p.d_k);
  for (int first = int(blockIdx.z) * tile; first < queries.count; first += int(gridDim.z) * tile) {
    const int limit = visible_keys(p, min(first + tile, queries.count) - 1, keys.count);
    float loss[rows_each] = {};
    for (int column = 0; column < p.d_k; column += column_step) {
      float sum[rows_each][parts] = {};
      for (int key = 0; key < limit; key += lanes) {
        float s[rows_each], ds[rows_each];
        products(q, first, k, key, shared, s);
        const int mine = key + lane_index();
        for (int i = 0; i < rows_each; ++i) {
          const int row = first + warp_index() * rows_each + i;
          const Links links(p, guide, queries.first + min(row, queries.count - 1));
          const bool seen = row < queries.count && mine < visible_keys(p, row, keys.count);
          ds[i] = difference<T>(p, links, s[i], mine, seen);
          if (column == 0 && seen && !links.none())
            loss[i] += links.share(mine) * (links.lse - s[i] * float(p.scale));
        }
        accumulate(ds, k, key, column, shared, sum);
      }
      add_to(rows_of<T>(g.dq, queries, guide.head, p.d_k), first, column, sum, factor_of(p, guide));
    }
    for (int i = 0; i < rows_each; ++i) {
      const float total = warp_sum(loss[i]);
      const int row = first + warp_index() * rows_each + i;
      if (lane_index() == 0 && row < queries.count)
        rows[queries.first + row] = {double(total), !Links(p, guide, queries.first + row).none()};
    }
  }
}

// Rows are keys, lanes are queries. Grid: sentences, 1, slots.
template <class T>
__global__ void __launch_bounds__(warps* warp_size, 4)
    guide_dk(Attention p, AttentionGuide guide, AttentionGradient g) {
  __shared__ Shared shared;
  const Span queries = span_of(p.q_offsets, blockIdx.x), keys = span_of(p.k_offsets, blockIdx.x);
  const int kv = kv_head_of(p, guide.head);
  const auto q = rows_of<const T>(p.q, queries, guide.head, p.d_k);
  const auto k = rows_of<const T>(p.k, keys, kv, p.d_k);
  for (int first = int(blockIdx.z) * tile; first < keys.count; first += int(gridDim.z) * tile)
    for (int column = 0; column < p.d_k; column += column_step) {
      float sum[rows_each][parts] = {};
      for (int query = 0; query < queries.count; query += lanes) {
        float s[rows_each], ds[rows_each];
        products(k, first, q, query, shared, s);
        const int row = min(query + lane_index(), queries.count - 1);
        const Links links(p, guide, queries.first + row);
        const int limit =
            query + lane_index() < queries.count ? visible_keys(p, row, keys.count) : 0;
        for (int i = 0; i < rows_each; ++i) {
          const int key = first + warp_index() * rows_each + i;
          ds[i] = difference<T>(p, links, s[i], key, key < limit);
        }
        accumulate(ds, q, query, column, shared, sum);
      }
      add_to(rows_of<T>(g.dk, keys, kv, p.d_k), first, column, sum, factor_of(p, guide));
    }
}

// One block: each thread adds every blockDim-th row, then their sums are added in a fixed order.
__global__ void add_guided(const RowGuide* rows, int64_t count, StepRecord* record) {
  __shared__ double part[32];
  __shared__ int counts[32];
  double loss = 0;
  int linked = 0;
  for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
    loss += rows[i].loss;
    linked += rows[i].linked;
  }
  loss = block_sum(loss, part);
  linked = block_sum(linked, counts);
  if (threadIdx.x != 0) return;
  record->guided += loss;
  record->guided_rows += linked;
}

}  // namespace

void Cuda::guide_attention(const Attention& p, const AttentionGuide& guide,
                           const AttentionGradient& g) {
  const Matrix q = p.q.columns(int64_t(guide.head) * p.d_k, p.d_k);
  const Matrix k = p.k.columns(int64_t(guide.head) * p.kv_heads / p.heads * p.d_k, p.d_k);
  const Timed timed(*state_, "attention, guided", traffic(q, q, q, k, k, k));  // with dq and dk
  if (p.q.rows == 0) return;
  auto* rows = static_cast<RowGuide*>(state_->scratch(size_t(p.q.rows) * sizeof(RowGuide)));
  with_type(p.q.dtype, [&](auto t) {
    using T = decltype(t);
    const int threads = warps * warp_size;
    launch(*state_, guide_dq<T>, grid_of(*state_, p, 1, p.q.rows), threads, 0, p, guide, g, rows);
    launch(*state_, guide_dk<T>, grid_of(*state_, p, 1, p.k.rows), threads, 0, p, guide, g);
  });
  launch(*state_, add_guided, dim3(1), 1024, 0, rows, p.q.rows, guide.record);
}

}  // namespace tx
