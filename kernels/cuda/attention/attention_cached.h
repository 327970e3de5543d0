// The building blocks of attention_cached.cu, and of attention_cross.cu: one step of a team of
// lanes over four keys.
#pragma once
#include "kernels/cuda/attention/attention.h"
#include "kernels/cuda/runtime/octet.h"

namespace tx::cached {

constexpr int warps = 4, team_lanes = 8, warp_teams = warp_size / team_lanes;
constexpr int in_flight = 4, chunk = team_lanes * 8;
constexpr int alone_keys = 64;

// `left`: elements from here to the end of the head; zero beyond.
template <bool packed, class T>
TX_DEVICE Octet<T> load_eight(const T* from, int left) {
  if (packed && left <= 0) return {};
  return read_octet(from, left, packed);
}

template <bool packed, class T>
TX_DEVICE void store_eight(T* to, int left, const float (&x)[8]) {
  if (!packed || left > 0) write_octet(to, left, packed, octet_of<T>(x));
}

// The running softmax and weighted values of one team; the columns of one lane.
template <int parts>
struct Running {
  float most, sum, o[parts][8];

  TX_DEVICE void begin() {
    most = -INFINITY;
    sum = 0;
#pragma unroll
    for (int c = 0; c < parts; ++c)
#pragma unroll
      for (int j = 0; j < 8; ++j) o[c][j] = 0;
  }
  // The largest score so far rises to `next`.
  template <class T>
  TX_DEVICE void rise(float next, float scale) {
    const float factor = exponential<T>((most - base(next)) * scale);
    most = next;
    sum *= factor;
#pragma unroll
    for (int c = 0; c < parts; ++c)
#pragma unroll
      for (int j = 0; j < 8; ++j) o[c][j] *= factor;
  }
  // Before the first score the maximum is minus infinity: the difference would be NaN.
  static TX_DEVICE float base(float most) { return most == -INFINITY ? 0.f : most; }
};

// The keys of one row, or of rows that share them.
struct Keys {
  const int32_t* index;  // null: first, first + 1, ...
  int32_t first;
  int count;
  TX_DEVICE int32_t at(int j) const { return index ? index[j] : first + j; }
};

TX_DEVICE int warp_index() { return int(threadIdx.x) / warp_size; }
TX_DEVICE int warp_lane() { return int(threadIdx.x) % warp_size; }
TX_DEVICE int lane_columns() { return int(threadIdx.x) % team_lanes * 8; }

// The number of rows from `row` on, before `end`, with the same keys.
TX_DEVICE int rows_with_same_keys(const CachedAttention& p, int row, int end) {
  int other = row + 1;
  while (other < end && p.first[other] == p.first[row] && p.lengths[other] == p.lengths[row])
    ++other;
  return other - row;
}

// The work of a warp: `here` rows from `row` on, one head, and all keys or its share of them.
struct Share {
  Keys keys;
  int row, here, head, kv_head, column;
  float slope;  // before p.scale

