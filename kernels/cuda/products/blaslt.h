// cuBLASLt, loaded at first use: programs without products on a GPU do not need it.
#pragma once
#include <memory>
#include <string>

#include "kernels/cuda/runtime/state.h"

namespace tx {

class BlasLt {
 public:
  // Loads the library that TX_CUBLASLT names, or else the first one found in the usual places, and
  // allocates a workspace, with `branches` two. Not during stream capture. UsageError if none is
  // found.
  explicit BlasLt(bool branches);
  ~BlasLt();
  BlasLt(const BlasLt&) = delete;
  BlasLt& operator=(const BlasLt&) = delete;

  // Whether the library supports these pointers and strides: multiples of 16 bytes.
  static bool takes(const Product& p);
  // Enqueues the product; false if the library has no algorithm for it. It supports only a bf16
  // bias for a bf16 output, so an element differs by up to 2^-9 of its bias from one with an f32
  // bias.
  bool product(Cuda::State& s, const Product& p);
  // Chooses the algorithm for this shape unless one is chosen, and allocates the bias. False: none.
  bool plan(Cuda::State& s, const Product& p);

  // If set, plan() times the library's 16 candidates, and split-K variants for long sums of few
  // outputs, on its own buffers, and keeps the fastest (timing.h). Otherwise it takes the library's
  // first candidate, the same on every run.
  bool by_timing = false;
  // The algorithms chosen so far, one line per shape, as set_algorithms() takes them. They are
  // valid for one version of the library and one kind of GPU: Error for others.
  std::string algorithms() const;
  void set_algorithms(const std::string& text);

  static constexpr size_t workspace_bytes = size_t(32) << 20;

 private:
  struct Library;
  struct Plan;
  Plan& plan_of(Cuda::State& s, const Product& p, bool may_measure);

  std::unique_ptr<Library> library_;
};

}  // namespace tx
