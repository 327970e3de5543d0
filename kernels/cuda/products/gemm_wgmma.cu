// Products of bf16 by wgmma, for Hopper: with the bits of gemm_bf16.cu's, and with the gradient of
// relu. A block computes 128 x 128 of c with two warpgroups, 64 rows each, which read the same
// slices of b. This file is compiled for compute capability 9.0 alone.
#include <memory>
#include <random>
#include <vector>

#include "kernels/cuda/products/tensor.h"
#include "kernels/cuda/rows/pass.h"

namespace tx {
namespace cuda {
namespace {

struct Tile {
  static constexpr int rows = 128, cols = 128, stages = 6;
  static constexpr int group = 256, threads = group, groups = 1;
  static constexpr int m = 1, n = cols / 8;  // fragments of a warp
  static constexpr int a_bytes = rows * row_bytes, bytes = a_bytes + cols * row_bytes;
  static constexpr int alignment = 1024;
  static constexpr int shared_bytes = stages * bytes + alignment;
};

TX_DEVICE unsigned char* aligned_shared() {
  unsigned char* shared = dynamic_shared<unsigned char>();
  return shared + (Tile::alignment - reinterpret_cast<uintptr_t>(shared) % Tile::alignment) %
                      Tile::alignment;
}

template <class Out>
__global__ void __launch_bounds__(Tile::threads)
    wgmma_kernel(const Operand a, const Operand b, const Finish finish) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(TX_EMULATED_CUDA)
  unsigned char* shared = aligned_shared();
  const int64_t row = int64_t(blockIdx.x) * Tile::rows, col = int64_t(blockIdx.y) * Tile::cols;
  const int steps = int((a.k + kStep - 1) / kStep);
  Packs<Tile, Tile::rows> left(a, row);
  Packs<Tile, Tile::cols> right(b, col);
  const auto fetch = [&](int step, int stage, bool both = true) {
    if (step < steps) {
      unsigned char* to = shared + stage * Tile::bytes;
      left.next(step, to);
      if (both) right.next(step, to + Tile::a_bytes);
    }
    copy_async_commit();
  };
  const int warp = int(threadIdx.x) / warp_size, group = warp / 4;
  Fragments<Tile> total = {}, sums;
  if (finish.weights) {
#pragma unroll
    for (int step = 0; step < Tile::stages - 2; step++)
      if (step < steps) right.next(step, shared + step * Tile::bytes + Tile::a_bytes);
  }
  wait_for_earlier();
#pragma unroll
  for (int step = 0; step < Tile::stages - 2; step++) fetch(step, step, !finish.weights);
  for (int step = 0, stage = 0; step < steps;) {
    const int end = min(step + part_steps, steps);
    for (bool add = false; step < end; step++) {
      copy_async_wait<Tile::stages - 3>();
      wgmma_show_shared();
      __syncthreads();  // this slice has arrived, and the one before the previous is no longer used
      fetch(step + Tile::stages - 2, (stage + Tile::stages - 2) % Tile::stages);
      const unsigned char* slice = shared + stage * Tile::bytes;
      wgmma_fence();
#pragma unroll
      for (int k = 0; k < kStep / 16; k++, add = true)
        wgmma_64x128(sums[0], slice + group * 64 * row_bytes + k * 32,
                     slice + Tile::a_bytes + k * 32, add);
      wgmma_commit();
      wgmma_wait<1>(sums[0]);
      stage = stage + 1 == Tile::stages ? 0 : stage + 1;
    }
    wgmma_wait<0>(sums[0]);
    add_part<Tile>(sums, total);
  }
  Biases<Tile> biases;
  biases.read(finish, col);
  finish_wide<Tile, Out>(finish, biases, row + warp * 16, col, total);
#endif
}

constexpr int relu_stages = 3;
constexpr int square = 64;

// Two lanes that are `apart` add their first 2 * apart values: the lower lane gets the sums of the
// first half, the upper lane those of the second half, each as its first `apart` values.
template <int apart, int count>
TX_DEVICE void add_halves(float (&values)[count]) {
  const bool upper = threadIdx.x & apart;
#pragma unroll
  for (int i = 0; i < apart; i++) {
    const float own = upper ? values[i + apart] : values[i];
    const float other = upper ? values[i] : values[i + apart];
    values[i] = own + __shfl_xor_sync(whole_warp, other, apart);
  }
}

// c = a b^T scale where y > 0, else 0; `partial` (blocks of rows, cols), unless null, gets the
// column sums of c. Two of these blocks fit a multiprocessor: one stores while the other one
// multiplies. So there are fewer slices, and one chain of sums. The tile of y is one more slice.
__global__ void __launch_bounds__(Tile::threads, 2)
    wgmma_relu_kernel(const Operand a, const Operand b, const Operand y, float scale,
                      const Finish finish, float* partial) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(TX_EMULATED_CUDA)
  unsigned char* shared = aligned_shared();
  const int64_t row = int64_t(blockIdx.x) * Tile::rows, col = int64_t(blockIdx.y) * Tile::cols;
  const int steps = int((a.k + kStep - 1) / kStep);
  Packs<Tile, Tile::rows> left(a, row);
  Packs<Tile, Tile::cols> right(b, col);
  const auto slice = [&](int step) { return shared + step % relu_stages * Tile::bytes; };
  const auto fetch = [&](int step) {
    if (step < steps) {
      left.next(step, slice(step));
      right.next(step, slice(step) + Tile::a_bytes);
    } else if (step == steps) {
      Packs<Tile, Tile::rows> kept({y.data + col, y.rows, y.row_step, 1, y.k - col}, row);
      kept.next(0, slice(step));
      kept.next(1, slice(step) + Tile::a_bytes);
    }
    copy_async_commit();
  };
  const int warp = int(threadIdx.x) / warp_size, lane = int(threadIdx.x) % warp_size;
  const int g = lane / 4, t = lane % 4;
  Fragments<Tile> sums = {};
  wait_for_earlier();
  fetch(0), fetch(1);
  for (int step = 0; step < steps; step++) {
    copy_async_wait<1>();
    wgmma_wait<0>(sums[0]);
    wgmma_show_shared();
    __syncthreads();  // this slice has arrived, and the previous one is no longer used
    fetch(step + 2);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < kStep / 16; k++)
      wgmma_64x128(sums[0], slice(step) + warp / 4 * 64 * row_bytes + k * 32,
                   slice(step) + Tile::a_bytes + k * 32, true);
    wgmma_commit();
  }
  copy_async_wait<0>();
  wgmma_wait<0>(sums[0]);
  __syncthreads();  // y has arrived, and no other slice is used
  const unsigned char* kept = slice(steps);
  const auto low = [](uint32_t pair) { return __uint_as_float(pair << 16); };
  const auto high = [](uint32_t pair) { return __uint_as_float(pair & 0xffff0000u); };
  float columns[Tile::n * 2] = {};
  store_pairs<Tile>(finish, row + warp * 16, col, [&](int i, int j, int k) {
    const int at = chunk_at(warp * 16 + g + k / 2 * 8, j % chunks) + t * 4;
    const uint32_t own = *reinterpret_cast<const uint32_t*>(kept + j / chunks * Tile::a_bytes + at);
    const float first = low(own) > 0 ? sums[i][j][k] * scale : 0.0f;
    const float second = high(own) > 0 ? sums[i][j][k + 1] * scale : 0.0f;
    const uint32_t pair = bf16_pair(first, second);
    columns[j * 2] += low(pair);
    columns[j * 2 + 1] += high(pair);
    return pair;
  });
  if (!partial) return;
  // Of the eight lanes with the same columns, lane g gets the sums of columns[4 g] to [4 g + 3].
  add_halves<16>(columns);
  add_halves<8>(columns);
  add_halves<4>(columns);
  float* parts = reinterpret_cast<float*>(slice(steps + 1));  // (warps, columns)
#pragma unroll
  for (int c = 0; c < 4; c++)
    parts[warp * Tile::cols + (g * 2 + c / 2) * 8 + t * 2 + c % 2] = columns[c];
  __syncthreads();
  const int mine = int(threadIdx.x);
  if (mine >= Tile::cols || col + mine >= finish.cols) return;
  float total = 0;
#pragma unroll
  for (int w = 0; w < Tile::threads / warp_size; w++) total += parts[w * Tile::cols + mine];
  partial[int64_t(blockIdx.x) * finish.cols + col + mine] = total;
#endif
}

