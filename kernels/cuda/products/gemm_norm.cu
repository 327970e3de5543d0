// add_norm() and the product of its result with weights as one kernel, for few rows of bf16: a step
// of decoding for one sentence waits for launches and memory, not for arithmetic. Every block
// normalises all rows itself into shared memory, with the arithmetic of add_norm(), while its
// weights are loaded; the first block stores them. The product has gemm_bf16.cu's order of sums,
// with a group of warps for each part of K.
#include "kernels/cuda/products/norm_slices.h"

namespace tx {
namespace cuda {
namespace {

// A block for few_rows rows and 32 columns of c, K up to 256 * octets. The norm has all warps; the
// product has `threads` threads, two warps for each part of K.
template <int octets>
struct Tile {
  static constexpr int rows = few_rows, cols = 32, groups = octets, group = 64;
  static constexpr int threads = groups * group, norm_warps = 8;
  static constexpr int m = 1, n = 2;  // fragments of a warp
  static constexpr int a_bytes = groups * kPart * rows * int(sizeof(bf16));
  static constexpr int b_bytes = cols * row_bytes;  // of a slice
  static constexpr int sums_bytes = threads * m * n * 4 * int(sizeof(float));
  static constexpr int shared_bytes = a_bytes + groups * part_steps * b_bytes + sums_bytes;
};

template <int octets, class Out>
__global__ void __launch_bounds__(Tile<octets>::norm_warps* warp_size)
    norm_kernel(const AddNorm norm, const Operand b, const Finish finish) {
  using T = Tile<octets>;
  unsigned char* a = dynamic_shared<unsigned char>();  // slices of 64 k, as in tensor_kernel
  unsigned char* weights = a + T::a_bytes;
  float* parts = reinterpret_cast<float*>(weights + T::groups * part_steps * T::b_bytes);
  const int64_t col = int64_t(blockIdx.x) * T::cols;
  const int group = int(threadIdx.x) / T::group;
  const bool multiplies = int(threadIdx.x) < T::threads;
  weights += group * part_steps * T::b_bytes;
  const int b_row = int(threadIdx.x) / warp_size % 2 * 16;
  Biases<T> biases;
  RowGains<octets> gains;
  const auto load_parameters = [&] {
    gains.read(norm);
    if (!multiplies) return;
    biases.read(finish, col + b_row);
    Packs<T, T::cols> right(b, col);
#pragma unroll
    for (int step = 0; step < part_steps; step++) right.next(step, weights + step * T::b_bytes);
    copy_async_commit();
  };
  if (finish.weights) load_parameters();
  wait_for_earlier();
  if (!finish.weights) load_parameters();
  norm_slices<octets, T::rows, T::norm_warps>(norm, gains, 0, int(finish.rows), blockIdx.x == 0, a);
  copy_async_wait<0>();
  __syncthreads();
  if (!multiplies) return;
  const int count = int((b.k + kPart - 1) / kPart), slices = int(b.k) / kStep;
  Fragments<T> sums = {}, total = {};
#pragma unroll
  for (int step = 0; step < part_steps; step++) {
    const int slice = group * part_steps + step;
    if (slice < slices)
      multiply<T>(a + slice * T::rows * row_bytes, weights + step * T::b_bytes, 0, b_row, sums);
  }
  add_round<T>(count, sums, parts, total);
  if (group == 0) finish_wide<T, Out>(finish, biases, 0, col + b_row, total);
}

template <int octets>
bool run(const Cuda::State& s, const AddNorm& norm, const Sums& p) {
  using T = Tile<octets>;
  if (p.a.rows > T::rows || int64_t(blocks_of(p.b.rows, T::cols)) > s.processors ||
      T::shared_bytes > s.shared_bytes_limit - static_shared)
    return false;
  const Operand b{static_cast<const bf16*>(p.b.data), p.b.rows, p.b.row_step, p.b.k_step, p.k};
  launch_early(s, p.c.dtype == DType::bf16 ? norm_kernel<octets, bf16> : norm_kernel<octets, float>,
               blocks_of(p.b.rows, T::cols), T::norm_warps * warp_size, T::shared_bytes, norm, b,
               finish_of(s, p));
  return true;
}

}  // namespace

bool norm_product(const Cuda::State& s, const AddNorm& norm, const Sums& p) {
  if (!s.norms || p.dtype != DType::bf16 || p.a.rows == 0 || !wide_output(p) ||
      !fits_slices(norm, p.k))
    return false;
  if (p.k <= 256) return run<1>(s, norm, p);
  if (p.k <= 512) return run<2>(s, norm, p);
  return run<4>(s, norm, p);
}

}  // namespace cuda
}  // namespace tx
