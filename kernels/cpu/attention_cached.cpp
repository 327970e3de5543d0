// Attention of single queries over cached keys and values (decoding). As many keys are taken at a
// time as a vector has lanes, so that their dot products are summed across lanes together. The
// order of every sum depends on the row alone.
#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/cpu.h"
#include "kernels/cpu/small_product.h"
#include "kernels/cpu/softmax.h"

namespace tx {
namespace {

// Neighbours of two registers: first = e0 o0 e1 o1 .., second the rest.
template <class V>
TX_INLINE void zip(const V& even, const V& odd, V& first, V& second) {
  if constexpr (is_twice<V>) {
    zip(even.lo, odd.lo, first.lo, first.hi);
    zip(even.hi, odd.hi, second.lo, second.hi);
  } else {
    [&]<int... I>(std::integer_sequence<int, I...>) TX_INLINE_LAMBDA {
      constexpr int n = sizeof...(I);
      first = __builtin_shufflevector(even, odd, (I / 2 + I % 2 * n)...);
      second = __builtin_shufflevector(even, odd, (I / 2 + n / 2 + I % 2 * n)...);
    }
    (std::make_integer_sequence<int, lanes_of<V>>());
  }
}

// The low (first of two) and high halves of the words at x.
template <class V>
TX_INLINE void load_pairs(const bf16* x, V& low, V& high) {
  if constexpr (is_twice<V>) {
    load_pairs(x, low.lo, high.lo);
    load_pairs(x + 2 * lanes_of<typename V::Half>, low.hi, high.hi);
  } else {
    typename Register<uint32_t, sizeof(V)>::Type words;
    std::memcpy(&words, x, sizeof words);
    low = V(words << 16);
    high = V(words & 0xffff0000u);
  }
}

// `group` consecutive elements as `parts` vectors of the sum type. The lanes of bf16 come as the
// even elements and the odd ones, which costs one operation each; join() puts them in order again.
template <class T, class L>
struct Wide {
  using V = typename L::Vector;
  static constexpr int parts = 1, group = L::count;
  static TX_INLINE void load_group(const T* x, V* out) { out[0] = load_lanes<V>(x); }
  static TX_INLINE void join(V*) {}
};

template <class L>
struct Wide<bf16, L> {
  using V = typename L::Vector;
  static constexpr int parts = 2, group = 2 * L::count;
  static TX_INLINE void load_group(const bf16* x, V* out) { load_pairs(x, out[0], out[1]); }
  static TX_INLINE void join(V* x) {
    const V even = x[0], odd = x[1];
    zip(even, odd, x[0], x[1]);
  }
};

// Lane i of the result is the sum of the lanes of x[i], neighbours first.
template <class V>
TX_INLINE V sum_across(V* x) {
  if constexpr (is_twice<V>) {
    using H = typename V::Half;
    constexpr int lanes = lanes_of<V>;
    H lo[lanes], hi[lanes];
    for (int i = 0; i < lanes; ++i) lo[i] = x[i].lo, hi[i] = x[i].hi;
    return {sum_across(lo) + sum_across(hi),
            sum_across(lo + lanes / 2) + sum_across(hi + lanes / 2)};
  } else {
    constexpr int lanes = lanes_of<V>;
    for (int left = lanes; left > 1; left /= 2)
      for (int i = 0; i < left / 2; ++i) {
        const V a = x[2 * i], b = x[2 * i + 1];
        x[i] = [&]<int... I>(std::integer_sequence<int, I...>) TX_INLINE_LAMBDA {
          return __builtin_shufflevector(a, b, (2 * I)...) +
                 __builtin_shufflevector(a, b, (2 * I + 1)...);
        }
        (std::make_integer_sequence<int, lanes>());
      }
    return x[0];
  }
}

// The keys and values of one row and head, those within the window.
template <class T>
struct Cached {
  const T *k, *v;
  int64_t k_stride, v_stride, count;
  const int32_t* index;  // null: keys first, first + 1, ...
  int64_t first;

  TX_INLINE int64_t at(int64_t j) const { return index ? int64_t(index[j]) : first + j; }
  TX_INLINE const T* key(int64_t j) const { return k + at(j) * k_stride; }
  TX_INLINE const T* value(int64_t j) const { return v + at(j) * v_stride; }
  // The rows of a cache are scattered, so the processor does not prefetch them.
  TX_INLINE void fetch_key(int64_t j, int64_t d_k) const {
    fetch(key(std::min(j, count - 1)), d_k);
  }
  TX_INLINE void fetch_value(int64_t j, int64_t column, int64_t columns) const {
    fetch(value(std::min(j, count - 1)) + column, columns);
  }

