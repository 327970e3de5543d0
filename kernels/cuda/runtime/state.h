// What the CUDA backend holds, and how its host code calls the runtime.
#pragma once
#include <cuda_runtime.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/cuda.h"
#include "kernels/cuda/runtime/staging.h"
#include "lib/base/error.h"

namespace tx {

// Throws Error with CUDA's name and text for `status`, and what was being done.
void check(cudaError_t status, const char* doing);

// Device memory; throws Error that says how much was asked for and how much is free.
void* take_memory(size_t bytes);

class Profile;  // profile.h: time by groups of kernels
class BlasLt;   // products/blaslt.h: the products of cuBLASLt, opened at first use

// Other processes for which the stream may have to wait: ranks/mover.cu.
class Peers {
 public:
  virtual ~Peers() = default;
  virtual void check() = 0;    // throws Error where one is gone, and has the stream go on
  virtual void give_up() = 0;  // has the stream go on; nothing more can be sent
};

struct Cuda::State {
  State();
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  int device;
  int processors = 0;          // multiprocessors
  int shared_bytes_limit = 0;  // dynamic shared memory that one block may have
  cudaStream_t stream = nullptr;
  Staging staging;
  std::unique_ptr<BlasLt> blas;
  std::map<int64_t, cudaGraphExec_t> graphs;  // null: the work has run once
  bool capturing = false;
  std::unique_ptr<Profile> profile;  // null: nothing is timed
  // Lets the kernel have so much dynamic shared memory; asks the runtime only for more than before.
  void allow_shared(const void* kernel, size_t bytes) const;
  void forget_graphs();

  std::vector<Peers*> peers;  // empty: this process stands alone
  // Waits for the stream. Error where a peer is gone; the time of those that are not has no limit.
  void wait();
  // The same where memory is to be freed: while an exception unwinds, peers that keep the stream
  // for more than some seconds are given up.
  void drain();

  // Device memory for a kernel's own intermediate results: at least `bytes`, 256-byte aligned, good
  // until the next call. It grows only when a shape is met for the first time.
  void* scratch(size_t bytes);
  size_t scratch_bytes = 0;

 private:
  void* scratch_ = nullptr;
  mutable std::map<const void*, size_t> allowed_;
};

// kernel<<<grid, block, shared, stream>>>(arguments...), checked. An empty grid launches nothing.
template <class... P, class... A>
void launch(const Cuda::State& s, void (*kernel)(P...), dim3 grid, int block, size_t shared,
            A&&... arguments) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  if (shared > 48 * 1024) s.allow_shared(reinterpret_cast<const void*>(kernel), shared);
#ifdef TX_EMULATED_CUDA
  emulator::launch(
      s.stream, grid, dim3(unsigned(block)), shared,
      [=](const auto&... a) { kernel(static_cast<P>(a)...); }, arguments...);
#else
  // clang-format off
  kernel<<<grid, unsigned(block), shared, s.stream>>>(static_cast<P>(arguments)...);
  // clang-format on
#endif
  check(cudaGetLastError(), "starting a kernel");
}

// How many blocks of `each` hold `count`.
inline unsigned blocks_of(int64_t count, int64_t each) {
  return unsigned((count + each - 1) / each);
}

}  // namespace tx
