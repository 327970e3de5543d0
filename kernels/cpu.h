// The CPU backend: OpenMP loops, OpenBLAS (f32, f64), and oneDNN (bf16) if built in. Its library,
// libtx-cpu.so, is linked only by tests and benchmarks of kernels.
#pragma once
#include "kernels/kernels.h"

namespace tx {

struct Cpu final : Kernels {
  explicit Cpu(int count = 1);  // use_threads()
  ~Cpu() override;

  // Whether bf16 products are fast on this machine (AVX-512 BF16 or AMX).
  static bool has_fast_bf16();
  // Why bf16 training is not possible here; empty when it is.
  static std::string no_bf16_reason();
  // Lines for --version: BLAS and its kernels, oneDNN and the instruction set in use.
  static std::string describe();

#define TX_KERNEL(...) __VA_ARGS__ override
#include "kernels/interface.inc"
#undef TX_KERNEL

 private:
  int threads = 1;
  struct Products;  // the primitives and scratch memory of gemm.cpp
  std::unique_ptr<Products> products_;
  struct Profile;                     // kernels/cpu/profile.h
  std::unique_ptr<Profile> profile_;  // null: nothing is timed
};

}  // namespace tx
