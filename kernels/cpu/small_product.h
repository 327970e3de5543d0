// The tiny products of attention: c (n,m) = a (n,k) b (k,m), everything in the sum type, one
// thread. b and c have rows padded to a multiple of `lanes`; a is read element by element with any
// strides, so that its transpose costs nothing. Runs inside TX_CLONES functions.
#pragma once
#include "kernels/cpu/simd.h"

namespace tx {

template <class A>
constexpr int64_t padded(int64_t count) {
  return (count + Lanes<A>::count - 1) / Lanes<A>::count * Lanes<A>::count;
}

template <class A>
struct SmallProduct {
  const A* a;
  int64_t a_row, a_col;  // element (i, l) stands at a[i * a_row + l * a_col]
  const A* b;
  int64_t ldb;
  A* c;
  int64_t ldc;
  int64_t n, k, m;
  bool add;
};

// Rows i .. i + R - 1, columns j .. j + C * lanes - 1.
template <class A, int R, int C>
TX_INLINE void small_tile(const SmallProduct<A>& p, int64_t i, int64_t j) {
  using V = typename Lanes<A>::Vector;
  constexpr int lanes = Lanes<A>::count;
  V acc[R][C];
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c)
      acc[r][c] = p.add ? *reinterpret_cast<const V*>(p.c + (i + r) * p.ldc + j + c * lanes) : V{};
  for (int64_t l = 0; l < p.k; ++l) {
    const A* b = p.b + l * p.ldb + j;
    for (int c = 0; c < C; ++c) {
      const V bv = *reinterpret_cast<const V*>(b + c * lanes);
      for (int r = 0; r < R; ++r) acc[r][c] += p.a[(i + r) * p.a_row + l * p.a_col] * bv;
    }
  }
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c)
      *reinterpret_cast<V*>(p.c + (i + r) * p.ldc + j + c * lanes) = acc[r][c];
}

template <class A, int R>
TX_INLINE void small_rows(const SmallProduct<A>& p, int64_t i) {
  constexpr int lanes = Lanes<A>::count;
  const int64_t width = padded<A>(p.m);
  int64_t j = 0;
  for (; j + 2 * lanes <= width; j += 2 * lanes) small_tile<A, R, 2>(p, i, j);
  if (j < width) small_tile<A, R, 1>(p, i, j);
}

template <class A>
TX_INLINE void small_product(const SmallProduct<A>& p) {
  int64_t i = 0;
  for (; i + 6 <= p.n; i += 6) small_rows<A, 6>(p, i);
  for (; i + 2 <= p.n; i += 2) small_rows<A, 2>(p, i);
  if (i < p.n) small_rows<A, 1>(p, i);
}

}  // namespace tx
