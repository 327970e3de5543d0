// The gradient of add_norm in one pass: a block takes a part of the rows, a warp (narrow rows) or
// the whole block one row at a time. Threads sum dgamma and dbeta over the part in registers;
// add_parts() then sums the parts.
#include "kernels/cuda/rows/pass.h"
#include "kernels/cuda/runtime/octet.h"
#include "kernels/cuda/runtime/profile.h"
#include "kernels/cuda/runtime/state.h"

namespace tx {
namespace {

// 25,000 rows make 1,563 parts, whose sums have a quarter of the bytes of one bf16 matrix.
constexpr int64_t part_rows = 16;
constexpr int row_warps = 4;  // of a block that takes a row per warp
constexpr int max_threads = 512, max_warps = max_threads / warp_size;

struct Backward {
  AddNormBackward g;
  float* partial;  // (parts, 2, D): dgamma, dbeta
  bool packed;
};

// What a thread reads of one row, and the row's statistics. `dx`: to be added to.
template <class T>
struct Row {
  Octet<T> dy, sum, dsum, dx;
  float mean = 0, rstd = 0;
};

TX_DEVICE void read_stats(const Matrix& stats, int64_t row, float& mean, float& rstd) {
  mean = row_of<float>(stats, row)[0];
  rstd = row_of<float>(stats, row)[1];
}

// d of an octet, from the row's means a of dy * gamma and b of dy * gamma * xhat, to dx and dsub.
template <class T>
TX_DEVICE void write_gradient(const Backward& p, int64_t row, int64_t column, int count,
                              const Row<T>& in, const float (&gamma)[octet], float a, float b,
                              const RowMask& mask) {
  const AddNormBackward& g = p.g;
  float d[octet];
#pragma unroll
  for (int j = 0; j < octet; ++j) {
    const float xhat = (in.sum[j] - in.mean) * in.rstd;
    d[j] = (in.dy[j] * gamma[j] - a - xhat * b) * in.rstd + in.dsum[j];
  }
  if (given(g.dx)) {
    float x[octet];
    spread(in.dx, x);
#pragma unroll
    for (int j = 0; j < octet; ++j) x[j] += d[j];
    write_octet(row_of<T>(g.dx, row) + column, count, p.packed, octet_of<T>(x));
  }
  if (!given(g.dsub)) return;
  mask.apply(g.drop, column, d);
  write_octet(row_of<T>(g.dsub, row) + column, count, p.packed, octet_of<T>(d));
}

template <class T>
TX_DEVICE void read_row(const Backward& p, int64_t row, int64_t column, int count, Row<T>& in) {
  const AddNormBackward& g = p.g;
  in.dy = read_octet(row_of<T>(g.dnormed, row) + column, count, p.packed);
  in.sum = read_octet(row_of<T>(g.sum, row) + column, count, p.packed);
  if (given(g.dsum)) in.dsum = read_octet(row_of<T>(g.dsum, row) + column, count, p.packed);
  if (given(g.dx) && g.add_x) in.dx = read_octet(row_of<T>(g.dx, row) + column, count, p.packed);
  read_stats(g.stats, row, in.mean, in.rstd);
}

// Adds an octet's contributions to dgamma and dbeta, and to the row's sums a and b.
template <class T>
TX_DEVICE void add_shares(const Row<T>& in, const float (&gamma)[octet], float (&dgamma)[octet],
                          float (&dbeta)[octet], float& a, float& b) {
#pragma unroll
  for (int j = 0; j < octet; ++j) {
    const float y = in.dy[j], xhat = (in.sum[j] - in.mean) * in.rstd;
    dgamma[j] += y * xhat;
    dbeta[j] += y;
    a += y * gamma[j];
    b += y * gamma[j] * xhat;
  }
}

// The mean `a` of write_gradient(); 0 for RMSNorm, which does not subtract a mean.
TX_DEVICE float mean_share(const Backward& p, float sum, int64_t width) {
  return given(p.g.dbeta) ? sum / float(width) : 0.f;
}

// The sum of x over the block, for every thread. Alternating `parts` need one barrier only.
template <int values>
TX_DEVICE void block_sums(float (&x)[values], float* parts) {
  const int warps = int(blockDim.x) / warp_size, lane = int(threadIdx.x) % warp_size;
#pragma unroll
  for (int v = 0; v < values; ++v) {
    x[v] = warp_sum(x[v]);
    if (lane == 0) parts[v * max_warps + int(threadIdx.x) / warp_size] = x[v];
  }
  __syncthreads();
#pragma unroll
  for (int v = 0; v < values; ++v) {
    x[v] = parts[v * max_warps];
    for (int w = 1; w < warps; ++w) x[v] += parts[v * max_warps + w];
  }
}

// Rows of up to `octets` octets per lane, a warp each. Beyond the row a lane holds zeros, which add
// nothing. The limit of registers is for four blocks on a multiprocessor (see fewer_blocks).
template <class T, int octets>
__global__ void __launch_bounds__(row_warps* warp_size, 4 - fewer_blocks)
    norm_backward_warps(Backward p) {
  __shared__ float parts[2][row_warps][octets * octet * warp_size];
  const AddNormBackward& g = p.g;
  const int64_t rows = g.dnormed.rows, width = g.dnormed.cols;
  const int lane = int(threadIdx.x) % warp_size, warp = int(threadIdx.x) / warp_size;
  const int64_t first = int64_t(blockIdx.x) * part_rows;
  const int64_t last = first + part_rows < rows ? first + part_rows : rows;
  int count[octets];
  float gamma[octets][octet] = {}, dgamma[octets][octet] = {}, dbeta[octets][octet] = {};
#pragma unroll
  for (int k = 0; k < octets; ++k) {
    const int64_t column = int64_t(k * warp_size + lane) * octet;
    count[k] = octet_size(width, column);
    if (count[k])
      spread(read_octet(row_of<float>(g.gamma, 0) + column, count[k], p.packed), gamma[k]);
  }
  for (int64_t i = first + warp; i < last; i += row_warps) {
    Row<T> in[octets] = {};
    RowMask mask;
#pragma unroll
    for (int k = 0; k < octets; ++k)
      if (count[k]) read_row(p, i, int64_t(k * warp_size + lane) * octet, count[k], in[k]);
    if (given(g.dsub)) mask.read(g.drop, i);
    float a = 0, b = 0;
#pragma unroll
    for (int k = 0; k < octets; ++k) add_shares(in[k], gamma[k], dgamma[k], dbeta[k], a, b);
    a = mean_share(p, warp_sum(a), width), b = warp_sum(b) / float(width);
#pragma unroll
    for (int k = 0; k < octets; ++k)
      if (count[k])
        write_gradient(p, i, int64_t(k * warp_size + lane) * octet, count[k], in[k], gamma[k], a, b,
                       mask);
  }
#pragma unroll
  for (int k = 0; k < octets; ++k)
#pragma unroll
    for (int j = 0; j < octet; ++j) {
      parts[0][warp][(k * octet + j) * warp_size + lane] = dgamma[k][j];
      parts[1][warp][(k * octet + j) * warp_size + lane] = dbeta[k][j];
    }
  __syncthreads();
  float* to = p.partial + int64_t(blockIdx.x) * 2 * width;
  for (int c = int(threadIdx.x); c < 2 * width; c += row_warps * warp_size) {
    const int which = c >= width, column = c - which * int(width), o = column / octet;
    const int at = (o / warp_size * octet + column % octet) * warp_size + o % warp_size;
    float total = 0;
#pragma unroll
    for (int w = 0; w < row_warps; ++w) total += parts[which][w][at];
    to[c] = total;
  }
}

// Rows of up to 4,096 features. Beyond the row a thread holds zeros. `at_once` rows are in flight.
template <class T, int at_once>
__global__ void __launch_bounds__(max_threads) norm_backward_rows(Backward p) {
  __shared__ float parts[2][2 * at_once * max_warps];
  const AddNormBackward& g = p.g;
  const int64_t rows = g.dnormed.rows, width = g.dnormed.cols;
  const int64_t column = int64_t(threadIdx.x) * octet;
  const int count = octet_size(width, column);
  const int64_t first = int64_t(blockIdx.x) * part_rows;
  const int64_t last = first + part_rows < rows ? first + part_rows : rows;
  float gamma[octet] = {}, dgamma[octet] = {}, dbeta[octet] = {};
  if (count) spread(read_octet(row_of<float>(g.gamma, 0) + column, count, p.packed), gamma);
  int turn = 0;
  for (int64_t i = first; i < last; i += at_once, turn ^= 1) {
    Row<T> in[at_once] = {};
    RowMask mask[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (i + k >= last || count == 0) continue;
      read_row(p, i + k, column, count, in[k]);
      if (given(g.dsub)) mask[k].read(g.drop, i + k);
    }
    float sums[2 * at_once] = {};
#pragma unroll
    for (int k = 0; k < at_once; ++k)
      add_shares(in[k], gamma, dgamma, dbeta, sums[2 * k], sums[2 * k + 1]);
    block_sums(sums, parts[turn]);
#pragma unroll
    for (int k = 0; k < at_once; ++k)
      if (i + k < last && count)
        write_gradient(p, i + k, column, count, in[k], gamma, mean_share(p, sums[2 * k], width),
                       sums[2 * k + 1] / float(width), mask[k]);
  }
  if (count == 0) return;
  float* to = p.partial + int64_t(blockIdx.x) * 2 * width + column;
  write_octet(to, count, p.packed, octet_of<float>(dgamma));
  write_octet(to + width, count, p.packed, octet_of<float>(dbeta));
}

// Rows of any width, read twice; the part's dgamma and dbeta are kept in `partial`.
template <class T>
__global__ void __launch_bounds__(max_threads) norm_backward_wide(Backward p) {
  __shared__ float parts[2][2 * max_warps];
  const AddNormBackward& g = p.g;
  const int64_t rows = g.dnormed.rows, width = g.dnormed.cols;
  const int64_t first = int64_t(blockIdx.x) * part_rows;
  const int64_t last = first + part_rows < rows ? first + part_rows : rows;
  const int64_t start = int64_t(threadIdx.x) * octet, step = int64_t(blockDim.x) * octet;
  float* to = p.partial + int64_t(blockIdx.x) * 2 * width;
  for (int64_t i = first; i < last; ++i) {
    RowMask mask;
    if (given(g.dsub)) mask.read(g.drop, i);
    Row<T> in = {};
    read_stats(g.stats, i, in.mean, in.rstd);
    float sums[2] = {}, gamma[octet];
    for (int64_t c = start; c < width; c += step) {
      const int count = octet_size(width, c);
      in.dy = read_octet(row_of<T>(g.dnormed, i) + c, count, p.packed);
      in.sum = read_octet(row_of<T>(g.sum, i) + c, count, p.packed);
      spread(read_octet(row_of<float>(g.gamma, 0) + c, count, p.packed), gamma);
      float dgamma[octet] = {}, dbeta[octet] = {};
      if (i > first) {
        spread(read_octet(to + c, count, p.packed), dgamma);
        spread(read_octet(to + width + c, count, p.packed), dbeta);
      }
      add_shares(in, gamma, dgamma, dbeta, sums[0], sums[1]);
      write_octet(to + c, count, p.packed, octet_of<float>(dgamma));
      write_octet(to + width + c, count, p.packed, octet_of<float>(dbeta));
    }
    block_sums(sums, parts[(i - first) % 2]);
    for (int64_t c = start; c < width; c += step) {
      const int count = octet_size(width, c);
      read_row(p, i, c, count, in);
      spread(read_octet(row_of<float>(g.gamma, 0) + c, count, p.packed), gamma);
      write_gradient(p, i, c, count, in, gamma, mean_share(p, sums[0], width),
                     sums[1] / float(width), mask);
    }
  }
}

}  // namespace

void Cuda::add_norm_backward(const AddNormBackward& g) {
  const Timed timed(*state_, "norm, backward",
                    traffic(g.dnormed, g.dsum, g.sum, g.dx, g.add_x ? g.dx : Matrix(), g.dsub));
  const int64_t width = g.dnormed.cols;
  const unsigned parts = blocks_of(g.dnormed.rows, part_rows);
  const size_t sums = size_t(parts) * 2 * size_t(width);
  float* partial = static_cast<float*>(state_->scratch((sums + size_t(width)) * sizeof(float)));
  const bool packed = all_packed(g.dnormed, g.dsum, g.sum, g.gamma, g.dx, g.dsub);
  const Backward p{g, partial, packed};
  const int64_t threads = (width + octet * warp_size - 1) / (octet * warp_size) * warp_size;
  with_type(g.dnormed.dtype, [&](auto t) {
    using T = decltype(t);
    constexpr int at_once = sizeof(T) == 2 ? 2 : 1;
    constexpr int octets = sizeof(T) == 2 ? 2 : 1;  // of a lane, as many as registers can hold
    if (threads <= warp_size)
      launch(*state_, norm_backward_warps<T, 1>, parts, row_warps * warp_size, 0, p);
    else if (threads <= octets * warp_size)
      launch(*state_, norm_backward_warps<T, octets>, parts, row_warps * warp_size, 0, p);
    else if (threads <= max_threads)
      launch(*state_, norm_backward_rows<T, at_once>, parts, int(threads), 0, p);
    else
      launch(*state_, norm_backward_wide<T>, parts, max_threads, 0, p);
  });
  const Matrix nowhere = matrix(partial + sums, DType::f32, 1, width);
  add_parts(*state_, partial, parts, g.dgamma, g.dbeta.empty() ? nowhere : g.dbeta,
            g.add_parameters);
}

}  // namespace tx
