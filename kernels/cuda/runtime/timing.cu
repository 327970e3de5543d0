#include <algorithm>
#include <array>
#include <vector>

#include "kernels/cuda/runtime/clock.h"
#include "kernels/cuda/runtime/device.h"
#include "kernels/cuda/runtime/timing.h"

namespace tx {
namespace {

constexpr int rounds = 7, calls = 5;

// Words of 16 bits: a bf16 each, or one half of a float.
__global__ void fill(uint16_t* to, int64_t count) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  uint32_t x = uint32_t(i) * 2654435761u;
  x = (x ^ x >> 15) * 2246822519u;
  x ^= x >> 13;
  to[i] = uint16_t((x & 0x80ffu) | 0x3f00u);
}

}  // namespace

void fill_with_numbers(const Cuda::State& s, void* to, size_t bytes) {
  const int64_t count = int64_t(bytes / 2);
  launch(s, fill, blocks_of(count, 256), 256, 0, static_cast<uint16_t*>(to), count);
}

int fastest_way(const Cuda::State& s, int ways, const std::function<bool(int way)>& call) {
  std::vector<std::array<float, rounds>> times(static_cast<size_t>(ways));
  std::vector<bool> usable(static_cast<size_t>(ways));
  for (int way = 0; way < ways; ++way) usable[size_t(way)] = call(way);  // also warms up
  Stopwatch watch;
  for (int round = 0; round < rounds; ++round)
    for (int way = 0; way < ways; ++way) {
      if (!usable[size_t(way)]) continue;
      times[size_t(way)][size_t(round)] = watch.milliseconds(s.stream, [&] {
        for (int i = 0; i < calls; ++i) call(way);
      });
    }
  int best = -1;
  for (int way = 0; way < ways; ++way) {
    if (!usable[size_t(way)]) continue;
    auto& all = times[size_t(way)];
    std::sort(all.begin(), all.end());
    if (best < 0 || all[rounds / 2] < times[size_t(best)][rounds / 2]) best = way;
  }
  return best;
}

double seconds_on_gpu(Cuda& cuda, const std::function<void()>& work) {
  return double(Stopwatch().milliseconds(cuda.state().stream, work)) * 1e-3;
}

void copy_on_gpu(Cuda& cuda, void* to, const void* from, size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, cuda.state().stream), "copying");
}

}  // namespace tx
