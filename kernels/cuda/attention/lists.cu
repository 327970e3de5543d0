// The lists of cache rows that hypotheses read, one warp per list.
#include "kernels/cuda/runtime/device.h"
#include "kernels/cuda/runtime/profile.h"

namespace tx {
namespace {

constexpr int warps = 4;

__global__ void __launch_bounds__(warps* warp_size) extend(CacheLists p) {
  const int64_t row = int64_t(blockIdx.x) * warps + int64_t(threadIdx.x) / warp_size;
  if (row >= p.rows) return;
  const int before = p.lengths[row] - 1;
  const int parent = p.parents[row], first = -1 - parent;
  const int32_t* from = p.from + (parent < 0 ? 0 : parent) * p.stride;
  int32_t* to = p.to + row * p.stride;
  for (int j = int(threadIdx.x) % warp_size; j < before; j += warp_size)
    to[j] = parent < 0 ? first + j : from[j];
  if (threadIdx.x % warp_size == 0) to[before] = p.slots[row];
}

}  // namespace

void Cuda::extend_lists(const CacheLists& p) {
  const Timed timed(*state_, "lists", {});
  launch(*state_, extend, dim3(blocks_of(p.rows, warps)), warps * warp_size, 0, p);
}

}  // namespace tx
