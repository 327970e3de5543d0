// The CUDA backend: kernels of our own, and cuBLASLt for the products of training. Everything runs
// in one stream, in the order of the calls; download() and release() wait for it.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "kernels/view.h"

namespace tx {

class Cuda {
 public:
  // Takes the first GPU; throws UsageError with the reason when there is none. `threads` is that of
  // the CPU backend and means nothing here.
  explicit Cuda(int threads = 1);
  ~Cuda();
  Cuda(Cuda&&) noexcept;

  // Why there is no GPU to be had, with what was searched for; empty when there is one.
  static std::string refusal();
  // Lines for --version: runtime, driver, device and memory, or the reason why none is used.
  static std::string describe();

#include "kernels/interface.inc"

  struct State;  // kernels/cuda/state.h: stream, scratch memory, handles
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tx
