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
  // Device memory that nobody has taken yet, in bytes.
  size_t free_bytes() const;

#include "kernels/interface.inc"

  // Runs `work`, which does nothing but call kernels of this backend. The second time with the same
  // key its launches are recorded as a CUDA graph; from then on that graph is launched and `work`
  // is not called. Pointers, shapes and settings must be the same each time; else forget_graphs().
  void replay(int64_t key, const std::function<void()>& work);
  void forget_graphs();
  // How the products of training are computed, as text: what plan_product() and product() chose so
  // far. set_tuning(tuning()) of another run makes the same choices, so the same bits; "measure"
  // has plan_product() choose by timing from now on. Error where the text is not of this library
  // and GPU.
  std::string tuning() const;
  void set_tuning(const std::string& text);

  struct State;  // kernels/cuda/state.h: stream, scratch memory, handles
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tx
