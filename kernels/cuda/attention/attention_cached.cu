// Attention of single queries against cached keys and values (decoding). Teams of 8 lanes take keys
// in turn, four in flight each, and run their own softmax; their results are combined in a
// fixed order at the end. Up to `alone_keys` keys are processed by one warp, more by all warps of a
// block. Only the number of keys decides, so that the bits of a row do not depend on other rows. A
// lane holds 8 consecutive columns of every 64, in one load if aligned. In cross-attention the rows
// of a sentence (hypotheses of a beam) share their keys: up to four rows are processed together and
// read keys and values once, with the same arithmetic per row. In self-attention the last key and
// value of a row are read from the input and also stored in the cache.
#include <limits>

#include "kernels/cuda/attention/attention_projected.h"
#include "kernels/cuda/runtime/profile.h"

namespace tx {
namespace {

using namespace cached;

// Gives every lane the sums of the four teams of its warp, for its columns.
template <class T, int parts>
TX_DEVICE void join_teams(Running<parts>& state, float scale) {
  float next = state.most;
#pragma unroll
  for (int step = team_lanes; step < warp_size; step *= 2)
    next = fmaxf(next, __shfl_xor_sync(whole_warp, next, step));
  state.template rise<T>(next, scale);
#pragma unroll
  for (int step = team_lanes; step < warp_size; step *= 2) {
    state.sum += __shfl_xor_sync(whole_warp, state.sum, step);
#pragma unroll
    for (int c = 0; c < parts; ++c)
#pragma unroll
      for (int j = 0; j < 8; ++j) state.o[c][j] += __shfl_xor_sync(whole_warp, state.o[c][j], step);
  }
}

template <class T>
TX_DEVICE T* output_of(const CachedAttention& p, const Share& w, int r) {
  return head_of<T>(p.o, w.row + r, w.head, p.d_v) + w.column;
}

// For a warp that had all keys: team r writes row r.
template <class T, int rows, int parts, bool packed>
TX_DEVICE void write_rows(const CachedAttention& p, const Share& w,
                          const Running<parts> (&running)[rows]) {
  const int mine = warp_lane() / team_lanes;
  Running<parts> of = running[0];
#pragma unroll
  for (int r = 1; r < rows; ++r)
    if (mine == r) of = running[r];
  if (mine >= w.here) return;
#pragma unroll
  for (int c = 0; c < parts; ++c) {
    float x[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) x[j] = of.sum == 0 ? 0.f : of.o[c][j] / of.sum;  // no key: zeros
    const int at = c * chunk + lane_columns();
    store_eight<packed>(output_of<T>(p, w, mine) + at, p.d_v - w.column - at, x);
  }
}

template <int parts>
struct Combined {  // results of each warp for one row, in shared memory
  float most[warps], sum[warps], o[warps][parts * chunk];
};

// For a block whose warps shared the keys: through shared memory, in the order of the warps.
template <class T, int rows, int parts>
TX_DEVICE void join_warps(const CachedAttention& p, const Share& w,
                          const Running<parts> (&running)[rows], Combined<parts>* shared) {
  const float scale = float(p.scale);
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    if (r >= w.here) break;
    Combined<parts>& to = shared[r];
    if (warp_lane() == 0)
      to.most[warp_index()] = running[r].most, to.sum[warp_index()] = running[r].sum;
    if (warp_lane() >= team_lanes) continue;
#pragma unroll
    for (int c = 0; c < parts; ++c)
#pragma unroll
      for (int j = 0; j < 8; ++j)
        to.o[warp_index()][c * chunk + lane_columns() + j] = running[r].o[c][j];
  }
  __syncthreads();
  for (int r = 0; r < w.here; ++r) {
    const Combined<parts>& of = shared[r];
    float next = of.most[0], sum = 0, factor[warps];
    for (int i = 1; i < warps; ++i) next = fmaxf(next, of.most[i]);
    for (int i = 0; i < warps; ++i) {
      factor[i] = exponential<T>((of.most[i] - Running<parts>::base(next)) * scale);
      sum = fmaf(of.sum[i], factor[i], sum);
    }
    T* out = output_of<T>(p, w, r);
    for (int j = int(threadIdx.x); j < min(parts * chunk, p.d_v - w.column); j += int(blockDim.x)) {
      float total = 0;
      for (int i = 0; i < warps; ++i) total = fmaf(of.o[i][j], factor[i], total);
      store(out[j], total / sum);
    }
  }
  __syncthreads();
}

TX_DEVICE Keys keys_of(const CachedAttention& p, int64_t row) {
  const int count = p.window ? min(p.lengths[row], p.window) : p.lengths[row];
  const int skipped = p.lengths[row] - count;  // before the window
  if (p.first) return {nullptr, p.first[row] + skipped, count};
  return {p.index + row * p.index_stride + skipped, 0, count};
}

// The first of the heads that share keys stores the row's own key and value. Nothing reads them
// from the cache in this step.
template <class T, bool packed>
TX_DEVICE void keep_own(const CachedAttention& p, const Share& w) {
  const int group = p.heads / p.kv_heads;
  if (w.keys.count == 0 || w.head % group != 0 || (!w.alone() && warp_index() != 0)) return;
  const int32_t at = w.keys.at(w.keys.count - 1);
  const auto keep = [&](const Matrix& own, const Matrix& cache, int width) {
    const T* from = head_of<const T>(own, w.row, w.kv_head, width);
    T* to = head_of<T>(cache, at, w.kv_head, width);
    if constexpr (packed) {
      constexpr int each = 16 / int(sizeof(T));
#pragma unroll 1
      for (int j = warp_lane() * each; j < width; j += warp_size * each) {
        const uint4 pack = *reinterpret_cast<const uint4*>(from + j);
        store_pack(to + j, pack.x, pack.y, pack.z, pack.w);
      }
    } else {
      for (int j = warp_lane(); j < width; j += warp_size) to[j] = from[j];
    }
  };
  keep(p.own_k, p.k, p.d_k);
  keep(p.own_v, p.v, p.d_v);
}

template <class T, int rows, int parts, bool packed>
TX_DEVICE void attend(const CachedAttention& p, Share& w, Combined<parts>* combined) {
  // Narrow heads are one chunk.
  constexpr bool narrow = packed && parts == 1;
  for (w.column = 0; w.column < (narrow ? 1 : p.d_v); w.column += parts * chunk) {
    Running<parts> running[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r) running[r].begin();
    for (int j0 = 0; j0 < w.keys.count; j0 += w.teams() * in_flight)
      take_step<T, rows, parts, packed>(p, w, j0, running);
#pragma unroll
    for (int r = 0; r < rows; ++r)
      if (r < w.here) join_teams<T>(running[r], float(p.scale));
    if (w.alone())
      write_rows<T, rows, parts, packed>(p, w, running);
    else
      join_warps<T>(p, w, running, combined);
  }
}

// Grid: groups of `rows` rows, of heads_each heads; few blocks, so that no registers are spilled.
template <class T, int rows, int parts, bool packed>
__global__ void __launch_bounds__(warps* warp_size, rows* parts > 4               ? 2
                                                    : rows * parts > 1 || !packed ? 3
                                                    : sizeof(T) == 4              ? 4
                                                                     : 6 - fewer_blocks)
    attend_rows(CachedAttention p, int heads_each) {
  __shared__ Combined<parts> combined[rows];
  wait_for_earlier();
  Share w;
  w.row = int(blockIdx.x) * rows;
  const int end = min(w.row + rows, int(p.q.rows)), first_head = int(blockIdx.y) * heads_each;
  const int last_head = min(first_head + heads_each, p.heads);
  for (; w.row < end; w.row += w.here) {
    w.here = rows > 1 ? rows_with_same_keys(p, w.row, end) : 1;
    w.keys = keys_of(p, w.row);
    w.head = first_head + (w.alone() ? warp_index() : 0);
    for (; w.head < last_head; w.head += w.alone() ? warps : 1) {
      w.kv_head = int(unsigned(w.head) * unsigned(p.kv_heads) / unsigned(p.heads));
      w.slope = slope_of(p, w.head);
      attend<T, rows, parts, packed>(p, w, combined);
      if (rows == 1 && given(p.own_k)) keep_own<T, packed>(p, w);
    }
  }
}

// A row with few keys has a warp; then all warps take the others in turn.
template <class T>
__global__ void __launch_bounds__(warps* warp_size, 1)
    attend_projected(const Projection from, CachedAttention p) {
  __shared__ Combined<1> combined;
  unsigned char* shared = dynamic_shared<unsigned char>();
  Share w;
  w.head = w.kv_head = int(blockIdx.y), w.here = 1;
  const int first = int(blockIdx.x) * T::rows, count = min(T::rows, int(p.o.rows) - first);
  project<T>(from, w.head, first, count, shared);
  p.q = section_of<T>(from, 0, w.head, first, shared);
  p.own_k = section_of<T>(from, 1, w.head, first, shared);
  p.own_v = section_of<T>(from, 2, w.head, first, shared);
  w.slope = slope_of(p, w.head);
  const auto take = [&](int row, bool alone) {
    w.row = row;
    w.keys = keys_of(p, row);
    if (w.alone() != alone) return;
    attend<bf16, 1, 1, true>(p, w, &combined);
    keep_own<bf16, true>(p, w);
  };
  if (warp_index() < count) take(first + warp_index(), true);
  for (int i = 0; i < count; ++i) take(first + i, false);
}

// A warp per row and head if that fills the device, else a block. The results are bit-identical.
template <class T, int rows, int parts, bool packed>
void start(const Cuda::State& s, const CachedAttention& p) {
  const unsigned groups = blocks_of(p.q.rows, rows), by_warps = blocks_of(p.heads, warps);
  const bool many = groups * by_warps >= unsigned(s.processors);
  launch_early(s, attend_rows<T, rows, parts, packed>,
               dim3(groups, many ? by_warps : unsigned(p.heads)), warps * warp_size, 0, p,
               many ? warps : 1);
}

// Rows that share keys read them once, but one after the other: few rows, whose blocks run at once
// anyway, take less time alone. The bits are the same.
template <class T, int parts>
void start_packed(const Cuda::State& s, const CachedAttention& p) {
  const bool few = p.q.rows * p.heads < 4 * int64_t(s.processors);
  if (p.first && !few)
    start<T, 4, parts, true>(s, p);
  else
    start<T, 1, parts, true>(s, p);
}

bool all_packed(const CachedAttention& p) {
  return packs(p.q, 16) && packs(p.k, 16) && packs(p.v, 16) && packs(p.o, 16) &&
         packs(p.own_k, 16) && packs(p.own_v, 16) && p.d_k % 8 == 0 && p.d_v % 8 == 0;
}

}  // namespace

