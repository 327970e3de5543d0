// A row of add_norm() in the registers of the threads that share it, for the kernels that
// normalise: norm.cu, and products/gemm_norm.cu before a product.
#pragma once
#include "kernels/cuda/runtime/octet.h"

namespace tx {

// The sum over the `threads` that share a row: a warp, or a block.
template <int threads>
TX_DEVICE float row_sum(float x, float* part) {
  if constexpr (threads == warp_size) return warp_sum(x);
  return block_sum(x, part);
}

// A value broadcast from the thread that has the row's first element.
template <int threads>
TX_DEVICE float of_first(float x, float* part) {
  if constexpr (threads == warp_size) return __shfl_sync(whole_warp, x, 0);
  if (threadIdx.x == 0) part[0] = x;
  __syncthreads();
  const float first = part[0];
  __syncthreads();
  return first;
}

// x + dropout(sub) of an octet, rounded to the storage type and, if `keep`, stored. Without x it is
// sub.
template <class T>
TX_DEVICE void add_octet(const AddNorm& p, bool packed, int64_t row, int64_t column, int count,
                         const RowMask& mask, bool keep, const Octet<T>& x, const Octet<T>& sub,
                         float (&to)[octet]) {
  spread(sub, to);
  if (!given(p.x)) return;
  mask.apply(p.drop, column, to);
#pragma unroll
  for (int j = 0; j < octet; ++j) to[j] += x[j];
  const Octet<T> sum = octet_of<T>(to);
  if (keep) write_octet(row_of<T>(p.sum, row) + column, count, packed, sum);
  spread(sum, to);
}

// An octet of gamma and beta.
struct Gains {
  Octet<float> gamma = {}, beta = {};
};
TX_DEVICE Gains read_gains(const AddNorm& p, bool packed, int64_t column, int count) {
  Gains to;
  to.gamma = read_octet(row_of<float>(p.gamma, 0) + column, count, packed);
  if (given(p.beta)) to.beta = read_octet(row_of<float>(p.beta, 0) + column, count, packed);
  return to;
}

template <class T>
TX_DEVICE Octet<T> normed_octet(const Gains& gains, float mean, float rstd,
                                const float (&x)[octet]) {
  float y[octet];
#pragma unroll
  for (int j = 0; j < octet; ++j) y[j] = (x[j] - mean) * rstd * gains.gamma[j] + gains.beta[j];
  return octet_of<T>(y);
}

TX_DEVICE void write_stats(const AddNorm& p, int64_t row, float mean, float rstd) {
  if (!given(p.stats)) return;
  row_of<float>(p.stats, row)[0] = mean;
  row_of<float>(p.stats, row)[1] = rstd;
}

// Row `row`, of which thread `lane` of `threads` has octets lane, lane + threads, ...; `part` is
// for block_sum(). gains(k, column, count) are those of octet k; calls put(column, count, octet)
// with the result. If `keep`, stores sum and statistics. Sums differences from the first element:
// precise far from zero, exact for constant rows.
template <class T, int octets, int threads, bool packed, class Read, class Put>
TX_DEVICE void norm_row(const AddNorm& p, int64_t row, int lane, float* part, bool keep,
                        const Read& gains, const Put& put) {
  RowMask mask;
  mask.read(p.drop, row);
  Octet<T> x[octets], sub[octets];
  int count[octets];
#pragma unroll
  for (int k = 0; k < octets; ++k) {
    const int64_t column = int64_t(k * threads + lane) * octet;
    count[k] = octet_count<packed>(p.sub.cols, column);
    if (count[k] == 0) continue;
    if (given(p.x)) x[k] = read_octet(row_of<T>(p.x, row) + column, count[k], packed);
    sub[k] = read_octet(row_of<T>(p.sub, row) + column, count[k], packed);
  }
  float v[octets][octet] = {};
#pragma unroll
  for (int k = 0; k < octets; ++k)
    if (count[k])
      add_octet(p, packed, row, int64_t(k * threads + lane) * octet, count[k], mask, keep, x[k],
                sub[k], v[k]);

  const float origin = of_first<threads>(v[0][0], part), width = float(p.sub.cols);
  float difference = 0, square = 0;
#pragma unroll
  for (int k = 0; k < octets; ++k)
#pragma unroll
    for (int j = 0; j < octet; ++j)
      if (j < count[k]) difference += v[k][j] - origin;
  float mean = origin + row_sum<threads>(difference, part) / width;
  if (!given(p.beta)) mean = 0;  // RMSNorm
#pragma unroll
  for (int k = 0; k < octets; ++k)
#pragma unroll
    for (int j = 0; j < octet; ++j)
      if (j < count[k]) square += (v[k][j] - mean) * (v[k][j] - mean);
  const float rstd = 1 / sqrtf(row_sum<threads>(square, part) / width + float(p.epsilon));

#pragma unroll
  for (int k = 0; k < octets; ++k) {
    const int64_t column = int64_t(k * threads + lane) * octet;
    if (count[k])
      put(column, count[k], normed_octet<T>(gains(k, column, count[k]), mean, rstd, v[k]));
  }
  if (keep && lane == 0) write_stats(p, row, mean, rstd);
}

}  // namespace tx
