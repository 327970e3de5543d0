// Softmax over a vocabulary (loss.cpp, topk.cpp) and over a row of scores (attention*.cpp).
#pragma once
#include <algorithm>

#include "kernels/cpu/lanes.h"

namespace tx {

template <class T>
TX_INLINE acc_t<T> largest(const T* x, int64_t count) {
  acc_t<T> most = load(x[0]);
#pragma omp simd reduction(max : most)
  for (int64_t j = 0; j < count; ++j) most = load(x[j]) > most ? load(x[j]) : most;
  return most;
}

struct SoftmaxSums {
  double exponentials = 0;  // of exp(x - most)
  double total = 0;         // of x - most: centred sums lose no digits to a common offset
};

// In blocks, because a single float loses the tail of a large vocabulary: with one word at .9 and
// 37,000 equal others, the probability was wrong by 4e-5.
template <class L, class T>
TX_INLINE SoftmaxSums softmax_sums(const T* x, int64_t count, acc_t<T> most) {
  constexpr int64_t block = 1024;
  SoftmaxSums sums;
  for (int64_t first = 0; first < count; first += block) {
    const int64_t end = std::min(count, first + block);
    const auto centred = [most](auto v) TX_INLINE_LAMBDA { return v - most; };
    const auto power = [most](auto v) TX_INLINE_LAMBDA { return exponential(v - most); };
    sums.exponentials += double(lane_sum<L>(end - first, power, x + first));
    sums.total += double(lane_sum<L>(end - first, centred, x + first));
  }
  return sums;
}

// Softmax of scores x over `count` entries scaled by `scale`, entries up to `padded`, a multiple of
// 64 bytes, set to zero; returns the log of the sum of exponentials. The loops run over whole
// registers (the padding counts as minus infinity): rows are as short as a sentence, and a scalar
// tail cost more than the rest.
template <class L, class A = typename L::Scalar>
TX_INLINE A softmax_row(A* x, int64_t count, int64_t padded, A scale) {
  const int64_t width = padded & -int64_t(64 / sizeof(A));
  for (int64_t j = count; j < width; ++j) x[j] = -INFINITY;
  A most = -INFINITY;
#pragma omp simd reduction(max : most)
  for (int64_t j = 0; j < width; ++j) most = x[j] > most ? x[j] : most;
  for (int64_t j = 0; j < width; ++j) x[j] = exponential((x[j] - most) * scale);
  const A sum = lane_sum<L>(
      width, [](auto v) TX_INLINE_LAMBDA { return v; }, x);
  const A inverse = A(1) / sum;
  for (int64_t j = 0; j < width; ++j) x[j] *= inverse;
  return most * scale + std::log(sum);
}

}  // namespace tx
