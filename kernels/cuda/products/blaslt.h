// The one door to cuBLASLt, which is opened at first use: a program that never multiplies on a GPU
// does not need it.
#pragma once
#include <memory>
#include <string>

#include "kernels/cuda/runtime/state.h"

namespace tx {

class BlasLt {
 public:
  // Opens the library that TX_CUBLASLT names, or else the first one found in the usual places, and
  // allocates the workspace. Not while a stream is captured. Throws UsageError when none is found.
  BlasLt();
  ~BlasLt();
  BlasLt(const BlasLt&) = delete;
  BlasLt& operator=(const BlasLt&) = delete;

  // Whether the library can take these pointers and strides: multiples of 16 bytes.
  static bool takes(const Product& p);
  // Enqueues the product, or returns false where the library knows no algorithm for it. The bias
  // of a bf16 output is rounded to bf16, as the weights are: the library supports no other type
  // there, and adding it afterwards would be a pass over the output. So an element differs by up
  // to 2^-9 of its bias from one with the bias added in f32.
  bool product(Cuda::State& s, const Product& p);
  // Chooses the algorithm for this shape unless one is chosen, and makes room for the bias. False
  // where there is none.
  bool plan(Cuda::State& s, const Product& p);

  // With it plan() times the library's 16 candidates, and for long sums of few outputs some of them
  // split, on memory of its own and keeps the fastest (fastest.h). Without it
  // the choice is the library's own first, the same on every run.
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
