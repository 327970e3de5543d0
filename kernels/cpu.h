// The CPU backend: OpenMP loops, OpenBLAS (f32, f64), and oneDNN (bf16) if built in.
#pragma once
#include "kernels/kernels.h"

namespace tx {

struct Cpu final : Kernels {
  explicit Cpu(int count = 1);  // use_threads()
  ~Cpu() override;

  static AutoPrecision auto_precision();
  // Lines for --version: BLAS and its kernels, oneDNN and the instruction set in use, precision.
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
