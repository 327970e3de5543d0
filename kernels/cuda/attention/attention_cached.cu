// Attention of single queries against cached keys and values (decoding). A block takes one head of
// one row. Its 16 teams of 8 lanes take keys in turn, four in flight each, and run their own
// softmax; what they hold is combined in a fixed order at the end, so that every sum depends on the
// row alone. A lane holds 8 consecutive columns of every 64, in one load where addresses allow.
// Rows of one sentence (hypotheses of a beam) share their keys in cross-attention: there a block
// takes up to four of them and reads keys and values once, with the same arithmetic per row.
#include "kernels/cuda/attention/attention.h"
#include "kernels/cuda/runtime/profile.h"

namespace tx {
namespace {

constexpr int warps = 4, team_lanes = 8, teams = warps * warp_size / team_lanes;
constexpr int in_flight = 4, chunk = team_lanes * 8;

// 8 elements as they lie in memory.
template <class T>
struct Eight {
  static constexpr int each = 16 / int(sizeof(T));
  Pack<T, each> part[8 / each];
  TX_DEVICE float operator[](int j) const { return load(part[j / each].at[j % each]); }
};

// `left`: elements from here to the end of the head; zero beyond.
template <bool packed, class T>
TX_DEVICE Eight<T> load_eight(const T* from, int left) {
  using E = Eight<T>;
  E x;
  if constexpr (packed) {
    for (int i = 0; i < 8 / E::each; ++i) {
      if (left > 0)
        x.part[i] = reinterpret_cast<const Pack<T, E::each>*>(from)[i];
      else
        x.part[i] = {};
    }
  } else {
    for (int j = 0; j < 8; ++j) x.part[j / E::each].at[j % E::each] = j < left ? from[j] : T{};
  }
  return x;
}

// Softmax and weighted values of the keys that one team has seen; the columns of one lane.
template <int parts>
struct Running {
  float most, sum, o[parts][8];

  TX_DEVICE void begin() {
    most = -INFINITY;
    sum = 0;
    for (int c = 0; c < parts; ++c)
      for (int j = 0; j < 8; ++j) o[c][j] = 0;
  }
  // The largest score so far rises to `next`.
  template <class T>
  TX_DEVICE void rise(float next, float scale) {
    const float factor = exponential<T>((most - base(next)) * scale);
    most = next;
    sum *= factor;
    for (int c = 0; c < parts; ++c)
      for (int j = 0; j < 8; ++j) o[c][j] *= factor;
  }
  // Before any score, the largest is minus infinity, which cannot be subtracted from itself.
  static TX_DEVICE float base(float most) { return most == -INFINITY ? 0.f : most; }
};

// The keys of one row, or of several rows that share them.
struct Keys {
  const int32_t* index;  // null: first, first + 1, ...
  int64_t first;
  int count;
  TX_DEVICE int64_t at(int j) const { return index ? int64_t(index[j]) : first + j; }
};

TX_DEVICE int team_index() { return int(threadIdx.x) / team_lanes; }
TX_DEVICE int team_lane() { return int(threadIdx.x) % team_lanes; }

// One step of a team: keys j0 + team + 16 u, u < 4, for all rows; values from `column` on.
template <class T, int rows, int parts, bool packed>
TX_DEVICE void step(const CachedAttention& p, const Keys& keys, int query_head, int j0, int column,
                    const float* q, int pitch, int here, Running<parts> (&running)[rows]) {
  Eight<T> value[in_flight][parts];
  const T* key[in_flight];
  bool seen[in_flight];
  float s[rows][in_flight] = {};
  const int offset = team_lane() * 8;
  const int head = int(int64_t(query_head) * p.kv_heads / p.heads);
  const float slope = p.slopes ? float(p.slopes[query_head] / p.scale) : 0.f;
#pragma unroll
  for (int u = 0; u < in_flight; ++u) {
    const int j = j0 + team_index() + u * teams;
    seen[u] = j < keys.count;
    const int64_t at = seen[u] ? keys.at(j) : 0;
    key[u] = static_cast<const T*>(p.k.data) + at * p.k.stride + int64_t(head) * p.d_k + offset;
    const T* v =
        static_cast<const T*>(p.v.data) + at * p.v.stride + int64_t(head) * p.d_v + column + offset;
#pragma unroll
    for (int c = 0; c < parts; ++c)
      value[u][c] =
          load_eight<packed>(v + c * chunk, seen[u] ? p.d_v - column - offset - c * chunk : 0);
  }
  for (int l = 0; l < p.d_k; l += chunk) {
    Eight<T> k[in_flight];
#pragma unroll
    for (int u = 0; u < in_flight; ++u)
      k[u] = load_eight<packed>(key[u] + l, seen[u] ? p.d_k - offset - l : 0);
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      if (r >= here) break;
      const auto* at = reinterpret_cast<const Pack<float, 4>*>(q + r * pitch + l + offset);
      const Pack<float, 4> query[2] = {at[0], at[1]};
#pragma unroll
      for (int u = 0; u < in_flight; ++u)
#pragma unroll
        for (int j = 0; j < 8; ++j) s[r][u] = fmaf(query[j / 4].at[j % 4], k[u][j], s[r][u]);
    }
  }
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    if (r >= here) break;
    Running<parts>& state = running[r];
    float next = state.most;
#pragma unroll
    for (int u = 0; u < in_flight; ++u) {
#pragma unroll
      for (int lane = team_lanes / 2; lane > 0; lane /= 2)
        s[r][u] += __shfl_xor_sync(whole_warp, s[r][u], lane);
      s[r][u] -= slope * float(keys.count - 1 - (j0 + team_index() + u * teams));
      if (seen[u]) next = fmaxf(next, s[r][u]);
    }
    state.template rise<T>(next, float(p.scale));
#pragma unroll
    for (int u = 0; u < in_flight; ++u) {
      const float distance = (s[r][u] - state.base(next)) * float(p.scale);
      const float weight = seen[u] ? exponential<T>(distance) : 0.f;
      state.sum += weight;
#pragma unroll
      for (int c = 0; c < parts; ++c)
#pragma unroll
        for (int j = 0; j < 8; ++j) state.o[c][j] = fmaf(weight, value[u][c][j], state.o[c][j]);
    }
  }
}

