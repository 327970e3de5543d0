// The interface of a backend: interface.inc and its library's entry point. Also for nvcc.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "kernels/int8.h"
#include "kernels/view.h"

namespace tx {

constexpr size_t mover_id_bytes = 128;  // size of mover_id()

// Moves bytes of a backend's memory between the ranks of a training; kernels add, in an order that
// does not depend on the ranks. Calls are enqueued in the stream of the backend's kernels, never in
// recorded work (replay()), by every rank in the same order. Error: the library fails, or a rank is
// gone.
struct Mover {
  virtual ~Mover() = default;  // called on all ranks; during an exception does not wait
  virtual void broadcast(void* data, size_t bytes) = 0;  // of rank 0 to all others
  // all (ranks * bytes): the `bytes` of every rank. `mine` may be this rank's place in `all`.
  virtual void gather_all(const void* mine, size_t bytes, void* all) = 0;
  // All-to-all: sends from_bytes[r] bytes of `from` to rank r, and receives to_bytes[r] bytes from
  // it into `to`; both are concatenated in the order of ranks.
  virtual void exchange(const void* from, std::span<const size_t> from_bytes, void* to,
                        std::span<const size_t> to_bytes) = 0;
};

// A kernel missing in a backend is an error when its library is linked.
struct Kernels {
  virtual ~Kernels() = default;
#define TX_KERNEL(...) virtual __VA_ARGS__ = 0
#include "kernels/interface.inc"
#undef TX_KERNEL
};

using Backend = std::unique_ptr<Kernels>;

// What --precision auto selects: bf16 where its products are faster than those of fp32.
struct AutoPrecision {
  DType dtype = DType::f32;
  const char* reason = "";
};

// The description of a library of kernels, by its tx_cpu() or tx_cuda().
struct KernelLibrary {
  const char* version;       // of tx
  std::string (*refusal)();  // why this machine cannot use it; empty if it can
  AutoPrecision (*auto_precision)();
  std::string (*describe)();         // lines for --version
  std::string (*describe_ranks)();   // a line for --version about make_mover(); may be empty
  std::string (*no_mover_reason)();  // why make_mover() cannot be used; empty if it can
  void (*choose)(int number);        // the GPU that later backends use
  Backend (*make)();                 // UsageError, with the reason, if there is a refusal()
};

// Loads lib`name`.so from the directory of libtx.so; `name` is tx-cpu or tx-cuda. The former loads
// OpenMP and OpenBLAS: unless the environment says otherwise, their threads spin only briefly, and
// OpenBLAS starts none. Error if the library is missing, broken or of another version.
const KernelLibrary& open_kernels(const std::string& name);

}  // namespace tx

extern "C" {
const tx::KernelLibrary* tx_cpu();
const tx::KernelLibrary* tx_cuda();
}
