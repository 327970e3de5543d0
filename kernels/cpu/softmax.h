// Softmax over a vocabulary (loss.cpp, topk.cpp) and over rows of scores (attention*.cpp).
#pragma once
#include <algorithm>

#include "kernels/cpu/lanes.h"

namespace tx {

template <class L, class T>
TX_INLINE acc_t<T> largest(const T* x, int64_t count) {
  acc_t<T> max = load(x[0]);
  typename L::Vector lanes = typename L::Vector{} + max;
  for_lanes<L>(count, [&](int64_t j, auto zero) TX_INLINE_LAMBDA {
    using V = decltype(zero);
    if constexpr (std::is_arithmetic_v<V>)
      max = larger(load(x[j]), max);
    else
      lanes = larger(load_lanes<V>(x + j), lanes);
  });
  return larger(largest_lane(lanes), max);
}

struct SoftmaxSums {
  double exponentials = 0;  // of exp(x - max)
  double total = 0;         // of x - max: centred, so that a common offset costs no precision
};

// Writes the exponentials to `powers` unless it is null. Sums in blocks: a single float sum loses
// the tail of a large vocabulary (37,000 words: off by 4e-5).
template <class L, class T>
TX_INLINE SoftmaxSums softmax_sums(const T* x, int64_t count, acc_t<T> max,
                                   acc_t<T>* powers = nullptr) {
  constexpr int64_t block = 1024;
  SoftmaxSums sums;
  for (int64_t first = 0; first < count; first += block) {
    const int64_t size = std::min(block, count - first);
    typename L::Vector exponentials{}, total{};
    acc_t<T> tail_exponentials = 0, tail_total = 0;
    for_lanes<L>(size, [&](int64_t j, auto zero) TX_INLINE_LAMBDA {
      using V = decltype(zero);
      const V centred = load_lanes<V>(x + first + j) - max, power = exponential(centred);
      if (powers) put_lanes<L>(powers + first + j, power);
      if constexpr (std::is_arithmetic_v<V>)
        tail_exponentials += power, tail_total += centred;
      else
        exponentials += power, total += centred;
    });
    sums.exponentials += double(sum_lanes(exponentials)) + double(tail_exponentials);
    sums.total += double(sum_lanes(total)) + double(tail_total);
  }
  return sums;
}

// A row's largest scaled score, and the sum of the exponentials of the scores relative to it.
template <class A>
struct RowSum {
  A max, sum;
  A log() const { return max + std::log(sum); }  // of the sum of exponentials
};

// Softmax of the first `count` scores of x times `scale`; the entries up to `padded`, a multiple of
// 64 bytes, become zero. The loops run over whole registers (the padding counts as minus infinity):
// rows are as short as a sentence, and a scalar tail cost more than the rest.
template <class L, class A = typename L::Scalar>
TX_INLINE RowSum<A> softmax_row(A* x, int64_t count, int64_t padded, A scale) {
  using V = typename L::Vector;
  const int64_t width = padded & -int64_t(L::count);
  V highest = V{} - A(INFINITY), total{};
  for (int64_t j = 0; j < width; j += L::count) {
    const V v = first_lanes(load_lanes<V>(x + j), count - j, -A(INFINITY));
    store_lanes(x + j, v);
    highest = larger(v, highest);
  }
  const A max = largest_lane(highest);
  for (int64_t j = 0; j < width; j += L::count) {
    const V power = exponential((load_lanes<V>(x + j) - max) * scale);
    store_lanes(x + j, power);
    total += power;
  }
  const A sum = sum_lanes(total), inverse = A(1) / sum;
  for (int64_t j = 0; j < width; j += L::count) store_lanes(x + j, load_lanes<V>(x + j) * inverse);
  return {max * scale, sum};
}

}  // namespace tx
