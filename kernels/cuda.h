// The CUDA backend: kernels of our own, and cuBLASLt for the products of training. Everything runs
// in one stream, in the order of the calls; download() and release() wait for it. It is a library
// of its own, libtx-cuda.so, which only tests and benchmarks of kernels link.
#pragma once
#include "kernels/kernels.h"

namespace tx {

class Cuda final : public Kernels {
 public:
  // Takes the GPU that choose() named, or the first; throws UsageError with the reason when there
  // is none.
  Cuda();
  ~Cuda() override;

  // From here on objects made take GPU `number`, counted from 0, modulo their count.
  static void choose(int number);
  // Why no GPU can be used, with what was searched for; empty when one can.
  static std::string refusal();
  // Lines for --version: runtime, driver, device and memory, or the reason why none is used.
  static std::string describe();
  static std::string describe_ranks();   // of NCCL
  static std::string no_mover_reason();  // why there is no NCCL; empty when there is

#define TX_KERNEL(...) __VA_ARGS__ override
#include "kernels/interface.inc"
#undef TX_KERNEL

  struct State;  // kernels/cuda/runtime/state.h: stream, scratch memory, handles
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tx
