// Products of bf16 by wgmma, for Hopper, with the bits of gemm_bf16.cu's. A block computes 128 x
// 128 of c with two warpgroups, 64 rows each, which read the same slices of b. This file is
// compiled for compute capability 9.0 alone.
#include <memory>
#include <random>
#include <vector>

#include "kernels/cuda/products/tensor.h"

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

template <class Out>
__global__ void __launch_bounds__(Tile::threads)
    wgmma_kernel(const Operand a, const Operand b, const Finish finish) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(TX_EMULATED_CUDA)
  unsigned char* shared = dynamic_shared<unsigned char>();
  shared +=
      (Tile::alignment - reinterpret_cast<uintptr_t>(shared) % Tile::alignment) % Tile::alignment;
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
  finish_wide<Tile, Out>(finish, row + warp * 16, col, total);
#endif
}

}  // namespace

void wgmma_product(const Cuda::State& s, const Sums& p) {
  const auto side = [&](const Side& x) {
    return Operand{static_cast<const bf16*>(x.data), x.rows, x.row_step, x.k_step, p.k};
  };
  const dim3 grid(blocks_of(p.a.rows, Tile::rows), blocks_of(p.b.rows, Tile::cols));
  launch_early(s, p.c.dtype == DType::bf16 ? wgmma_kernel<bf16> : wgmma_kernel<float>, grid,
               Tile::threads, Tile::shared_bytes, side(p.a), side(p.b), finish_of(s, p));
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