template <int parts>
struct Combined {  // one row in shared memory: what each warp found
  float most[warps], sum[warps], o[warps][parts * chunk];
};

// The sums of all teams: the four of a warp by shuffles, then the warps through shared memory.
template <class T, int rows, int parts>
TX_DEVICE void combine(const CachedAttention& p, int64_t row, int head, int column, int here,
                       Running<parts> (&running)[rows], Combined<parts>* shared) {
  const int warp = int(threadIdx.x) / warp_size, lane = int(threadIdx.x) % warp_size;
  const float scale = float(p.scale);
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    if (r >= here) break;
    Running<parts>& state = running[r];
    float next = state.most;
    for (int step = team_lanes; step < warp_size; step *= 2)
      next = fmaxf(next, __shfl_xor_sync(whole_warp, next, step));
    state.template rise<T>(next, scale);
#pragma unroll
    for (int step = team_lanes; step < warp_size; step *= 2) {
      state.sum += __shfl_xor_sync(whole_warp, state.sum, step);
#pragma unroll
      for (int c = 0; c < parts; ++c)
#pragma unroll
        for (int j = 0; j < 8; ++j)
          state.o[c][j] += __shfl_xor_sync(whole_warp, state.o[c][j], step);
    }
    if (lane == 0) shared[r].most[warp] = state.most, shared[r].sum[warp] = state.sum;
    if (lane < team_lanes) {
#pragma unroll
      for (int c = 0; c < parts; ++c)
#pragma unroll
        for (int j = 0; j < 8; ++j) shared[r].o[warp][c * chunk + lane * 8 + j] = state.o[c][j];
    }
  }
  __syncthreads();
  for (int r = 0; r < here; ++r) {
    const Combined<parts>& of = shared[r];
    float next = of.most[0], sum = 0, factor[warps];
    for (int w = 1; w < warps; ++w) next = fmaxf(next, of.most[w]);
    for (int w = 0; w < warps; ++w) {
      factor[w] = exponential<T>((of.most[w] - Running<parts>::base(next)) * scale);
      sum = fmaf(of.sum[w], factor[w], sum);
    }
    T* out = static_cast<T*>(p.o.data) + (row + r) * p.o.stride + int64_t(head) * p.d_v + column;
    for (int j = int(threadIdx.x); j < min(parts * chunk, p.d_v - column); j += int(blockDim.x)) {
      float total = 0;
      for (int w = 0; w < warps; ++w) total = fmaf(of.o[w][j], factor[w], total);
      store(out[j], sum == 0 ? 0.f : total / sum);  // no key: zeros
    }
  }
}

