#include "kernels/cuda/clock.h"

#include "kernels/cuda/state.h"

namespace tx {
namespace {

struct Event {
  Event() { check(cudaEventCreateWithFlags(&event, cudaEventDefault), "making an event"); }
  ~Event() { cudaEventDestroy(event); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t event = nullptr;
};

}  // namespace

double seconds_on_gpu(Cuda& cuda, const std::function<void()>& work) {
  const cudaStream_t stream = cuda.state().stream;
  const Event begin, end;
  check(cudaEventRecord(begin.event, stream), "timing");
  work();
  check(cudaEventRecord(end.event, stream), "timing");
  check(cudaEventSynchronize(end.event), "timing");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin.event, end.event), "timing");
  return double(milliseconds) * 1e-3;
}

void copy_on_gpu(Cuda& cuda, void* to, const void* from, size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, cuda.state().stream), "copying");
}

}  // namespace tx
