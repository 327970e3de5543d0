// Attention of single queries over cached keys and values (decoding), as many keys at a time as a
// vector has lanes. Consecutive rows whose first keys are the same (hypotheses of a sentence) form
// a team, which loads the shared keys and values once. A row's bits do not depend on the team.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "kernels/cpu.h"
#include "kernels/cpu/attention.h"
#include "kernels/cpu/softmax.h"
#include "kernels/cpu/wide.h"
#include "lib/base/first_error.h"

namespace tx {
namespace {

constexpr int kTeam = 4;
template <class A>
constexpr bool has_teams = !std::is_same_v<A, double>;  // f64 is only for tests

struct Team {
  int64_t first, shared;  // first row; number of leading keys that all its rows share
  int rows;
};

int64_t visible(const CachedAttention& p, int64_t row) {
  const int64_t length = p.lengths[row];
  return p.window ? std::min<int64_t>(length, p.window) : length;
}

// The number of leading keys shared by two rows of the same length that attend to the last `count`.
int64_t shared_keys(const CachedAttention& p, int64_t a, int64_t b, int64_t count) {
  if (p.first) return p.first[a] == p.first[b] ? count : 0;
  const int64_t skipped = p.lengths[a] - count;
  const int32_t* x = p.index + a * p.index_stride + skipped;
  const int32_t* y = p.index + b * p.index_stride + skipped;
  return std::mismatch(x, x + count, y).first - x;
}

std::vector<Team> teams_of(const CachedAttention& p, int max) {
  std::vector<Team> teams;
  for (int64_t row = 0; row < p.q.rows; ++row) {
    const int64_t count = visible(p, row);
    if (!teams.empty() && teams.back().rows < max && p.lengths[row - 1] == p.lengths[row]) {
      Team& team = teams.back();
      const int64_t shared = std::min(team.shared, shared_keys(p, team.first, row, count));
      if (shared > count / 2) {
        team.shared = shared;
        ++team.rows;
        continue;
      }
    }
    teams.push_back({row, count, 1});
  }
  return teams;
}

// The keys and values of one row and head, those within the window.
template <class C>
struct Cached {
  const C *k, *v;
  int64_t k_stride, v_stride, count;
  const int32_t* index;  // null: keys first, first + 1, ...
  int64_t first;

  TX_INLINE int64_t at(int64_t j) const { return index ? int64_t(index[j]) : first + j; }
  TX_INLINE const C* key(int64_t j) const { return k + at(j) * k_stride; }
  TX_INLINE const C* value(int64_t j) const { return v + at(j) * v_stride; }
  // Rows of a cache are scattered: no hardware prefetching.
  TX_INLINE void fetch_key(int64_t j, int64_t d_k) const {
    fetch(key(std::min(j, count - 1)), d_k);
  }
  TX_INLINE void fetch_value(int64_t j, int64_t column, int64_t columns) const {
    fetch(value(std::min(j, count - 1)) + column, columns);
  }