bool cached::self_projected(const Cuda::State& s, const Projection& from,
                            const CachedAttention& p) {
  return start_projected<3>(s, from, p, [](auto t) { return attend_projected<decltype(t)>; });
}

void Cuda::attention_projected(const AddNorm& norm, const RowProduct& x, const CachedAttention& p) {
  const int sections = p.own_k.empty() ? 1 : 3;
  const bool fits = state_->heads && !state_->profile && p.q.dtype == DType::bf16 &&
                    all_packed(p) && p.d_k == p.d_v && p.d_k % 16 == 0 && p.d_k <= chunk &&
                    x.prepared.rows == sections * p.queries() && packs(x.x, 16) &&
                    packs(x.prepared, 16) && cuda::fits_slices(norm, x.x.cols);
  if (fits) {
    Matrix w = x.prepared;
    w.data = const_cast<void*>(w.prepared);
    const Projection from{norm,  x.x,          w, static_cast<const float*>(x.bias.data), p.heads,
                          p.d_k, state_->early};
    if (sections == 1 ? cross_projected(*state_, from, p)
                      : p.heads == p.kv_heads && self_projected(*state_, from, p))
      return;
  }
  add_norm_matmul(norm, x);
  attention_cached(p);
}

void Cuda::attention_cached(const CachedAttention& p) {
  const Timed timed(*state_, "attention, cached", traffic(p.q, p.o));
  const bool packed = all_packed(p);
  TX_ASSERT(p.own_k.empty() || (p.index && p.heads % p.kv_heads == 0));
  for (const Matrix& m : {p.q, p.k, p.v, p.o, p.own_k, p.own_v})
    TX_ASSERT(m.stride <= std::numeric_limits<int32_t>::max());
  if (cross_attention(*state_, p, packed)) return;
  with_type(p.q.dtype, [&](auto t) {
    using T = decltype(t);
    if (!packed)
      start<T, 1, 2, false>(*state_, p);
    else if (p.d_k <= chunk && p.d_v <= chunk)
      start_packed<T, 1>(*state_, p);
    else
      start_packed<T, 2>(*state_, p);
  });
}

namespace {

constexpr int list_warps = 4;

// One warp per list.
__global__ void __launch_bounds__(list_warps* warp_size) extend(CacheLists p) {
  wait_for_earlier();
  const int64_t row = int64_t(blockIdx.x) * list_warps + int64_t(threadIdx.x) / warp_size;
  if (row >= p.rows) return;
  const int before = p.lengths[row] - 1;
  const int parent = p.parents[row], first = -1 - parent;
  const int32_t* from = p.from + (parent < 0 ? 0 : parent) * p.stride;
  int32_t* to = p.to + row * p.stride;
  for (int j = int(threadIdx.x) % warp_size; j < before; j += warp_size)
    to[j] = parent < 0 ? first + j : from[j];
  if (threadIdx.x % warp_size == 0) to[before] = p.slots[row];
}

}  // namespace

void Cuda::extend_lists(const CacheLists& p) {
  const Timed timed(*state_, "lists", {});
  launch_early(*state_, extend, dim3(blocks_of(p.rows, list_warps)), list_warps * warp_size, 0, p);
}

}  // namespace tx