// to (x.cols, x.rows) = x^T, of which both sizes are even
__global__ void __launch_bounds__(Tile::threads) transpose_kernel(const Matrix x, bf16* to) {
  __shared__ __align__(4) uint16_t tile[square][square + 2];
  const int lane = int(threadIdx.x) % warp_size, warp = int(threadIdx.x) / warp_size;
  const int64_t row = int64_t(blockIdx.x) * square, col = int64_t(blockIdx.y) * square;
  wait_for_earlier();
#pragma unroll
  for (int i = warp; i < square; i += Tile::threads / warp_size)
    if (row + i < x.rows && col + lane * 2 < x.cols)
      *reinterpret_cast<uint32_t*>(&tile[i][lane * 2]) =
          *reinterpret_cast<const uint32_t*>(row_of<bf16>(x, row + i) + col + lane * 2);
  __syncthreads();
#pragma unroll
  for (int j = warp; j < square; j += Tile::threads / warp_size)
    if (col + j < x.cols && row + lane * 2 < x.rows)
      *reinterpret_cast<uint32_t*>(to + (col + j) * x.rows + row + lane * 2) =
          tile[lane * 2][j] | uint32_t(tile[lane * 2 + 1][j]) << 16;
}

Operand operand(const Side& x, int64_t k) {
  return {static_cast<const bf16*>(x.data), x.rows, x.row_step, x.k_step, k};
}

}  // namespace