 private:
  static TX_INLINE void fetch(const C* x, int64_t elements) {
    for (int64_t l = 0; l < elements; l += 64 / int64_t(sizeof(C))) __builtin_prefetch(x + l);
  }
};

// One head of a team. Arrays are by row of the team.
template <class T, class C>
struct Task {
  int rows = 0;
  int64_t shared = 0, d_k = 0, d_v = 0;
  double scale = 1, slope = 0;      // per unit of distance, for unscaled scores
  DistanceBias distances;           // of the head
  Cached<C> c[kTeam], next[kTeam];  // `next`: the thread's next head, to prefetch
  const T* q[kTeam];
  T* o[kTeam];
};

template <class C>
TX_INLINE Cached<C> cached(const CachedAttention& p, int64_t row, int64_t query_head) {
  const int64_t head = query_head * p.kv_heads / p.heads, count = visible(p, row);
  const int64_t skipped = p.lengths[row] - count;
  return {p.k.row<C>(0) + head * p.d_k,
          p.v.row<C>(0) + head * p.d_v,
          p.k.stride,
          p.v.stride,
          count,
          p.first ? nullptr : p.index + row * p.index_stride + skipped,
          p.first ? p.first[row] + skipped : 0};
}

template <class T, class C>
Task<T, C> task_of(const CachedAttention& p, const std::vector<Team>& teams, int64_t number) {
  const Team& team = teams[size_t(number / p.heads)];
  const int64_t head = number % p.heads;
  Task<T, C> t;
  t.rows = team.rows, t.shared = team.shared, t.d_k = p.d_k, t.d_v = p.d_v;
  t.scale = p.scale;
  if (p.slopes) t.slope = p.slopes[head] / p.scale;
  t.distances = head_distances(p, head, p.q.dtype);
  const int64_t after = std::min(number + 1, int64_t(teams.size()) * p.heads - 1);
  const Team& following = teams[size_t(after / p.heads)];
  for (int r = 0; r < kTeam; ++r) t.q[r] = p.q.row<T>(team.first) + head * p.d_k;
  for (int r = 0; r < team.rows; ++r) {
    t.c[r] = cached<C>(p, team.first + r, head);
    const int64_t row = following.first + std::min(r, following.rows - 1);
    t.next[r] = cached<C>(p, row, after % p.heads);
    if (t.next[r].count == 0) t.next[r] = t.c[r];
    t.q[r] = p.q.row<T>(team.first + r) + head * p.d_k;
    t.o[r] = p.o.row<T>(team.first + r) + head * p.d_v;
  }
  return t;
}

// A thread's workspace per row of a team: softmax weights, query, and a row of values as vectors.
template <class A>
struct Scratch {
  std::vector<A> memory;
  A *x[kTeam], *wide[kTeam], *sums[kTeam];
  void reserve(int64_t count, int64_t d_k, int64_t d_v) {
    constexpr int64_t lanes = 64 / sizeof(A);
    const int64_t weights = padded<A>(count) + lanes;  // a block of keys may begin anywhere
    const int64_t each = weights + padded<A>(d_k) + padded<A>(d_v);
    memory.resize(size_t(kTeam * each));
    for (int r = 0; r < kTeam; ++r) {
      x[r] = memory.data() + r * each;
      wide[r] = x[r] + weights;
      sums[r] = wide[r] + padded<A>(d_k);
    }
  }
};

// x[j] = q . key j for the keys from .. to - 1 and N rows from `row` on, which share their keys.
template <class L, int N, class T, class C, class A>
TX_INLINE void scores(const Task<T, C>& t, const Scratch<A>& s, int row, int64_t from, int64_t to) {
  using W = Wide<C, L>;
  using V = typename W::V;
  constexpr int lanes = L::count;
  const int64_t groups = t.d_k / W::group;
  const Cached<C>& c = t.c[row];
  for (int64_t j = from; j < to; j += lanes) {
    const int here = int(std::min<int64_t>(lanes, to - j));
    V sums[N][lanes];
    for (int n = 0; n < N; ++n)
      for (int i = here; i < lanes; ++i) sums[n][i] = V{};
    for (int i = 0; i < here; ++i) {
      const C* key = c.key(j + i);
      t.next[row].fetch_key(j + i, t.d_k);
      V sum[N] = {}, part[W::parts];
      for (int64_t g = 0; g < groups; ++g) {
        W::load_group(key + g * W::group, part);
        for (int p = 0; p < W::parts; ++p)
          for (int n = 0; n < N; ++n)
            sum[n] =
                fused(part[p], load_lanes<V>(s.wide[row + n] + (g * W::parts + p) * lanes), sum[n]);
      }
      for (int n = 0; n < N; ++n) sums[n][i] = sum[n];
    }
    for (int n = 0; n < N; ++n) {
      A* x = s.x[row + n] + j;
      store_lanes(x, sum_across(sums[n]));
      for (int64_t l = groups * W::group; l < t.d_k; ++l)
        for (int i = 0; i < here; ++i) x[i] += load(t.q[row + n][l]) * load(c.key(j + i)[l]);
    }
  }
}

// sums (+)= x[j] times value j, over j = from .. to - 1, for N rows from `row` on, which all have
// the values of `row`, and for Groups groups of columns from `column` on. Adds if from > 0.
template <class L, int N, int Groups, class T, class C, class A>
TX_INLINE void weigh(const Task<T, C>& t, const Scratch<A>& s, int row, int64_t from, int64_t to,
                     int64_t column) {
  using W = Wide<C, L>;
  using V = typename W::V;
  constexpr int lanes = L::count, vectors = Groups * W::parts;
  V sum[N][vectors], part[W::parts];
  for (int n = 0; n < N; ++n)
    for (int i = 0; i < vectors; ++i)
      sum[n][i] = from ? load_lanes<V>(s.sums[row + n] + column + i * lanes) : V{};
  for (int64_t j = from; j < to; ++j) {
    const C* value = t.c[row].value(j) + column;
    t.next[row].fetch_value(j, column, Groups * W::group);
    for (int g = 0; g < Groups; ++g) {
      W::load_group(value + g * W::group, part);
      for (int p = 0; p < W::parts; ++p)
        for (int n = 0; n < N; ++n) {
          V& to = sum[n][g * W::parts + p];
          to = fused(s.x[row + n][j] - V{}, part[p], to);
        }
    }
  }
  for (int n = 0; n < N; ++n)
    for (int i = 0; i < vectors; ++i) store_lanes(s.sums[row + n] + column + i * lanes, sum[n][i]);
}

template <class L, int N, class T, class C, class A>
TX_INLINE void weigh_all(const Task<T, C>& t, const Scratch<A>& s, int row, int64_t from,
                         int64_t to) {
  constexpr int64_t group = Wide<C, L>::group;
  int64_t column = 0;
  for (; column + 2 * group <= t.d_v; column += 2 * group)
    weigh<L, N, 2>(t, s, row, from, to, column);
  if (column + group <= t.d_v) weigh<L, N, 1>(t, s, row, from, to, column);
}

// Writes the sums of `row` to its output, including the columns after the last whole group.
template <class L, class T, class C, class A>
TX_INLINE void finish(const Task<T, C>& t, const Scratch<A>& s, int row, int64_t count) {
  using W = Wide<C, L>;
  using V = typename W::V;
  constexpr int lanes = L::count;
  A* sums = s.sums[row];
  int64_t l = 0;
  for (; l + W::group <= t.d_v; l += W::group) {
    V part[W::parts];
    for (int p = 0; p < W::parts; ++p) part[p] = load_lanes<V>(sums + l + p * lanes);
    W::join(part);
    for (int p = 0; p < W::parts; ++p) store_lanes(sums + l + p * lanes, part[p]);
  }
  for (int64_t i = 0; i < l; ++i) store(t.o[row][i], sums[i]);
  for (; l < t.d_v; ++l) {
    A sum = 0;
    for (int64_t j = 0; j < count; ++j) sum += s.x[row][j] * load(t.c[row].value(j)[l]);
    store(t.o[row][l], sum);
  }
}

// The whole groups of the query of `row` as vectors, in the order of those of a key.
template <class L, class T, class C, class A>
TX_INLINE void widen_query(const Task<T, C>& t, const Scratch<A>& s, int row) {
  using W = Wide<C, L>;
  using V = typename W::V;
  constexpr int lanes = L::count;
  for (int64_t l = 0; l + W::group <= t.d_k; l += W::group) {
    V part[W::parts];
    for (int p = 0; p < W::parts; ++p) part[p] = load_lanes<V>(t.q[row] + l + p * lanes);
    W::split(part);
    for (int p = 0; p < W::parts; ++p) store_lanes(s.wide[row] + l + p * lanes, part[p]);
  }
}

// First the shared keys, always for kTeam rows, repeating the first; then the other keys per row.
template <class L, class T, class C, class A>
TX_INLINE void attend(const Task<T, C>& t, Scratch<A>& s) {
  const int64_t count = t.c[0].count, own = t.rows > 1 ? t.shared : 0;
  if (count == 0) {
    for (int r = 0; r < t.rows; ++r)
      for (int64_t l = 0; l < t.d_v; ++l) store(t.o[r][l], A(0));
    return;
  }
  s.reserve(count, t.d_k, t.d_v);
  for (int r = 0; r < (own ? kTeam : 1); ++r) widen_query<L>(t, s, r);
  if constexpr (has_teams<A>) {
    if (own) scores<L, kTeam>(t, s, 0, 0, own);
  }
  for (int r = 0; r < t.rows; ++r) {
    if (own < count) scores<L, 1>(t, s, r, own, count);
    if (t.slope != 0)
      for (int64_t j = 0; j < count; ++j) s.x[r][j] -= A(t.slope) * A(count - 1 - j);
    if (t.distances.values) add_distances(t.distances, count - 1, 0, count, t.scale, s.x[r]);
    softmax_row<L>(s.x[r], count, padded<A>(count), A(t.scale));
  }
  constexpr bool sums_fit = has_teams<A> && L::registers == 1;  // in the registers
  if constexpr (sums_fit) {
    if (own) weigh_all<L, kTeam>(t, s, 0, 0, own);
  }
  for (int r = 0; r < t.rows; ++r) {
    const int64_t from = sums_fit ? own : 0;
    if (from < count) weigh_all<L, 1>(t, s, r, from, count);
    finish<L>(t, s, r, count);
  }
}

// T: of queries and outputs; C: of the cache.
template <class T, class C>
void attend_rows(const CachedAttention& p, int threads) {
  using A = acc_t<T>;
  const std::vector<Team> teams = teams_of(p, has_teams<A> ? kTeam : 1);
  const int64_t tasks = int64_t(teams.size()) * p.heads;
  FirstError failure;
#pragma omp parallel num_threads(threads)
  {
    Scratch<A> scratch;
#pragma omp for
    for (int64_t i = 0; i < tasks; ++i) {
      const Task<T, C> task = task_of<T, C>(p, teams, i);
      failure.run([&] {
        with_lanes<A>([&](auto lanes) TX_INLINE_LAMBDA {
          using L = decltype(lanes);
          attend<L>(task, scratch);
        });
      });
    }
  }
  failure.rethrow();
}

// The cache row of each row's last key.
std::vector<int32_t> last_keys(const CachedAttention& p) {
  std::vector<int32_t> rows(size_t(p.q.rows));
  for (int64_t r = 0; r < p.q.rows; ++r)
    rows[size_t(r)] = p.index[r * p.index_stride + p.lengths[r] - 1];
  return rows;
}

}  // namespace

void Cpu::attention_projected(const AddNorm& norm, const RowProduct& x, const CachedAttention& p) {
  add_norm_matmul(norm, x);
  attention_cached(p);
}

void Cpu::attention_cached(const CachedAttention& p) {
  TX_ASSERT(p.k.dtype == p.v.dtype && p.q.dtype == p.o.dtype);
  if (!p.own_k.empty()) {
    const std::vector<int32_t> rows = last_keys(p);
    scatter_rows(p.own_k, rows.data(), p.k);
    scatter_rows(p.own_v, rows.data(), p.v);
  }
  if (p.q.dtype == DType::f32 && p.k.dtype == DType::bf16)
    return attend_rows<float, bf16>(p, threads);
  TX_ASSERT(p.k.dtype == p.q.dtype);
  with_type(p.q.dtype, [&](auto t) { attend_rows<decltype(t), decltype(t)>(p, threads); });
}

void Cpu::extend_lists(const CacheLists& p) {
  for (int64_t r = 0; r < p.rows; ++r) {
    const size_t before = size_t(p.lengths[r] - 1);
    int32_t* to = p.to + r * p.stride;
    if (p.parents[r] < 0)
      std::iota(to, to + before, -1 - p.parents[r]);
    else if (before)
      std::memcpy(to, p.from + p.parents[r] * p.stride, before * sizeof *to);
    to[before] = p.slots[r];
  }
}

}  // namespace tx
