#include "kernels/cuda/rows/pass.h"
#include "kernels/cuda/runtime/device.h"

namespace tx {
namespace {

// Parts added in parallel, to keep loads in flight: 780 parts take 49 rounds.
constexpr int lanes = 16;

// A block sums 32 columns: lane l adds parts l, l + 16, .., then the lanes are added in order.
__global__ void __launch_bounds__(warp_size* lanes)
    add_parts_kernel(const float* partial, int64_t parts, Matrix first, Matrix second, bool add) {
  __shared__ float sums[lanes * warp_size];
  const int across = int(threadIdx.x) % warp_size, lane = int(threadIdx.x) / warp_size;
  const int64_t cols = first.cols + second.cols;
  const int64_t column = int64_t(blockIdx.x) * warp_size + across;
  float sum = 0;
  if (column < cols) {
#pragma unroll 8
    for (int64_t i = lane; i < parts; i += lanes) sum += partial[i * cols + column];
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (lane != 0 || column >= cols) return;
  float* to = column < first.cols ? static_cast<float*>(first.data) + column
                                  : static_cast<float*>(second.data) + (column - first.cols);
  float total = sums[across];
#pragma unroll
  for (int l = 1; l < lanes; ++l) total += sums[l * warp_size + across];
  *to = add ? *to + total : total;
}

}  // namespace

void add_parts(const Cuda::State& state, const float* partial, int64_t parts, Matrix first,
               Matrix second, bool add) {
  const unsigned blocks = blocks_of(first.cols + second.cols, warp_size);
  launch(state, add_parts_kernel, blocks, warp_size * lanes, 0, partial, parts, first, second, add);
}

}  // namespace tx
