// The small products of attention: c (n,m) = a (n,k) b (k,m), in the sum type, on one thread. b and
// c have rows padded to a multiple of `lanes`; a is read element by element with any strides, so
// that its transpose costs nothing. L: Lanes of A (lanes.h).
#pragma once
#include "kernels/cpu/lanes.h"

namespace tx {

template <class A>
constexpr int64_t padded(int64_t count) {
  constexpr int64_t lanes = 64 / sizeof(A);
  return (count + lanes - 1) / lanes * lanes;
}

template <class A>
struct SmallProduct {
  const A* a;
  int64_t a_row, a_col;  // element (i, l) is a[i * a_row + l * a_col]
  const A* b;
  int64_t ldb;
  A* c;
  int64_t ldc;
  int64_t n, k, m;
  bool add;
};

// Rows i .. i + R - 1, columns j .. j + C * lanes - 1.
template <class L, int R, int C>
TX_INLINE void small_tile(const SmallProduct<typename L::Scalar>& p, int64_t i, int64_t j) {
  using A = typename L::Scalar;
  using V = typename L::Vector;
  constexpr int lanes = L::count;
  V acc[R][C];
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c)
      acc[r][c] = p.add ? load_lanes<V>(p.c + (i + r) * p.ldc + j + c * lanes) : V{};
  for (int64_t l = 0; l < p.k; ++l) {
    const A* b = p.b + l * p.ldb + j;
    for (int c = 0; c < C; ++c) {
      const V bv = load_lanes<V>(b + c * lanes);
      for (int r = 0; r < R; ++r)
        acc[r][c] = fused(p.a[(i + r) * p.a_row + l * p.a_col] - V{}, bv, acc[r][c]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) store_lanes(p.c + (i + r) * p.ldc + j + c * lanes, acc[r][c]);
}

// Sums in registers: 2 vectors of lanes per row where 32 registers of 64 bytes hold them, else 1.
template <class L, int R>
TX_INLINE void small_rows(const SmallProduct<typename L::Scalar>& p, int64_t i) {
  constexpr int lanes = L::count;
  const int64_t width = padded<typename L::Scalar>(p.m);
  int64_t j = 0;
  if constexpr (L::registers == 1)
    for (; j + 2 * lanes <= width; j += 2 * lanes) small_tile<L, R, 2>(p, i, j);
  for (; j < width; j += lanes) small_tile<L, R, 1>(p, i, j);
}

template <class L>
TX_INLINE void small_product(const SmallProduct<typename L::Scalar>& p) {
  int64_t i = 0;
#ifdef __aarch64__  // 32 registers of 16 bytes hold 6 rows, 16 of SSE do not
  constexpr bool six = true;
#else
  constexpr bool six = L::registers <= 2;
#endif
  if constexpr (six)
    for (; i + 6 <= p.n; i += 6) small_rows<L, 6>(p, i);
  for (; i + 2 <= p.n; i += 2) small_rows<L, 2>(p, i);
  if (i < p.n) small_rows<L, 1>(p, i);
}

}  // namespace tx