void wgmma_product(const Cuda::State& s, const Sums& p) {
  const dim3 grid(blocks_of(p.a.rows, Tile::rows), blocks_of(p.b.rows, Tile::cols));
  launch_early(s, p.c.dtype == DType::bf16 ? wgmma_kernel<bf16> : wgmma_kernel<float>, grid,
               Tile::threads, Tile::shared_bytes, operand(p.a, p.k), operand(p.b, p.k),
               finish_of(s, p));
}

void wgmma_relu_backward(Cuda::State& s, const Product& p, const Matrix& y, float scale,
                         const Matrix& dbias, bool add_bias) {
  Sums sums = sums_of(p);
  const int64_t rows = p.c.rows, cols = p.c.cols;
  const unsigned parts = blocks_of(rows, Tile::rows);
  const size_t b_bytes = (size_t(cols * sums.k) * 2 + 255) / 256 * 256;
  char* const scratch =
      static_cast<char*>(s.scratch(b_bytes + size_t(parts) * size_t(cols) * sizeof(float)));
  float* const partial = reinterpret_cast<float*>(scratch + b_bytes);
  launch_early(s, transpose_kernel, dim3(blocks_of(sums.k, square), blocks_of(cols, square)),
               Tile::threads, 0, p.b, reinterpret_cast<bf16*>(scratch));
  sums.b = {scratch, cols, sums.k, 1};
  launch_early(s, wgmma_relu_kernel, dim3(parts, blocks_of(cols, Tile::cols)), Tile::threads,
               relu_stages * Tile::bytes + Tile::alignment, operand(sums.a, sums.k),
               operand(sums.b, sums.k), operand({y.data, rows, y.stride, 1}, cols), scale,
               finish_of(s, sums), dbias.empty() ? nullptr : partial);
  if (!dbias.empty()) add_parts(s, partial, parts, dbias, {}, add_bias);
}

namespace {

bool has_bits_of_mma(const Cuda::State& s) {
  constexpr int64_t rows = 150, cols = 136, k = 600;
  std::vector<uint16_t> values(size_t((rows + cols) * k));
  std::mt19937 random(1);
  // Signs and fractions at random, exponents from -8 to 7: many sums cancel or are rounded.
  for (uint16_t& x : values) x = uint16_t((random() & 0x87ff) + 0x3b80);
  const size_t in = values.size() * 2, out = size_t(rows * cols) * 4;
  const auto free = [](char* p) { cudaFree(p); };
  const std::unique_ptr<char, decltype(free)> memory(static_cast<char*>(take_memory(in + 2 * out)),
                                                     free);
  check(cudaMemcpyAsync(memory.get(), values.data(), in, cudaMemcpyHostToDevice, s.stream),
        "copying to the device");
  Sums sums{DType::bf16,
            {memory.get(), rows, k, 1},
            {memory.get() + rows * k * 2, cols, k, 1},
            k,
            {},
            nullptr,
            false,
            false};
  const auto result = [&](size_t at, auto&& product) {
    sums.c = matrix(memory.get() + at, DType::f32, rows, cols);
    product(s, sums);
    std::vector<char> bytes(out);
    check(cudaMemcpyAsync(bytes.data(), sums.c.data, out, cudaMemcpyDeviceToHost, s.stream),
          "copying from the device");
    check(cudaStreamSynchronize(s.stream), "waiting for the device");
    return bytes;
  };
  const auto by_mma = [](const Cuda::State& state, const Sums& p) { mma_product(state, p, 6); };
  return result(in, wgmma_product) == result(in + out, by_mma);
}

}  // namespace

bool use_wgmma(Cuda::State& s, bool on) {
  s.wgmma = false;
  if (!on) return false;
  cudaDeviceProp p{};
  check(cudaGetDeviceProperties(&p, s.device), "querying the device");
  return s.wgmma = p.major == 9 && p.minor == 0 && has_bits_of_mma(s);
}

}  // namespace cuda
}  // namespace tx