  TX_DEVICE bool alone() const { return keys.count <= alone_keys; }
  TX_DEVICE int teams() const { return alone() ? warp_teams : warps * warp_teams; }
  // A team takes keys team(), team() + teams(), ...
  TX_DEVICE int team() const { return int(threadIdx.x) / team_lanes % teams(); }
};

// The keys and values of one step of a team, from key j0 on.
template <class T, int parts>
struct Step {
  const T* key[in_flight];
  bool seen[in_flight];
  int j0;
  Octet<T> value[in_flight][parts];
};

// The first element of the head that a warp works on, in row `at` of keys or values. Strides fit
// into 32 bits, so that the product is one instruction.
template <class T>
TX_DEVICE T* head_of(const Matrix& x, int32_t at, int kv_head, int width) {
  return static_cast<T*>(x.data) + int64_t(at) * int32_t(x.stride) + kv_head * width;
}

template <int rows, bool packed, class T, int parts>
TX_DEVICE void begin_step(const CachedAttention& p, const Share& w, int j0, Step<T, parts>& step) {
  step.j0 = j0;
#pragma unroll
  for (int u = 0; u < in_flight; ++u) {
    const int j = j0 + w.team() + u * w.teams(), offset = w.column + lane_columns();
    step.seen[u] = j < w.keys.count;
    const int32_t at = step.seen[u] ? w.keys.at(j) : 0;
    const T *k = head_of<const T>(p.k, at, w.kv_head, p.d_k),
            *v = head_of<const T>(p.v, at, w.kv_head, p.d_v) + offset;
    if (rows == 1 && given(p.own_k) && j == w.keys.count - 1) {
      k = head_of<const T>(p.own_k, w.row, w.kv_head, p.d_k);
      v = head_of<const T>(p.own_v, w.row, w.kv_head, p.d_v) + offset;
    }
    step.key[u] = k + lane_columns();
#pragma unroll
    for (int c = 0; c < parts; ++c)
      step.value[u][c] =
          load_eight<packed>(v + c * chunk, step.seen[u] ? p.d_v - offset - c * chunk : 0);
  }
}

// A lane's columns l .. l + 7 of the keys.
template <bool packed, class T, int parts>
TX_DEVICE void load_keys(const CachedAttention& p, const Step<T, parts>& step, int l,
                         Octet<T> (&k)[in_flight]) {
#pragma unroll
  for (int u = 0; u < in_flight; ++u)
    k[u] = load_eight<packed>(step.key[u] + l, step.seen[u] ? p.d_k - lane_columns() - l : 0);
}

// s += the products of these columns with those of row r's query.
template <bool packed, class T>
TX_DEVICE void add_scores(const CachedAttention& p, const Share& w, int r, int l,
                          const Octet<T> (&k)[in_flight], float (&s)[in_flight]) {
  const int column = lane_columns() + l;
  const T* query = head_of<const T>(p.q, w.row + r, w.head, p.d_k) + column;
  const Octet<T> q = load_eight<packed>(query, p.d_k - column);
#pragma unroll
  for (int u = 0; u < in_flight; ++u)
#pragma unroll
    for (int j = 0; j < 8; ++j) s[u] = fmaf(q[j], k[u][j], s[u]);
}

// Adds the step's values, weighted by its scores, which are summed over the lanes first.
template <class T, int parts>
TX_DEVICE void absorb(const CachedAttention& p, const Share& w, const Step<T, parts>& step,
                      float (&s)[in_flight], Running<parts>& state) {
  float next = state.most;
#pragma unroll
  for (int u = 0; u < in_flight; ++u) {
#pragma unroll
    for (int lane = team_lanes / 2; lane > 0; lane /= 2)
      s[u] += __shfl_xor_sync(whole_warp, s[u], lane);
    s[u] = shifted(p, w.head, w.slope, s[u], w.keys.count - 1, step.j0 + w.team() + u * w.teams());
    if (step.seen[u]) next = fmaxf(next, s[u]);
  }
  state.template rise<T>(next, float(p.scale));
#pragma unroll
  for (int u = 0; u < in_flight; ++u) {
    const float distance = (s[u] - state.base(next)) * float(p.scale);
    const float weight = step.seen[u] ? exponential<T>(distance) : 0.f;
    state.sum += weight;
#pragma unroll
    for (int c = 0; c < parts; ++c)
#pragma unroll
      for (int j = 0; j < 8; ++j) state.o[c][j] = fmaf(weight, step.value[u][c][j], state.o[c][j]);
  }
}

// One step of a team for all rows. With one part, each row's scores are used at once.
template <class T, int rows, int parts, bool packed>
TX_DEVICE void take_step(const CachedAttention& p, const Share& w, int j0,
                         Running<parts> (&running)[rows]) {
  Step<T, parts> step;
  begin_step<rows, packed>(p, w, j0, step);
  Octet<T> k[in_flight];
  if constexpr (parts == 1) {
    load_keys<packed>(p, step, 0, k);
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      if (r >= w.here) break;
      float s[in_flight] = {};
      add_scores<packed>(p, w, r, 0, k, s);
      absorb(p, w, step, s, running[r]);
    }
  } else {
    float s[rows][in_flight] = {};
    for (int l = 0; l < p.d_k; l += chunk) {
      load_keys<packed>(p, step, l, k);
#pragma unroll
      for (int r = 0; r < rows; ++r)
        if (r < w.here) add_scores<packed>(p, w, r, l, k, s[r]);
    }
#pragma unroll
    for (int r = 0; r < rows; ++r)
      if (r < w.here) absorb(p, w, step, s[r], running[r]);
  }
}

// attention_cross.cu: launches p if it is of the form for which that has a kernel, which depends
// neither on the rows nor on alignment. packed: whether everything may be moved in packs of 16
// bytes.
bool cross_attention(const Cuda::State& s, const CachedAttention& p, bool packed);

}  // namespace tx::cached
