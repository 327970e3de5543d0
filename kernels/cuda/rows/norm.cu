// Residual, dropout and layer norm in one pass. Up to 1,024 features stay in the registers of a
// warp, up to 4,096 in a block's; wider rows are read again.
#include "kernels/cuda/rows/norm_row.h"
#include "kernels/cuda/rows/pass.h"
#include "kernels/cuda/runtime/profile.h"
#include "kernels/cuda/runtime/state.h"

namespace tx {
namespace {

constexpr int block_threads = 256;

template <class T, int octets, int threads, bool packed>
__global__ void __launch_bounds__(block_threads) add_norm_rows(AddNorm p) {
  __shared__ float part[warp_size];
  wait_for_earlier();
  const int lane = int(threadIdx.x) % threads;
  const int64_t row = int64_t(blockIdx.x) * (block_threads / threads) + int(threadIdx.x) / threads;
  if (row >= p.sub.rows) return;  // a whole warp, or a whole block
  norm_row<T, octets, threads, packed>(
      p, row, lane, part, true,
      [&](int, int64_t column, int count) { return read_gains(p, packed, column, count); },
      [&](int64_t column, int count, const Octet<T>& normed) {
        write_octet(row_of<T>(p.normed, row) + column, count, packed, normed);
      });
}

// A row of any width. A thread rereads only what it wrote itself, except for the first element.
template <class T>
__global__ void __launch_bounds__(block_threads) add_norm_wide(AddNorm p, bool packed) {
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
    const Octet<T> x = read_octet(row_of<T>(p.x, row) + c, count, packed);
    const Octet<T> sub = read_octet(row_of<T>(p.sub, row) + c, count, packed);
    add_octet(p, packed, row, c, count, mask, true, x, sub, v);
  }
  __syncthreads();
  const float origin = load(r[0]), width = float(cols);
  float difference = 0, square = 0;
  for (int64_t c = start; c < cols; c += step) {
    const int count = octet_size(cols, c);
    spread(read_octet(r + c, count, packed), v);
#pragma unroll
    for (int j = 0; j < octet; ++j)
      if (j < count) difference += v[j] - origin;
  }
  float mean = origin + block_sum(difference, part) / width;
  if (!given(p.beta)) mean = 0;  // RMSNorm
  for (int64_t c = start; c < cols; c += step) {
    const int count = octet_size(cols, c);
    spread(read_octet(r + c, count, packed), v);
#pragma unroll
    for (int j = 0; j < octet; ++j)
      if (j < count) square += (v[j] - mean) * (v[j] - mean);
  }
  const float rstd = 1 / sqrtf(block_sum(square, part) / width + float(p.epsilon));
  for (int64_t c = start; c < cols; c += step) {
    const int count = octet_size(cols, c);
    spread(read_octet(r + c, count, packed), v);
    write_octet(row_of<T>(p.normed, row) + c, count, packed,
                normed_octet<T>(read_gains(p, packed, c, count), mean, rstd, v));
  }
  if (threadIdx.x == 0) write_stats(p, row, mean, rstd);
}

template <class T, int octets, int threads>
void launch_rows(const Cuda::State& state, const AddNorm& p, bool packed) {
  const unsigned blocks = blocks_of(p.sub.rows, block_threads / threads);
  launch_early(
      state,
      packed ? add_norm_rows<T, octets, threads, true> : add_norm_rows<T, octets, threads, false>,
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

void Cuda::add_norm(const AddNorm& p) {
  const Timed timed(*state_, "norm", traffic(p.x, p.sub, p.x.empty() ? p.x : p.sum, p.normed));
  const bool packed = all_packed(p.x, p.sub, p.gamma, p.beta, p.sum, p.normed);
  with_type(p.sub.dtype, [&](auto t) {
    using T = decltype(t);
    const int64_t cols = p.sub.cols;
    if (cols <= 256) return launch_rows<T, 1, warp_size>(*state_, p, packed);
    if (cols <= 512) return launch_rows<T, 2, warp_size>(*state_, p, packed);
    if (cols <= 1024) return launch_rows<T, 4, warp_size>(*state_, p, packed);
    if (cols <= 2048) return launch_rows<T, 1, block_threads>(*state_, p, packed);
    if (cols <= 4096) return launch_rows<T, 2, block_threads>(*state_, p, packed);
    launch(*state_, add_norm_wide<T>, unsigned(p.sub.rows), block_threads, 0, p, packed);
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