// Rows that the block of row `row` takes: those with the same keys up to the next multiple of
// `rows`. 0: another block has taken this row.
template <int rows>
TX_DEVICE int rows_here(const CachedAttention& p, int64_t row) {
  const auto same = [&](int64_t other) {
    return p.first[row] == p.first[other] && p.lengths[row] == p.lengths[other];
  };
  if (row % rows != 0 && same(row - 1)) return 0;
  int here = 1;
  while ((row + here) % rows != 0 && row + here < p.q.rows && same(row + here)) ++here;
  return here;
}

// Grid: rows, heads. Dynamic shared memory: the queries in f32, `pitch` each.
template <class T, int rows, int parts, bool packed>
__global__ void __launch_bounds__(warps* warp_size, rows* parts > 4    ? 2
                                                    : rows * parts > 1 ? 3
                                                                       : 4)
    attend_rows(CachedAttention p, int pitch) {
  __shared__ Combined<parts> combined[rows];
  float* q = dynamic_shared<float>();
  const int64_t row = blockIdx.x;
  const int head = int(blockIdx.y);
  int here = 1;
  if constexpr (rows > 1) here = rows_here<rows>(p, row);
  if (here == 0) return;
  const int count = p.window ? min(p.lengths[row], p.window) : p.lengths[row];
  const int skipped = p.lengths[row] - count;  // before the window
  const Keys keys{p.first ? nullptr : p.index + row * p.index_stride + skipped,
                  p.first ? p.first[row] + skipped : 0, count};
  for (int r = 0; r < here; ++r) {
    const T* from =
        static_cast<const T*>(p.q.data) + (row + r) * p.q.stride + int64_t(head) * p.d_k;
    for (int l = int(threadIdx.x); l < pitch; l += int(blockDim.x))
      q[r * pitch + l] = l < p.d_k ? load(from[l]) : 0.f;
  }
  __syncthreads();
  for (int column = 0; column < p.d_v; column += parts * chunk) {
    Running<parts> running[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r) running[r].begin();
    for (int j0 = 0; j0 < keys.count; j0 += teams * in_flight)
      step<T, rows, parts, packed>(p, keys, head, j0, column, q, pitch, here, running);
    combine<T>(p, row, head, column, here, running, combined);
    __syncthreads();
  }
}

template <class T, int rows, int parts, bool packed>
void start(const Cuda::State& s, const CachedAttention& p) {
  const int pitch = (p.d_k + chunk - 1) / chunk * chunk;
  launch(s, attend_rows<T, rows, parts, packed>, dim3(unsigned(p.q.rows), unsigned(p.heads)),
         warps * warp_size, size_t(rows) * size_t(pitch) * sizeof(float), p, pitch);
}

template <class T, int parts>
void start_packed(const Cuda::State& s, const CachedAttention& p) {
  if (p.first)
    start<T, 4, parts, true>(s, p);
  else
    start<T, 1, parts, true>(s, p);
}

}  // namespace

void Cuda::attention_cached(const CachedAttention& p) {
  const Timed timed(*state_, "attention, cached", traffic(p.q, p.o));
  const bool packed = packs(p.k, 16) && packs(p.v, 16) && p.d_k % 8 == 0 && p.d_v % 8 == 0;
  with_type(p.q.dtype, [&](auto t) {
    using T = decltype(t);
    if (!packed)
      start<T, 1, 2, false>(*state_, p);
    else if (p.d_v <= chunk)
      start_packed<T, 1>(*state_, p);
    else
      start_packed<T, 2>(*state_, p);
  });
}

}  // namespace tx
