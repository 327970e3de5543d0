// What timing work on the device takes: memory for it, and a pair of events.
#pragma once
#include "kernels/cuda/runtime/state.h"

namespace tx {

// Device memory that its destructor frees; data() is null where there was not enough.
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
      check(cudaEventCreateWithFlags(&e, cudaEventDefault), "making an event");
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

}  // namespace tx
