// Attention of single queries against cached keys and values (decoding). Keys are taken as many at
// a time as a vector has lanes, so that their dot products are summed across lanes together. The
// order of every sum depends on the row alone.
#include <algorithm>
#include <vector>

#include "kernels/cpu.h"
#include "kernels/cpu/small_product.h"
#include "kernels/cpu/softmax.h"

namespace tx {
namespace {

// `group` consecutive elements as `parts` vectors of the sum type. The lanes of bf16 come as the
// even elements and the odd ones, which costs one operation each; join() puts them in order again.
template <class T>
struct Wide {
  using A = acc_t<T>;
  using V = typename Lanes<A>::Vector;
  static constexpr int parts = 1, group = Lanes<A>::count;
  static TX_INLINE void load_group(const T* x, V* out) { out[0] = *reinterpret_cast<const V*>(x); }
  static TX_INLINE void join(V*) {}
};

template <>
struct Wide<bf16> {
  using A = float;
  using V = Lanes<float>::Vector;
  typedef uint32_t Bits __attribute__((vector_size(64), aligned(2), may_alias));
  static constexpr int parts = 2, group = 2 * Lanes<float>::count;
  static TX_INLINE void load_group(const bf16* x, V* out) {
    const Bits bits = *reinterpret_cast<const Bits*>(x);
    out[0] = reinterpret_cast<V>(bits << 16);
    out[1] = reinterpret_cast<V>(bits & 0xffff0000u);
  }
  static TX_INLINE void join(V* x) {
    const V even = x[0], odd = x[1];
    x[0] =
        __builtin_shufflevector(even, odd, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    x[1] = __builtin_shufflevector(even, odd, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,
                                   15, 31);
  }
};

// a = sums of neighbouring lanes: those of a, then those of b.
TX_INLINE void pair_sums(Lanes<float>::Vector& a, const Lanes<float>::Vector& b) {
  a = __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30) +
      __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}
TX_INLINE void pair_sums(Lanes<double>::Vector& a, const Lanes<double>::Vector& b) {
  a = __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14) +
      __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
}

// Lane i of x[0] becomes the sum of the lanes of x[i].
template <class A>
TX_INLINE void sum_across(typename Lanes<A>::Vector* x) {
  for (int left = Lanes<A>::count; left > 1; left /= 2) {
    for (int i = 0; i < left / 2; ++i) {
      x[i] = x[2 * i];
      pair_sums(x[i], x[2 * i + 1]);
    }
  }
}

// The keys and values of one row and head.
template <class T>
struct Cached {
  const T *k, *v;
  int64_t k_stride, v_stride, count;
  const int32_t* index;  // null: keys first, first + 1, ...
  int64_t first;

  TX_INLINE int64_t at(int64_t j) const { return index ? int64_t(index[j]) : first + j; }
  TX_INLINE const T* key(int64_t j) const { return k + at(j) * k_stride; }
  TX_INLINE const T* value(int64_t j) const { return v + at(j) * v_stride; }
  // The rows of a cache lie apart, where the processor does not foresee them.
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
  const int64_t row = task / p.heads, head = task % p.heads;
  return {p.k.row<T>(0) + head * p.d_k,
          p.v.row<T>(0) + head * p.d_v,
          p.k.stride,
          p.v.stride,
          p.lengths[row],
          p.first ? nullptr : p.index + row * p.index_stride,
          p.first ? p.first[row] : 0};
}

// x (padded to lanes) = q . key of every key. q: its whole groups as vectors, in `wide`. `next` is
// what comes after c.
template <class T, class A>
TX_INLINE void scores(const Cached<T>& c, const Cached<T>& next, const T* q, const A* wide,
                      int64_t d_k, A* x) {
  using W = Wide<T>;
  using V = typename W::V;
  constexpr int lanes = Lanes<A>::count;
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
          sum += part[p] * *reinterpret_cast<const V*>(wide + (g * W::parts + p) * lanes);
        }
      }
      sums[i] = sum;
    }
    sum_across<A>(sums);
    *reinterpret_cast<V*>(x + j) = sums[0];
    for (int64_t l = groups * W::group; l < d_k; ++l) {
      for (int i = 0; i < here; ++i) x[j + i] += load(q[l]) * load(c.key(j + i)[l]);
    }
  }
}

// out = sum of weights x[j] times value j, for Groups groups of columns from `column` on.
template <int Groups, class T, class A>
TX_INLINE void weighted_values(const Cached<T>& c, const Cached<T>& next, const A* x,
                               int64_t column, T* out) {
  using W = Wide<T>;
  using V = typename W::V;
  constexpr int lanes = Lanes<A>::count;
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
      for (int l = 0; l < lanes; ++l) {
        store(out[column + (g * W::parts + p) * lanes + l], sum[g * W::parts + p][l]);
      }
    }
  }
}

template <class T>
struct Scratch {
  std::vector<acc_t<T>> weights, wide;
};

// Task t is head t % heads of row t / heads; `next` follows c in the same thread.
template <class T>
TX_INLINE void attend_row(const CachedAttention& p, int64_t task, const Cached<T>& c,
                          const Cached<T>& next, Scratch<T>& s) {
  using A = acc_t<T>;
  using W = Wide<T>;
  using V = typename W::V;
  constexpr int lanes = Lanes<A>::count;
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
      *reinterpret_cast<V*>(s.wide.data() + (g * W::parts + i) * lanes) = part[i];
    }
  }
  A* x = s.weights.data();
  scores(c, next, q, s.wide.data(), p.d_k, x);
  softmax_row(x, c.count, padded<A>(c.count), A(p.scale));
  int64_t l = 0;
  for (; l + 2 * W::group <= p.d_v; l += 2 * W::group) weighted_values<2>(c, next, x, l, out);
  if (l + W::group <= p.d_v) weighted_values<1>(c, next, x, l, out), l += W::group;
  for (; l < p.d_v; ++l) {
    A sum = 0;
    for (int64_t j = 0; j < c.count; ++j) sum += x[j] * load(c.value(j)[l]);
    store(out[l], sum);
  }
}

template <class T>
TX_CLONES void attend_rows(const CachedAttention& p, int threads) {
  const int64_t tasks = p.q.rows * p.heads;
#pragma omp parallel num_threads(threads)
  {
    Scratch<T> scratch;
#pragma omp for
    for (int64_t task = 0; task < tasks; ++task) {
      const Cached<T> c = cached<T>(p, task);
      const Cached<T> next = cached<T>(p, std::min(task + 1, tasks - 1));
      attend_row(p, task, c, next.count ? next : c, scratch);
    }
  }
}

}  // namespace

void Cpu::attention_cached(const CachedAttention& p) {
  with_type(p.q.dtype, [&](auto t) { attend_rows<decltype(t)>(p, threads); });
}

}  // namespace tx
