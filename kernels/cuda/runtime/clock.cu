#include "kernels/cuda/runtime/clock.h"
#include "kernels/cuda/runtime/timing.h"

namespace tx {

double seconds_on_gpu(Cuda& cuda, const std::function<void()>& work) {
  return double(Stopwatch().milliseconds(cuda.state().stream, work)) * 1e-3;
}

void copy_on_gpu(Cuda& cuda, void* to, const void* from, size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, cuda.state().stream), "copying");
}

}  // namespace tx
