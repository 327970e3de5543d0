// One pass over a matrix, octet by octet. An operation is a struct passed to the kernel by value:
//   Loaded                              what it reads of an octet
//   at_once                             rows of a thread whose reads are in flight together
//   load(row, column, count, loaded)    `count` features from `column` on
//   finish(row, column, count, loaded, value)   writes its outputs; value: what is summed by column
// All reads of a thread come before its first write: an output may be an input.
#pragma once
#include "kernels/cuda/runtime/octet.h"
#include "kernels/cuda/runtime/state.h"

namespace tx {

// Adds partial sums of fixed parts of the rows in a fixed order: (first, second) (+)= the sum of
// partial (parts, first.cols + second.cols) f32. first, second (1, cols) f32; second may be empty.
// 0 parts give 0.
void add_parts(const Cuda::State& state, const float* partial, int64_t parts, Matrix first,
               Matrix second, bool add);

constexpr int pass_threads = 256;

// A block's threads form rows of 2^shift octets, at_once rows each; `tiles` blocks cover a row.
struct PassShape {
  int64_t rows, cols;
  int shift;
  unsigned tiles;
};

template <class Op>
__global__ void __launch_bounds__(pass_threads) pass_kernel(Op op, PassShape shape) {
  wait_for_earlier();
  const int across = 1 << shape.shift, down = pass_threads >> shape.shift;
  const int64_t tile = blockIdx.x % shape.tiles, block = blockIdx.x / shape.tiles;
  const int64_t column = (tile * across + (int(threadIdx.x) & (across - 1))) * octet;
  const int64_t first = block * down * Op::at_once + int(threadIdx.x >> shape.shift);
  const int count = octet_size(shape.cols, column);
  if (count == 0) return;
  typename Op::Loaded in[Op::at_once];
#pragma unroll
  for (int k = 0; k < Op::at_once; ++k)
    if (first + k * down < shape.rows) op.load(first + k * down, column, count, in[k]);
#pragma unroll
  for (int k = 0; k < Op::at_once; ++k) {
    float value[octet];
    if (first + k * down < shape.rows) op.finish(first + k * down, column, count, in[k], value);
  }
}

template <class Op>
void pass(const Cuda::State& state, const Op& op, int64_t rows, int64_t cols) {
  if (rows == 0 || cols == 0) return;
  const int64_t octets = (cols + octet - 1) / octet;
  PassShape shape{rows, cols, 0, 0};
  while (shape.shift < 8 && (1 << shape.shift) < octets) ++shape.shift;
  shape.tiles = blocks_of(octets, 1 << shape.shift);
  const unsigned down = blocks_of(rows, int64_t(pass_threads >> shape.shift) * Op::at_once);
  launch_early(state, pass_kernel<Op>, down * shape.tiles, pass_threads, 0, op, shape);
}

// Rows summed by one block: 25,000 rows of 512 columns make 782 blocks, 1/32 of their bytes.
constexpr int64_t sum_part_rows = 64;

// The same, and partial (parts, cols) gets the column sums over each part of the rows: a warp takes
// 256 columns of every eighth row, then the warps are added in order.
template <class Op>
__global__ void __launch_bounds__(pass_threads)
    sum_pass_kernel(Op op, int64_t rows, int64_t cols, float* partial) {
  constexpr int warps = pass_threads / warp_size, tile_cols = warp_size * octet;
  __shared__ float parts[warps * tile_cols];
  const int lane = int(threadIdx.x) % warp_size, warp = int(threadIdx.x) / warp_size;
  const int64_t column = (int64_t(blockIdx.y) * warp_size + lane) * octet;
  const int64_t first = int64_t(blockIdx.x) * sum_part_rows;
  const int64_t last = first + sum_part_rows < rows ? first + sum_part_rows : rows;
  const int count = octet_size(cols, column);
  float sum[octet] = {};
  for (int64_t i = first + warp; count && i < last; i += warps * Op::at_once) {
    typename Op::Loaded in[Op::at_once];
#pragma unroll
    for (int k = 0; k < Op::at_once; ++k)
      if (i + k * warps < last) op.load(i + k * warps, column, count, in[k]);
#pragma unroll
    for (int k = 0; k < Op::at_once; ++k) {
      if (i + k * warps >= last) continue;
      float value[octet];
      op.finish(i + k * warps, column, count, in[k], value);
#pragma unroll
      for (int j = 0; j < octet; ++j) sum[j] += value[j];
    }
  }
#pragma unroll
  for (int j = 0; j < octet; ++j) parts[warp * tile_cols + j * warp_size + lane] = sum[j];
  __syncthreads();
  const int mine = int(threadIdx.x);  // a column of the tile
  const int64_t to = int64_t(blockIdx.y) * tile_cols + mine;
  if (to >= cols) return;
  float total = 0;
#pragma unroll
  for (int w = 0; w < warps; ++w)
    total += parts[w * tile_cols + mine % octet * warp_size + mine / octet];
  partial[int64_t(blockIdx.x) * cols + to] = total;
}

// sum (1, cols) f32 (+)= the column sums of the values of the pass.
template <class Op>
void sum_pass(Cuda::State& state, const Op& op, int64_t rows, int64_t cols, Matrix sum, bool add) {
  const unsigned parts = blocks_of(rows, sum_part_rows);
  float* partial = static_cast<float*>(state.scratch(size_t(parts) * size_t(cols) * sizeof(float)));
  const dim3 grid(parts, blocks_of(cols, warp_size * octet));
  launch(state, sum_pass_kernel<Op>, grid, pass_threads, 0, op, rows, cols, partial);
  add_parts(state, partial, parts, sum, {}, add);
}

}  // namespace tx
