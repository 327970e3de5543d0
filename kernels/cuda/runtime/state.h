// The state of the CUDA backend, and helpers of its host code.
#pragma once
#include <cuda_runtime.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "kernels/cuda.h"
#include "lib/base/error.h"

namespace tx {

// Error with CUDA's name and text for `status` unless it is success; `doing` names the operation.
void check(cudaError_t status, const char* doing);

// Allocates device memory; Error reports the requested and the free bytes.
void* take_memory(size_t bytes);

class Profile;  // profile.h: time by groups of kernels
class BlasLt;   // products/blaslt.h: the products of cuBLASLt, opened at first use

// Other processes that the stream may wait for: ranks/mover.cu.
class Peers {
 public:
  virtual ~Peers() = default;
  virtual void check() = 0;    // Error if one is gone; unblocks the stream
  virtual void give_up() = 0;  // unblocks the stream; nothing can be sent afterwards
};

// Page-locked host memory for small copies, so that a copy waits neither for the host nor for
// earlier work of the stream. Two halves alternate: one is filled while the device may still read
// the other. Not for use while a graph is recorded.
class Staging {
 public:
  static constexpr size_t most = size_t(4) << 20;  // bytes of one piece

  Staging() = default;
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // `bytes` (at most `most`) that no earlier copy uses, for a copy that is enqueued in `stream`
  // before the next call. All calls must pass the same stream.
  char* take(size_t bytes, cudaStream_t stream);

 private:
  struct Half {
    char* data = nullptr;
    cudaEvent_t left = nullptr;  // the last copy of this half
  };
  Half halves_[2];
  int now_ = 0;
  size_t used_ = 0;  // of the present half
};

struct Cuda::State {
  State();
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  int device;
  int processors = 0;          // multiprocessors
  int shared_bytes_limit = 0;  // maximum of dynamic shared memory per block
  bool wgmma = false;          // large products by wgmma: products/gemm.h
  bool early = false;          // launch_early() does what its name says
  bool branches = false;       // Cuda::product_aside() does
  bool dx = false;             // product_relu_backward() is one kernel; needs wgmma
  bool norms = false;          // Cuda::add_norm_matmul() is one kernel
  bool heads = false;          // Cuda::attention_projected() is one kernel
  cudaStream_t stream = nullptr;
  bool forked = false;  // within fork()
  // `work` goes to a branch of the stream, which begins here and ends at join(). It must use
  // neither scratch() nor staging. Only one branch at a time.
  void fork(const std::function<void()>& work);
  void join();
  Staging staging;
  std::unique_ptr<BlasLt> blas;
  std::map<int64_t, cudaGraphExec_t> graphs;  // null: run once, not recorded yet
  bool capturing = false;
  std::unique_ptr<Profile> profile;  // null: nothing is timed
  // Raises the kernel's limit of dynamic shared memory, which the process has in common, always to
  // the same value: a smaller one would lower the limit that another State needs.
  void allow_shared(const void* kernel) const;
  void forget_graphs();

  std::vector<Peers*> peers;  // empty: one process
  // Waits for the stream, without a time limit. Error if a peer is gone.
  void wait();
  // Called before memory is freed, because freeing waits for the stream. During an exception, gives
  // up peers that block the stream for more than 5 seconds.
  void drain();

  // Device memory for a kernel's intermediate results: at least `bytes`, 256-byte aligned, valid
  // until the next call. It grows only at the first use of a shape.
  void* scratch(size_t bytes);
  size_t scratch_bytes = 0;

 private:
  void* scratch_ = nullptr;
  cudaStream_t branch_ = nullptr;
  cudaEvent_t begun_ = nullptr, done_ = nullptr;  // of the branch
  bool joined_ = true;
  mutable std::set<const void*> allowed_;
};

// Bytes that a kernel with dynamic shared memory may declare as __shared__ besides.
constexpr int static_shared = 2048;

namespace launching {

template <class... P, class... A>
void launch(bool early, const Cuda::State& s, void (*kernel)(P...), dim3 grid, int block,
            size_t shared, A&&... arguments) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  // Without it the limit is 48 KiB for static and dynamic shared memory together.
  if (shared + static_shared > 48 * 1024) s.allow_shared(reinterpret_cast<const void*>(kernel));
#ifdef TX_EMULATED_CUDA
  emulator::launch(
      s.stream, grid, dim3(unsigned(block)), shared, early,
      [=](const auto&... a) { kernel(static_cast<P>(a)...); }, arguments...);
  check(cudaGetLastError(), "launching a kernel");
#else
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid, config.blockDim = dim3(unsigned(block));
  config.dynamicSmemBytes = shared, config.stream = s.stream;
  config.attrs = &attribute, config.numAttrs = early && s.early;
  check(cudaLaunchKernelEx(&config, kernel, static_cast<P>(arguments)...), "launching a kernel");
#endif
}

}  // namespace launching

// kernel<<<grid, block, shared, stream>>>(arguments...), checked. An empty grid launches nothing.
template <class... P, class... A>
void launch(const Cuda::State& s, void (*kernel)(P...), dim3 grid, int block, size_t shared,
            A&&... arguments) {
  launching::launch(false, s, kernel, grid, block, shared, std::forward<A>(arguments)...);
}

// The same for a kernel that calls wait_for_earlier(): with State::early it may start before the
// kernels before it in the stream have ended.
template <class... P, class... A>
void launch_early(const Cuda::State& s, void (*kernel)(P...), dim3 grid, int block, size_t shared,
                  A&&... arguments) {
  launching::launch(true, s, kernel, grid, block, shared, std::forward<A>(arguments)...);
}

// The number of blocks of `each` for `count`.
inline unsigned blocks_of(int64_t count, int64_t each) {
  return unsigned((count + each - 1) / each);
}

}  // namespace tx
