// Tensors and the tape. A tensor is a handle: its memory returns to the arena with the last handle
// (a local variable, or a closure on the tape).
//
// The contract of an op: check shapes, make() its outputs (uninitialised), run() its kernel, and
// on_backward() a closure that holds its tensors. The tape runs the closures in reverse order of
// creation and destroys each after it ran, so activations are freed during the backward pass. The
// first contribution to a gradient assigns, later ones add (see gradient()), so gradients need not
// be zeroed.
//
// The letters of shapes, in all headers:
//
//   B  sentences of a packed batch          D  d_model
//   T  rows (tokens) of the target side     F  d_ff, inner width of the feed-forward layer
//   S  rows (tokens) of the source side     H  heads
//   N  rows of either side                  G  heads of keys and values
//   V  vocabulary; Vp padded in blocks      K  d_k, width of a head's queries and keys
//   W  beam width                           L  layers
//   I, O  inputs and outputs of a product: weights are (O,I), y = x w^T
//   R  rows of a decoding step (sentences x beam)
//
// d_v, the width of a head's values, is K unless V stands after H or G, as in (N,HV).
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/backend.h"
#include "lib/base/error.h"
#include "lib/tensor/arena.h"

namespace tx {

class Memory {  // a block of an arena
 public:
  Memory(Arena& arena, size_t bytes) : arena_(arena), bytes_(bytes), data_(arena.take(bytes)) {}
  ~Memory() { arena_.give(data_, bytes_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* data() const { return data_; }

 private:
  Arena& arena_;
  size_t bytes_;
  void* data_;
};

class Tensor {
 public:
  Tensor() = default;
  explicit operator bool() const { return node_ != nullptr; }
  Matrix value() const { return node_->value; }
  int64_t rows() const { return node_->value.rows; }
  int64_t cols() const { return node_->value.cols; }
  DType dtype() const { return node_->value.dtype; }
  bool has_gradient() const { return node_ && !node_->gradient.empty(); }

 private:
  friend class Context;
  struct Node {
    Matrix value, gradient;
    std::shared_ptr<Memory> memory, gradient_memory;
  };
  std::shared_ptr<Node> node_;
};

class Communicator;

// What a tensor-parallel shard of a weight holds: all, some outputs (rows), some inputs (columns).
enum class Split { none, outputs, inputs };

// A matrix or vector of the model inside the flat blocks (lib/model/parameters.h).
struct Parameter {
  Matrix value;            // read by products: bf16 weights, else fp32 or f64
  Matrix gradient;         // f32, or f64 in a double model
  int* written = nullptr;  // contributions to the gradient so far
  Matrix rounded;          // of a vector, with bf16 weights: its bf16 copy; else empty
  Split split = Split::none;
  Communicator* ranks = nullptr;  // those that hold its shards; null: not sharded
  const std::function<void(Matrix)>* observer = nullptr;  // of inputs of products; or null
  explicit operator bool() const { return value.rows > 0; }
};

class Context {
 public:
  Context(Backend& backend, Arena& arena, DType dtype)
      : backend_(backend), arena_(arena), dtype_(dtype) {}

  DType dtype() const { return dtype_; }  // of activations
  DType statistics_dtype() const { return dtype_ == DType::f64 ? DType::f64 : DType::f32; }
  Tensor make(int64_t rows, int64_t cols, DType dtype);
  Tensor make(int64_t rows, int64_t cols) { return make(rows, cols, dtype_); }
  static Tensor same(const Tensor& t);  // same value and memory, another gradient

  // f(kernels) on the backend; does nothing on a counting arena.
  template <class F>
  void run(F&& f) {
    run_late();
    if (!arena_.counting()) std::forward<F>(f)(*backend_);
  }
  // A norm, a product, or a norm and the product of its result, with the tensors that they use.
  struct Late {
    AddNorm norm;  // none without norm.normed
    std::optional<RowProduct> product;
    Tensor result;  // of the last one
    std::array<Tensor, 4> of_norm;
    Tensor of_product{};
  };
  bool late_kernels = false;  // for inference that calls run_late() before it uses results
  // Runs it; with late_kernels only before the next kernel, unless that takes it.
  void run_late(Late late);
  void run_late();  // what has not run yet
  // What has yet to compute x, for the caller to run, or nothing.
  Late take_late(const Tensor& x);
  void product(const Product& p);  // on a counting arena it is only planned
  void plan(const Product& p);     // for a run() that computes it: on a counting arena
  // The same, but with branches concurrent with what follows until join(), or until the next one,
  // which waits for it. `operands` keep the memory that it reads.
  void product_aside(const Product& p, std::vector<Tensor> operands);
  // Before its output is used. backward() calls it before after_closure and at its end.
  void join();

  bool recording = false;  // off: inference
  bool recompute = false;  // gradient checkpointing: segments keep only their inputs
  // f(inputs), a part of the model. With recompute, the tensors that f keeps for its backward pass
  // are freed, and the backward pass of the segment first runs f again. f must draw the same masks
  // each time. Gradients are bit-identical to those without recompute and have the same order.
  using Segment = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;
  std::vector<Tensor> segment(std::vector<Tensor> inputs, Segment f);
  void on_backward(std::function<void()> closure);
  void backward();                      // runs and destroys every closure
  std::function<void()> after_closure;  // called by backward() after each closure; may be empty
  size_t closures() const { return tape_.size(); }

  // The gradient of t to write; sets `add` if there is an earlier contribution, else allocates it.
  Matrix gradient(Tensor& t, bool& add);
  Matrix gradient(const Tensor& t) const;  // to read; must exist
  // The gradient of a parameter to write.
  static Matrix gradient(const Parameter& p, bool& add);
  // Declares that a kernel has overwritten t with its gradient.
  void gradient_in_place(Tensor& t);

 private:
  Backend& backend_;
  Arena& arena_;
  DType dtype_;
  Late late_;
  struct Gradient {
    Matrix value;
    std::shared_ptr<Memory> memory;
  };
  static std::vector<Gradient> take_gradients(std::vector<Tensor>& outputs);
  std::vector<std::function<void()>> tape_;
  std::vector<Tensor> aside_;  // operands of product_aside()
};

}  // namespace tx