 private:
  static TX_INLINE void fetch(const T* x, int64_t elements) {
    for (int64_t l = 0; l < elements; l += 64 / int64_t(sizeof(T))) __builtin_prefetch(x + l);
  }
};

template <class T>
TX_INLINE Cached<T> cached(const CachedAttention& p, int64_t task) {
  const int64_t row = task / p.heads, head = task % p.heads * p.kv_heads / p.heads;
  const int64_t length = p.lengths[row];
  const int64_t count = p.window ? std::min<int64_t>(length, p.window) : length;
  return {p.k.row<T>(0) + head * p.d_k,
          p.v.row<T>(0) + head * p.d_v,
          p.k.stride,
          p.v.stride,
          count,
          p.first ? nullptr : p.index + row * p.index_stride + (length - count),
          p.first ? p.first[row] + (length - count) : 0};
}

// x (padded to lanes) = q . key of every key. q: its whole groups as vectors, in `wide`. `next` is
// what comes after c.
template <class L, class T, class A>
TX_INLINE void scores(const Cached<T>& c, const Cached<T>& next, const T* q, const A* wide,
                      int64_t d_k, A* x) {
  using W = Wide<T, L>;
  using V = typename W::V;
  constexpr int lanes = L::count;
  const int64_t groups = d_k / W::group;
  for (int64_t j = 0; j < c.count; j += lanes) {
    const int here = int(std::min<int64_t>(lanes, c.count - j));
    V sums[lanes];
    for (int i = here; i < lanes; ++i) sums[i] = V{};
    for (int i = 0; i < here; ++i) {
      const T* key = c.key(j + i);
      next.fetch_key(j + i, d_k);
      V sum = {}, part[W::parts];
      for (int64_t g = 0; g < groups; ++g) {
        W::load_group(key + g * W::group, part);
        for (int p = 0; p < W::parts; ++p) {
          sum += part[p] * load_lanes<V>(wide + (g * W::parts + p) * lanes);
        }
      }
      sums[i] = sum;
    }
    store_lanes(x + j, sum_across(sums));
    for (int64_t l = groups * W::group; l < d_k; ++l) {
      for (int i = 0; i < here; ++i) x[j + i] += load(q[l]) * load(c.key(j + i)[l]);
    }
  }
}

// out = sum of weights x[j] times value j, for Groups groups of columns from `column` on.
template <class L, int Groups, class T, class A>
TX_INLINE void weighted_values(const Cached<T>& c, const Cached<T>& next, const A* x,
                               int64_t column, T* out) {
  using W = Wide<T, L>;
  using V = typename W::V;
  constexpr int lanes = L::count;
  V sum[Groups * W::parts] = {}, part[W::parts];
  for (int64_t j = 0; j < c.count; ++j) {
    const T* value = c.value(j) + column;
    next.fetch_value(j, column, Groups * W::group);
    for (int g = 0; g < Groups; ++g) {
      W::load_group(value + g * W::group, part);
      for (int p = 0; p < W::parts; ++p) sum[g * W::parts + p] += x[j] * part[p];
    }
  }
  for (int g = 0; g < Groups; ++g) {
    W::join(sum + g * W::parts);
    for (int p = 0; p < W::parts; ++p) {
      A part_sum[lanes];
      store_lanes(part_sum, sum[g * W::parts + p]);
      for (int l = 0; l < lanes; ++l) {
        store(out[column + (g * W::parts + p) * lanes + l], part_sum[l]);
      }
    }
  }
}

template <class T>
struct Scratch {
  std::vector<acc_t<T>> weights, wide;
};

// Task t is head t % heads of row t / heads; `next` follows c in the same thread.
template <class L, class T>
TX_INLINE void attend_row(const CachedAttention& p, int64_t task, const Cached<T>& c,
                          const Cached<T>& next, Scratch<T>& s) {
  using A = acc_t<T>;
  using W = Wide<T, L>;
  using V = typename W::V;
  constexpr int lanes = L::count;
  const int64_t row = task / p.heads, head = task % p.heads;
  const T* q = p.q.row<T>(row) + head * p.d_k;
  T* out = p.o.row<T>(row) + head * p.d_v;
  if (c.count == 0) {
    for (int64_t l = 0; l < p.d_v; ++l) store(out[l], A(0));
    return;
  }
  s.weights.resize(size_t(padded<A>(c.count)));
  s.wide.resize(size_t(p.d_k) + lanes);
  for (int64_t g = 0; g < p.d_k / W::group; ++g) {
    V part[W::parts];
    W::load_group(q + g * W::group, part);
    for (int i = 0; i < W::parts; ++i) {
      store_lanes(s.wide.data() + (g * W::parts + i) * lanes, part[i]);
    }
  }
  A* x = s.weights.data();
  scores<L>(c, next, q, s.wide.data(), p.d_k, x);
  if (p.slopes) {
    const A slope = A(p.slopes[head] / p.scale);
    for (int64_t j = 0; j < c.count; ++j) x[j] -= slope * A(c.count - 1 - j);
  }
  softmax_row<L>(x, c.count, padded<A>(c.count), A(p.scale));
  int64_t l = 0;
  for (; l + 2 * W::group <= p.d_v; l += 2 * W::group) weighted_values<L, 2>(c, next, x, l, out);
  if (l + W::group <= p.d_v) weighted_values<L, 1>(c, next, x, l, out), l += W::group;
  for (; l < p.d_v; ++l) {
    A sum = 0;
    for (int64_t j = 0; j < c.count; ++j) sum += x[j] * load(c.value(j)[l]);
    store(out[l], sum);
  }
}

template <class T>
void attend_rows(const CachedAttention& p, int threads) {
  const int64_t tasks = p.q.rows * p.heads;
#pragma omp parallel num_threads(threads)
  {
    Scratch<T> scratch;
#pragma omp for
    for (int64_t task = 0; task < tasks; ++task) {
      const Cached<T> c = cached<T>(p, task);
      const Cached<T> next = cached<T>(p, std::min(task + 1, tasks - 1));
      with_lanes<acc_t<T>>([&](auto lanes) TX_INLINE_LAMBDA {
        using L = decltype(lanes);
        attend_row<L>(p, task, c, next.count ? next : c, scratch);
      });
    }
  }
}

}  // namespace

void Cpu::attention_cached(const CachedAttention& p) {
  with_type(p.q.dtype, [&](auto t) { attend_rows<decltype(t)>(p, threads); });
}

}  // namespace tx
