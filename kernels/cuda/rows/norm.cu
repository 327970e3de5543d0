// Residual, dropout and layer norm in one pass. Up to 1,024 features stay in the registers of a
// warp, up to 4,096 in a block's; wider rows are read again.
#include "kernels/cuda/rows/pass.h"
#include "kernels/cuda/runtime/octet.h"
#include "kernels/cuda/runtime/profile.h"
#include "kernels/cuda/runtime/state.h"

namespace tx {
namespace {

constexpr int block_threads = 256;

struct AddNorm {
  Matrix x, sub, gamma, beta, sum, normed, stats;
  Dropout drop;
  float epsilon;
  bool packed;
};

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

// x + dropout(sub) of an octet, rounded to the storage type and stored. Without x it is sub.
template <class T>
TX_DEVICE void add_octet(const AddNorm& p, int64_t row, int64_t column, int count,
                         const RowMask& mask, const Octet<T>& x, const Octet<T>& sub,
                         float (&to)[octet]) {
  spread(sub, to);
  if (!given(p.x)) return;
  mask.apply(p.drop, column, to);
#pragma unroll
  for (int j = 0; j < octet; ++j) to[j] += x[j];
  const Octet<T> sum = octet_of<T>(to);
  write_octet(row_of<T>(p.sum, row) + column, count, p.packed, sum);
  spread(sum, to);
}

template <class T>
TX_DEVICE void write_normed(const AddNorm& p, int64_t row, int64_t column, int count, float mean,
                            float rstd, const float (&x)[octet]) {
  const float* gamma = row_of<float>(p.gamma, 0) + column;
  const Octet<float> g = read_octet(gamma, count, p.packed);
  Octet<float> b = {};
  if (given(p.beta)) b = read_octet(row_of<float>(p.beta, 0) + column, count, p.packed);
  float y[octet];
#pragma unroll
  for (int j = 0; j < octet; ++j) y[j] = (x[j] - mean) * rstd * g[j] + b[j];
  write_octet(row_of<T>(p.normed, row) + column, count, p.packed, octet_of<T>(y));
}

TX_DEVICE void write_stats(const AddNorm& p, int64_t row, float mean, float rstd) {
  if (!given(p.stats)) return;
  row_of<float>(p.stats, row)[0] = mean;
  row_of<float>(p.stats, row)[1] = rstd;
}

// Sums differences from the first element: precise far from zero, exact for constant rows.
template <class T, int octets, int threads, bool packed>
__global__ void __launch_bounds__(block_threads) add_norm_rows(AddNorm p) {
  p.packed = packed;  // known when compiled: fewer registers
  __shared__ float part[warp_size];
  wait_for_earlier();
  const int lane = int(threadIdx.x) % threads;
  const int64_t row = int64_t(blockIdx.x) * (block_threads / threads) + int(threadIdx.x) / threads;
  if (row >= p.sub.rows) return;  // a whole warp, or a whole block
  RowMask mask;
  mask.read(p.drop, row);
  Octet<T> x[octets], sub[octets];
  int count[octets];
#pragma unroll
  for (int k = 0; k < octets; ++k) {
    const int64_t column = int64_t(k * threads + lane) * octet;
    count[k] = octet_count<packed>(p.sub.cols, column);
    if (count[k] == 0) continue;
    if (given(p.x)) x[k] = read_octet(row_of<T>(p.x, row) + column, count[k], p.packed);
    sub[k] = read_octet(row_of<T>(p.sub, row) + column, count[k], p.packed);
  }
  float v[octets][octet] = {};
#pragma unroll
  for (int k = 0; k < octets; ++k)
    if (count[k])
      add_octet(p, row, int64_t(k * threads + lane) * octet, count[k], mask, x[k], sub[k], v[k]);

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
  const float rstd = 1 / sqrtf(row_sum<threads>(square, part) / width + p.epsilon);

#pragma unroll
  for (int k = 0; k < octets; ++k)
    if (count[k])
      write_normed<T>(p, row, int64_t(k * threads + lane) * octet, count[k], mean, rstd, v[k]);
  if (lane == 0) write_stats(p, row, mean, rstd);
}

// A row of any width. A thread rereads only what it wrote itself, except for the first element.
template <class T>
__global__ void __launch_bounds__(block_threads) add_norm_wide(AddNorm p) {
  __shared__ float part[warp_size];
  const int64_t row = blockIdx.x, cols = p.sub.cols;
  constexpr int64_t step = block_threads * octet;
  const int64_t start = int64_t(threadIdx.x) * octet;
  RowMask mask;
  mask.read(p.drop, row);
  const T* r = row_of<T>(given(p.x) ? p.sum : p.sub, row);
  float v[octet];
  for (int64_t c = start; c < cols && given(p.x); c += step) {
    const int count = octet_size(cols, c);
    const Octet<T> x = read_octet(row_of<T>(p.x, row) + c, count, p.packed);
    const Octet<T> sub = read_octet(row_of<T>(p.sub, row) + c, count, p.packed);
    add_octet(p, row, c, count, mask, x, sub, v);
  }
  __syncthreads();
  const float origin = load(r[0]), width = float(cols);
  float difference = 0, square = 0;
  for (int64_t c = start; c < cols; c += step) {
    const int count = octet_size(cols, c);
    spread(read_octet(r + c, count, p.packed), v);
#pragma unroll
    for (int j = 0; j < octet; ++j)
      if (j < count) difference += v[j] - origin;
  }
  float mean = origin + block_sum(difference, part) / width;
  if (!given(p.beta)) mean = 0;  // RMSNorm
  for (int64_t c = start; c < cols; c += step) {
    const int count = octet_size(cols, c);
    spread(read_octet(r + c, count, p.packed), v);
#pragma unroll
    for (int j = 0; j < octet; ++j)
      if (j < count) square += (v[j] - mean) * (v[j] - mean);
  }
  const float rstd = 1 / sqrtf(block_sum(square, part) / width + p.epsilon);
  for (int64_t c = start; c < cols; c += step) {
    const int count = octet_size(cols, c);
    spread(read_octet(r + c, count, p.packed), v);
    write_normed<T>(p, row, c, count, mean, rstd, v);
  }
  if (threadIdx.x == 0) write_stats(p, row, mean, rstd);
}

template <class T, int octets, int threads>
void launch_rows(const Cuda::State& state, const AddNorm& p) {
  const unsigned blocks = blocks_of(p.sub.rows, block_threads / threads);
  launch_early(
      state,
      p.packed ? add_norm_rows<T, octets, threads, true> : add_norm_rows<T, octets, threads, false>,
      blocks, block_threads, 0, p);
}

// Heads: a warp takes one head of a row.
struct HeadPlace {
  int64_t row, column;
  int lane;
};

TX_DEVICE HeadPlace head_place(const HeadNorm& p) {
  const int64_t warp = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / warp_size;
  const int64_t heads = p.x.cols / p.width;
  return {warp / heads, warp % heads * p.width, int(threadIdx.x) % warp_size};
}

TX_DEVICE const float* gain_of(const HeadNorm& p, int64_t column) {
  return row_of<float>(p.gamma, 0) + (column < p.queries ? 0 : p.width);
}

template <class T>
TX_DEVICE float head_rstd(const HeadNorm& p, const HeadPlace& at) {
  const T* x = row_of<T>(p.x, at.row) + at.column;
  float square = 0;
  for (int j = at.lane; j < p.width; j += warp_size) square += load(x[j]) * load(x[j]);
  return 1 / sqrtf(warp_sum(square) / float(p.width) + float(p.epsilon));
}

template <class T>
__global__ void __launch_bounds__(block_threads) norm_heads_rows(HeadNorm p) {
  const HeadPlace at = head_place(p);
  if (at.row >= p.x.rows) return;
  const float rstd = head_rstd<T>(p, at), *gain = gain_of(p, at.column);
  T* x = row_of<T>(p.x, at.row) + at.column;
  for (int j = at.lane; j < p.width; j += warp_size) store(x[j], load(x[j]) * rstd * gain[j]);
}

// The sums over the heads of part_rows rows; scales: 1 / root mean square of every head.
constexpr int64_t part_rows = 32;

template <class T>
__global__ void head_scales(HeadNorm p, float* scales) {
  const HeadPlace at = head_place(p);
  if (at.row >= p.x.rows) return;
  const float rstd = head_rstd<T>(p, at);
  if (at.lane == 0) scales[(at.row * p.x.cols + at.column) / p.width] = rstd;
}

template <class T>
__global__ void gain_gradient(HeadNorm p, Matrix dy, const float* scales, float* partial) {
  const int64_t j = int64_t(blockIdx.y) * blockDim.x + threadIdx.x, heads = p.x.cols / p.width;
  if (j >= 2 * p.width) return;
  const int64_t queries = p.queries / p.width;
  const int64_t first = j < p.width ? 0 : queries, last = j < p.width ? queries : heads;
  const int64_t end = (int64_t(blockIdx.x) + 1) * part_rows;
  float sum = 0;
  for (int64_t i = int64_t(blockIdx.x) * part_rows; i < end && i < p.x.rows; ++i)
    for (int64_t h = first; h < last; ++h) {
      const int64_t column = h * p.width + j % p.width;
      const float x = load(row_of<T>(p.x, i)[column]) * scales[i * heads + h];
      sum += load(row_of<T>(dy, i)[column]) * x;
    }
  partial[int64_t(blockIdx.x) * 2 * p.width + j] = sum;
}

template <class T>
__global__ void __launch_bounds__(block_threads) norm_heads_back(HeadNorm p, Matrix dx) {
  const HeadPlace at = head_place(p);
  if (at.row >= p.x.rows) return;
  const float rstd = head_rstd<T>(p, at), *gain = gain_of(p, at.column);
  const T* x = row_of<T>(p.x, at.row) + at.column;
  T* dy = row_of<T>(dx, at.row) + at.column;
  float b = 0;
  for (int j = at.lane; j < p.width; j += warp_size)
    b += load(dy[j]) * gain[j] * (load(x[j]) * rstd);
  b = warp_sum(b) / float(p.width);
  for (int j = at.lane; j < p.width; j += warp_size)
    store(dy[j], (load(dy[j]) * gain[j] - load(x[j]) * rstd * b) * rstd);
}

unsigned head_blocks(const HeadNorm& p) {
  return blocks_of(p.x.rows * (p.x.cols / p.width), block_threads / warp_size);
}

}  // namespace

void Cuda::add_norm(Matrix x, Matrix sub, const Dropout& drop, Matrix gamma, Matrix beta,
                    double epsilon, Matrix sum, Matrix normed, Matrix stats) {
  const Timed timed(*state_, "norm", traffic(x, sub, x.empty() ? x : sum, normed));
  AddNorm p{x, sub, gamma, beta, sum, normed, stats, drop, float(epsilon), false};
  p.packed = all_packed(x, sub, gamma, beta, sum, normed);
  with_type(sub.dtype, [&](auto t) {
    using T = decltype(t);
    if (sub.cols <= 256) return launch_rows<T, 1, warp_size>(*state_, p);
    if (sub.cols <= 512) return launch_rows<T, 2, warp_size>(*state_, p);
    if (sub.cols <= 1024) return launch_rows<T, 4, warp_size>(*state_, p);
    if (sub.cols <= 2048) return launch_rows<T, 1, block_threads>(*state_, p);
    if (sub.cols <= 4096) return launch_rows<T, 2, block_threads>(*state_, p);
    launch(*state_, add_norm_wide<T>, unsigned(sub.rows), block_threads, 0, p);
  });
}

void Cuda::norm_heads(const HeadNorm& p) {
  const Timed timed(*state_, "norm", traffic(p.x, p.x));
  TX_ASSERT(p.width > 0 && p.x.cols % p.width == 0 && p.gamma.cols == 2 * p.width);
  if (p.x.rows == 0) return;
  with_type(p.x.dtype, [&](auto t) {
    launch(*state_, norm_heads_rows<decltype(t)>, head_blocks(p), block_threads, 0, p);
  });
}

void Cuda::norm_heads_backward(const HeadNorm& p, Matrix dx, Matrix dgamma, bool add) {
  const Timed timed(*state_, "norm, backward", traffic(p.x, p.x, p.x));
  TX_ASSERT(p.x.cols % p.width == 0 && p.x.cols <= dx.cols && dgamma.cols == 2 * p.width);
  const unsigned parts = blocks_of(p.x.rows, part_rows);
  const size_t sums = size_t(parts) * size_t(dgamma.cols), heads = size_t(p.x.cols / p.width);
  auto* partial =
      static_cast<float*>(state_->scratch((sums + size_t(p.x.rows) * heads) * sizeof(float)));
  if (p.x.rows > 0)
    with_type(dx.dtype, [&](auto t) {
      using T = decltype(t);
      launch(*state_, head_scales<T>, head_blocks(p), block_threads, 0, p, partial + sums);
      const dim3 grid(parts, blocks_of(dgamma.cols, block_threads));
      launch(*state_, gain_gradient<T>, grid, block_threads, 0, p, dx, partial + sums, partial);
      launch(*state_, norm_heads_back<T>, head_blocks(p), block_threads, 0, p, dx);
    });
  add_parts(*state_, partial, parts, dgamma, {}, add);
}

}  // namespace tx
