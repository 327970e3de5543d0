// Simpler simple recurrent units: rows of a sentence in turn, all features of a row at once.
#include <algorithm>

#include "kernels/cpu.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/profile.h"

namespace tx {
namespace {

// exponential() is accurate up to 88 only; for x < -88 the sigmoid is below 1e-38.
template <class L, class V>
TX_INLINE V sigmoid_lanes(const V& x) {
  using A = typename L::Scalar;
  return A(1) / (A(1) + exponential(V(larger(V(V{} - A(88)), x) * A(-1))));
}

// x where c is above 0, else 0.
template <class V>
TX_INLINE V where_positive(const V& c, const V& x) {
  if constexpr (is_twice<V>)
    return {where_positive(c.lo, x.lo), where_positive(c.hi, x.hi)};
  else
    return c > 0 ? x : V{};
}

// One row: the columns [first, last).
template <class T>
struct Row {
  const T *x, *f;                // u, and the gates
  const acc_t<T>*bias, *before;  // before: null at the beginning of a sentence
  acc_t<T>* cell;
};

template <class T>
Row<T> row_of(const Recurrence& p, int64_t i, const acc_t<T>* before, acc_t<T>* cell) {
  const T* x = p.x.row<T>(i);
  return {x, x + p.y.cols, p.bias.row<acc_t<T>>(0), before, cell};
}

template <class L, class T>
TX_INLINE void advance(const Row<T>& r, T* y, int64_t first, int64_t last) {
  for_lanes<L>(last - first, [&](int64_t at, auto zero) TX_INLINE_LAMBDA {
    using V = decltype(zero);
    const int64_t j = first + at;
    const V u = load_lanes<V>(r.x + j);
    const V s = sigmoid_lanes<L>(V(load_lanes<V>(r.f + j) + load_lanes<V>(r.bias + j)));
    const V c = fused(s, V((r.before ? load_lanes<V>(r.before + j) : V{}) - u), u);
    put_lanes<L>(r.cell + j, c);
    put_lanes<L>(y + j, larger(V{}, c));
  });
}

// after: s times the gradient of the following row's cell, or null; `r.cell` gets that of this row.
template <class L, class T>
TX_INLINE void go_back(const Row<T>& r, const T* dy, const acc_t<T>* after, T* dx, int64_t n) {
  using A = acc_t<T>;
  for_lanes<L>(n, [&](int64_t j, auto zero) TX_INLINE_LAMBDA {
    using V = decltype(zero);
    const V u = load_lanes<V>(r.x + j);
    const V s = sigmoid_lanes<L>(V(load_lanes<V>(r.f + j) + load_lanes<V>(r.bias + j)));
    const V before = r.before ? load_lanes<V>(r.before + j) : V{};
    V dc = where_positive(load_lanes<V>(r.cell + j), load_lanes<V>(dy + j));
    if (after) dc += load_lanes<V>(after + j);
    const V du = dc * (A(1) - s);
    put_lanes<L>(dx + j, du);
    put_lanes<L>(dx + n + j, V(du * s * (before - u)));
    put_lanes<L>(r.cell + j, V(dc * s));
  });
}

template <class T>
void run_sentences(const Recurrence& p, int threads) {
  using A = acc_t<T>;
#pragma omp parallel for num_threads(threads)
  for (int64_t s = 0; s < p.sentences; ++s)
    with_lanes<A>([&](auto lanes) TX_INLINE_LAMBDA {
      for (int64_t i = p.offsets[s]; i < p.offsets[s + 1]; ++i) {
        const A* before = i > p.offsets[s] ? p.cells.row<A>(i - 1) : nullptr;
        advance<decltype(lanes)>(row_of<T>(p, i, before, p.cells.row<A>(i)), p.y.row<T>(i), 0,
                                 p.y.cols);
      }
    });
}

// Each thread has some columns, as rows may continue earlier ones.
template <class T>
void run_rows(const Recurrence& p, int threads) {
  using A = acc_t<T>;
  constexpr int64_t part = 64;
  if (p.y.rows * p.y.cols < 1 << 15) threads = 1;
#pragma omp parallel for num_threads(threads)
  for (int64_t first = 0; first < p.y.cols; first += part)
    with_lanes<A>([&](auto lanes) TX_INLINE_LAMBDA {
      const int64_t last = std::min(first + part, p.y.cols);
      for (int64_t i = 0; i < p.y.rows; ++i) {
        const A* before = p.from[i] >= 0 ? p.cells.row<A>(p.from[i]) : nullptr;
        advance<decltype(lanes)>(row_of<T>(p, i, before, p.cells.row<A>(p.to[i])), p.y.row<T>(i),
                                 first, last);
      }
    });
}

template <class T>
void sentences_back(const Recurrence& p, Matrix dy, Matrix dx, int threads) {
  using A = acc_t<T>;
#pragma omp parallel for num_threads(threads)
  for (int64_t s = 0; s < p.sentences; ++s)
    with_lanes<A>([&](auto lanes) TX_INLINE_LAMBDA {
      const int64_t first = p.offsets[s], end = p.offsets[s + 1];
      for (int64_t i = end - 1; i >= first; --i) {
        const A* before = i > first ? p.cells.row<A>(i - 1) : nullptr;
        const A* after = i + 1 < end ? p.cells.row<A>(i + 1) : nullptr;
        go_back<decltype(lanes)>(row_of<T>(p, i, before, p.cells.row<A>(i)), dy.row<T>(i), after,
                                 dx.row<T>(i), dy.cols);
      }
    });
}

}  // namespace

void Cpu::recurrence(const Recurrence& p) {
  TX_ASSERT(p.x.cols == 2 * p.y.cols && p.bias.cols == p.y.cols && p.cells.cols == p.y.cols);
  const Timed timed(profile_.get(), "recurrence", traffic(p.x, p.y, p.y));
  with_type(p.x.dtype, [&](auto t) {
    p.offsets ? run_sentences<decltype(t)>(p, threads) : run_rows<decltype(t)>(p, threads);
  });
}

void Cpu::recurrence_backward(const Recurrence& p, Matrix dy, Matrix dx) {
  TX_ASSERT(p.offsets && dx.cols == 2 * dy.cols && p.x.cols == dx.cols);
  const Timed timed(profile_.get(), "recurrence", traffic(p.x, dy, dx));
  with_type(p.x.dtype, [&](auto t) { sentences_back<decltype(t)>(p, dy, dx, threads); });
}

}  // namespace tx
