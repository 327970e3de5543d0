// What a backend is: the kernels of interface.inc, and the library that brings them. nvcc compiles
// it.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "kernels/int8.h"
#include "kernels/mover.h"
#include "kernels/view.h"

namespace tx {

// A kernel that a backend lacks fails the link of its library.
struct Kernels {
  virtual ~Kernels() = default;
#define TX_KERNEL(...) virtual __VA_ARGS__ = 0
#include "kernels/interface.inc"
#undef TX_KERNEL
};

using Backend = std::unique_ptr<Kernels>;

// What a library of kernels says about itself through the one function that it exports: tx_cpu() of
// libtx-cpu.so, tx_cuda() of libtx-cuda.so.
struct KernelLibrary {
  const char* version;               // of tx
  std::string (*refusal)();          // why this machine cannot use it; empty when it can
  std::string (*no_bf16_reason)();   // why bf16 products are not possible; empty when they are
  bool (*has_fast_bf16)();           // whether they run at a speed worth choosing
  std::string (*describe)();         // lines for --version
  std::string (*describe_ranks)();   // a line for --version about make_mover(); may be empty
  std::string (*no_mover_reason)();  // why make_mover() is not possible; empty when it is
  void (*choose)(int number);        // which of several GPUs backends made from here on take
  Backend (*make)();                 // throws UsageError with the reason where it is refused
};

// Opens lib`name`.so, which lies beside libtx.so, once; `name` is tx-cpu or tx-cuda. The former
// loads OpenMP and OpenBLAS: where the environment does not say otherwise, their threads wait
// without spinning for long, and OpenBLAS starts none. Throws Error when the library is missing,
// broken or of another version.
const KernelLibrary& open_kernels(const std::string& name);

}  // namespace tx

extern "C" {
const tx::KernelLibrary* tx_cpu();
const tx::KernelLibrary* tx_cuda();
}
