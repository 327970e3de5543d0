// The CPU backend: OpenMP loops, OpenBLAS (fp32, f64), oneDNN (bf16) where it is built in.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "kernels/view.h"

namespace tx {

struct Cpu {
  explicit Cpu(int threads = 1);
  ~Cpu();
  Cpu(Cpu&&) noexcept;

  int threads;

  // bf16 products run on this machine at a speed worth choosing (AVX-512 BF16 or AMX).
  static bool has_fast_bf16();
  // Why bf16 training is not possible here; empty when it is.
  static std::string no_bf16_reason();
  // Lines for --version: BLAS and its kernels, oneDNN and the instruction set in use.
  static std::string describe();

#include "kernels/interface.inc"

 private:
  struct Products;  // the primitives and scratch memory of gemm.cpp
  std::unique_ptr<Products> products_;
};

}  // namespace tx
