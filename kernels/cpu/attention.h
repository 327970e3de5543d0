// Shared by attention.cpp, attention_backward.cpp and attention_guide.cpp: matrices of a thread's
// workspace, the views of one head, and the keys that a query attends to. Queries are processed in
// blocks of `query_block` rows, so that memory is linear in the length of a sentence.
#pragma once
#include <algorithm>
#include <vector>

#include "kernels/cpu/random.h"
#include "kernels/cpu/small_product.h"

namespace tx {

constexpr int64_t query_block = 48;

// A matrix in the sum type with padded rows. Strides of a multiple of 1 KiB get a cache line more.
template <class A>
struct Panel {
  std::vector<A> data;
  int64_t stride = 0;
  void shape(int64_t rows, int64_t cols) {
    stride = padded<A>(cols);
    if (stride * sizeof(A) % 1024 == 0) stride += 64 / sizeof(A);
    if (data.size() < size_t(rows * stride)) data.resize(size_t(rows * stride));
  }
  A* row(int64_t i) { return data.data() + i * stride; }
};

// Prefetches all rows of a head, each of which begins a new cache line; also for the next head.
template <class T>
TX_INLINE void prefetch_rows(const Matrix& from, int64_t first, int64_t rows) {
  constexpr int64_t line = 64 / sizeof(T);
  for (int64_t i = first; i < first + rows; ++i)
    for (int64_t j = 0; j < from.cols; j += line) __builtin_prefetch(from.row<T>(i) + j);
}

// Converts a row.
template <class L, class T, class U>
TX_INLINE void store_row(const U* from, T* to, int64_t count) {
  map_lanes<L>(
      to, count, [](int64_t, auto v) TX_INLINE_LAMBDA { return v; }, from);
}

// to (rows, cols) = from; the padding is zero.
template <class L, class T, class A>
TX_INLINE void load_panel(Matrix from, int64_t first, int64_t rows, Panel<A>& to) {
  to.shape(rows, from.cols);
  for (int64_t i = 0; i < rows; ++i) {
    A* y = to.row(i);
    store_row<L>(from.row<T>(first + i), y, from.cols);
    for (int64_t j = from.cols; j < to.stride; ++j) y[j] = 0;
  }
}

// Transposes 4 x 4 numbers: rows of x become columns of y, those from `rows` on zero.
template <class T>
TX_INLINE void transpose_tile(const T* x, int64_t stride, int64_t rows, float* y, int64_t ldy) {
  using V = typename Register<float, 16>::Type;
  const V a = load_lanes<V>(x), b = rows > 1 ? load_lanes<V>(x + stride) : V{};
  const V c = rows > 2 ? load_lanes<V>(x + 2 * stride) : V{};
  const V d = rows > 3 ? load_lanes<V>(x + 3 * stride) : V{};
  const V ab = __builtin_shufflevector(a, b, 0, 4, 1, 5),
          cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const V ef = __builtin_shufflevector(a, b, 2, 6, 3, 7),
          gh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  store_lanes(y, __builtin_shufflevector(ab, cd, 0, 1, 4, 5));
  store_lanes(y + ldy, __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
  store_lanes(y + 2 * ldy, __builtin_shufflevector(ef, gh, 0, 1, 4, 5));
  store_lanes(y + 3 * ldy, __builtin_shufflevector(ef, gh, 2, 3, 6, 7));
}

// to (cols, rows) = from^T; the padding is zero.
template <class T, class A>
TX_INLINE void load_transposed(Matrix from, int64_t first, int64_t rows, Panel<A>& to) {
  to.shape(from.cols, rows);
  const int64_t stride = to.stride;
  A* y = to.data.data();
  int64_t done = 0;  // columns of y filled so far, including padding
  if constexpr (std::is_same_v<A, float>) {
    for (; from.cols % 4 == 0 && done < rows; done += 4)
      for (int64_t j = 0; j < from.cols; j += 4)
        transpose_tile(from.row<T>(first + done) + j, from.stride, rows - done,
                       y + j * stride + done, stride);
  }
  for (; done < rows; ++done) {
    const T* x = from.row<T>(first + done);
    for (int64_t j = 0; j < from.cols; ++j) y[j * stride + done] = load(x[j]);
  }
  for (int64_t j = 0; done < stride && j < from.cols; ++j)
    std::fill(y + j * stride + done, y + (j + 1) * stride, A(0));
}

// The views of one head.
struct HeadViews {
  Matrix q, k, v;
  Dropout drop;
  int64_t q_first, k_first, n, m;  // first rows and counts of the sentence
  double slope;                    // ALiBi slope of the head, for scores before scaling
  DistanceBias distances;          // values: of the head
};

// The biases of one head.
inline DistanceBias head_distances(const AttentionShape& p, int64_t head, DType dtype) {
  DistanceBias d = p.distances;
  if (d.values)
    d.values = static_cast<const char*>(d.values) +
               head * d.buckets * (dtype == DType::f64 ? sizeof(double) : sizeof(float));
  return d;
}
TX_INLINE int32_t bucket_of(const DistanceBias& d, int64_t query, int64_t key) {
  return d.bucket[std::clamp<int64_t>(key - query, -d.reach, d.reach) + d.reach];
}
// x[j] += the bias of one head for a query and its keys begin .. end - 1, divided by the scale.
template <class A>
TX_INLINE void add_distances(const DistanceBias& d, int64_t query, int64_t begin, int64_t end,
                             double scale, A* x) {
  const A* values = static_cast<const A*>(d.values);
  for (int64_t j = begin; j < end; ++j) x[j] += values[bucket_of(d, query, j)] / A(scale);
}

inline HeadViews head_views(const Attention& p, int64_t sentence, int head) {
  HeadViews h;
  const int kv = int(int64_t(head) * p.kv_heads / p.heads);
  h.q = p.q.columns(int64_t(head) * p.d_k, p.d_k);
  h.k = p.k.columns(int64_t(kv) * p.d_k, p.d_k);
  h.v = p.v.empty() ? p.v : p.v.columns(int64_t(kv) * p.d_v, p.d_v);
  h.drop = p.drop;
  h.drop.site += uint32_t(head) << 16;
  h.q_first = p.q_offsets[sentence];
  h.k_first = p.k_offsets[sentence];
  h.n = p.q_offsets[sentence + 1] - h.q_first;
  h.m = p.k_offsets[sentence + 1] - h.k_first;
  h.slope = p.slopes ? p.slopes[head] / p.scale : 0;
  h.distances = head_distances(p, head, p.q.dtype);
  return h;
}

// The end of the range of m keys that the last of the queries attends to.
inline int64_t visible_keys(const Attention& p, int64_t last_query, int64_t m) {
  if (p.causal) return std::min(m, last_query + 1);
  return p.window ? std::min(m, last_query + p.window) : m;
}

// The range of m keys that a block of queries reads.
struct KeyRange {
  int64_t begin;  // a multiple of 64 bytes; earlier keys are masked for all queries
  int64_t end;    // last key of the last query, plus 1
  int64_t width;  // of a row of weights from `begin` on, a multiple of 64 bytes
};
template <class A>
KeyRange key_range(const Attention& p, int64_t first_query, int64_t queries, int64_t m) {
  const int64_t end = visible_keys(p, first_query + queries - 1, m);
  const int64_t seen = p.window ? std::max<int64_t>(0, first_query + 1 - p.window) : 0;
  const int64_t begin = std::min(seen, m - 1) & -int64_t(64 / sizeof(A));
  return {begin, end, padded<A>(end) - begin};
}

// Applies biases by distance and window to the unscaled scores of a query: x[j] for begin <= j <
// end.
template <class A>
TX_INLINE void bias_row(const Attention& p, const HeadViews& h, int64_t query, int64_t begin,
                        int64_t end, A* x) {
  if (p.slopes)
    for (int64_t j = begin; j < end; ++j) x[j] -= A(h.slope) * A(query > j ? query - j : j - query);
  if (h.distances.values) add_distances(h.distances, query, begin, end, p.scale, x);
  for (int64_t j = begin; p.window && j <= query - p.window; ++j) x[j] = -INFINITY;
}

}  // namespace tx
