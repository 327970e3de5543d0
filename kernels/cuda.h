// The CUDA backend: our own kernels, and cuBLASLt for the products of training. Everything but
// product_aside() runs in one stream, in the order of the calls; download() and release() wait for
// it. Its library, libtx-cuda.so, is linked only by tests and benchmarks of kernels.
#pragma once
#include "kernels/kernels.h"

namespace tx {

class Cuda final : public Kernels {
 public:
  // Uses the GPU set by choose(), or the first; UsageError, with the reason, if there is none.
  Cuda();
  ~Cuda() override;

  // Makes later objects use GPU `number`, counted from 0, modulo the number of GPUs.
  static void choose(int number);
  // Why no GPU can be used; empty if one can.
  static std::string refusal();
  // Lines for --version: runtime, driver, device and memory, or the reason why none is used.
  static std::string describe();
  static std::string describe_ranks();   // of NCCL
  static std::string no_mover_reason();  // why NCCL cannot be used; empty if it can

#define TX_KERNEL(...) __VA_ARGS__ override
#include "kernels/interface.inc"
#undef TX_KERNEL

  struct State;  // kernels/cuda/runtime/state.h: stream, scratch memory, handles
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tx
