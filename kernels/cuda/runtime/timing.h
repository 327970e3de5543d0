// What it takes to time work on the device: memory for it, and a pair of events.
#pragma once
#include "kernels/cuda/runtime/state.h"

namespace tx {

// Device memory that is given back; data() is null where there was not enough.
class Stretch {
 public:
  explicit Stretch(size_t bytes) {
    if (cudaMalloc(&data_, bytes) != cudaSuccess) data_ = nullptr, cudaGetLastError();
  }
  ~Stretch() { cudaFree(data_); }
  Stretch(const Stretch&) = delete;
  Stretch& operator=(const Stretch&) = delete;
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
