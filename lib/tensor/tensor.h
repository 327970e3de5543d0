// Tensors and the tape. A tensor is a handle: its memory goes back to the arena when the last
// handle (a local variable, or a closure on the tape) is gone.
//
// The contract of an op: check shapes, make() its outputs (uninitialised), run() its kernel, and
// on_backward() a closure that holds its tensors. The tape runs the closures in reverse order of
// creation and drops each after it ran, so activations are freed while gradients are made. The
// first contribution to a gradient assigns, later ones add: gradient() tells which, nothing is
// zero-filled.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "kernels/backend.h"
#include "lib/base/error.h"
#include "lib/tensor/arena.h"
#include "lib/tensor/dims.h"

namespace tx {

class Memory {  // a token of an arena
 public:
  Memory(Arena& arena, size_t bytes) : arena_(arena), data_(arena.take(bytes)) {}
  ~Memory() { arena_.give(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* data() const { return data_; }

 private:
  Arena& arena_;
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

// What a tensor-parallel shard of a weight holds: all of it, some outputs (rows of a matrix,
// elements of a vector), or some inputs (columns).
enum class Split { none, outputs, inputs };

// A matrix or vector of the model inside the flat blocks (lib/model/parameters.h).
struct Parameter {
  Matrix value;            // what products read: bf16 copy, fp32 master or f64
  Matrix gradient;         // f32, or f64 in a double model
  int* written = nullptr;  // how often this pass wrote the gradient so far
  Matrix rounded;          // of a vector beside bf16 weights: its bf16 copy; else empty
  Split split = Split::none;
  Communicator* ranks = nullptr;  // those that hold the other shards; null: the weight is whole
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
  static Tensor same(const Tensor& t);  // its value and memory, with a gradient of its own

  // f(kernels) on the backend in use; nothing happens on a counting arena.
  template <class F>
  void run(F&& f) {
    if (!arena_.counting()) std::forward<F>(f)(*backend_);
  }
  void product(const Product& p);  // on a counting arena the backend still plans it
  bool fuses_mask(const Product& p) const;

  bool recording = false;  // off: inference
  bool recompute = false;  // segments keep their inputs alone (gradient checkpointing)
  // f(inputs), a part of the model. With recompute nothing that f keeps for its backward stays: the
  // backward of the segment runs f again first. f must draw the same masks each time. Every
  // gradient has the same bytes as without recomputing, and they are made in the same order.
  using Segment = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;
  std::vector<Tensor> segment(std::vector<Tensor> inputs, Segment f);
  void on_backward(std::function<void()> closure);
  void backward();                      // runs and drops every closure
  std::function<void()> after_closure;  // which backward() calls after each of them; may be empty
  size_t closures() const { return tape_.size(); }

  // The gradient of t to write to; add says whether to add. Allocates it at the first call.
  Matrix gradient(Tensor& t, bool& add);
  Matrix gradient(const Tensor& t) const;  // what was written; it exists
  // Same for a parameter.
  static Matrix gradient(const Parameter& p, bool& add);
  // Declares t's own memory to hold its gradient (a kernel overwrote it).
  void gradient_in_place(Tensor& t);
  void drop_gradient(Tensor& t);  // gives its memory back before the handle goes

 private:
  Backend& backend_;
  Arena& arena_;
  DType dtype_;
  struct Gradient {
    Matrix value;
    std::shared_ptr<Memory> memory;
  };
  static std::vector<Gradient> take_gradients(std::vector<Tensor>& outputs);
  std::vector<std::function<void()>> tape_;
};

}  // namespace tx
