// Timing of work on the device: memory for it, a stopwatch, and the choice of the fastest variant.
#pragma once
#include <functional>

#include "kernels/cuda/runtime/state.h"

namespace tx {

// Device memory; data() is null if the allocation failed.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(size_t bytes) {
    if (cudaMalloc(&data_, bytes) != cudaSuccess) data_ = nullptr, cudaGetLastError();
  }
  ~DeviceBuffer() { cudaFree(data_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

// Waits for the work: for plans, never within a step.
class Stopwatch {
 public:
  Stopwatch() {
    for (cudaEvent_t& e : events_)
      check(cudaEventCreateWithFlags(&e, cudaEventDefault), "creating an event");
  }
  ~Stopwatch() {
    for (cudaEvent_t e : events_) cudaEventDestroy(e);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  template <class F>
  float milliseconds(cudaStream_t stream, F&& f) {
    check(cudaEventRecord(events_[0], stream), "timing");
    f();
    check(cudaEventRecord(events_[1], stream), "timing");
    check(cudaEventSynchronize(events_[1]), "timing");
    float time = 0;
    check(cudaEventElapsedTime(&time, events_[0], events_[1]), "timing");
    return time;
  }

 private:
  cudaEvent_t events_[2] = {};
};

// The index of the variant (`way`) with the smallest median time of 7 rounds of 5 calls in
// succession. Variants alternate. Those for which call() returns false are skipped; -1 if all are.
// Waits for the work: for plans, never within a step.
int fastest_way(const Cuda::State& s, int ways, const std::function<bool(int way)>& call);

// Fills with numbers of both signs, 1/2 to 2, as f32 or bf16: products of zeros can be faster.
void fill_with_numbers(const Cuda::State& s, void* to, size_t bytes);

}  // namespace tx
