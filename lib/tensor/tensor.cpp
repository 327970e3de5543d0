#include "lib/tensor/tensor.h"

#include <utility>

namespace tx {

Tensor Context::make(int64_t rows, int64_t cols, DType dtype) {
  TX_ASSERT(rows >= 0 && cols >= 0);
  Tensor t;
  t.node_ = std::make_shared<Tensor::Node>();
  t.node_->memory = std::make_shared<Memory>(arena_, size_t(rows) * size_t(cols) * size_of(dtype));
  t.node_->value = matrix(t.node_->memory->data(), dtype, rows, cols);
  return t;
}

Tensor Context::same(const Tensor& t) {
  Tensor other;
  other.node_ = std::make_shared<Tensor::Node>();
  other.node_->value = t.node_->value;
  other.node_->memory = t.node_->memory;
  return other;
}

void Context::run_late(Late late) {
  run_late();
  late_ = std::move(late);
  if (!late_kernels) run_late();
}

void Context::run_late() {
  const Late late = std::exchange(late_, {});
  if (arena_.counting()) return;
  if (late.product)
    backend_->add_norm_matmul(late.norm, *late.product);
  else if (late.result)
    backend_->add_norm(late.norm);
}

Context::Late Context::take_late(const Tensor& x) {
  return late_.result.node_ == x.node_ ? std::exchange(late_, {}) : Late{};
}

void Context::product(const Product& p) {
  run_late();
  arena_.counting() ? backend_->plan_product(p) : backend_->product(p);
}

void Context::plan(const Product& p) {
  if (arena_.counting()) backend_->plan_product(p);
}

void Context::product_aside(const Product& p, std::vector<Tensor> operands) {
  if (!backend_->has_branches()) return product(p);
  join();
  arena_.counting() ? backend_->plan_product(p) : backend_->product_aside(p);
  aside_ = std::move(operands);
}

void Context::join() {
  run([](auto& k) { k.join(); });
  aside_.clear();
}

void Context::on_backward(std::function<void()> closure) {
  if (recording) tape_.push_back(std::move(closure));
}

void Context::backward() {
  while (!tape_.empty()) {
    const auto closure = std::move(tape_.back());
    tape_.pop_back();
    closure();
    if (!after_closure) continue;
    join();
    after_closure();
  }
  join();
}

// Keeps the gradients of the outputs and releases their values.
std::vector<Context::Gradient> Context::take_gradients(std::vector<Tensor>& outputs) {
  std::vector<Gradient> gradients;
  for (const Tensor& t : outputs)
    gradients.push_back({t.node_->gradient, t.node_->gradient_memory});
  outputs.clear();
  return gradients;
}

std::vector<Tensor> Context::segment(std::vector<Tensor> inputs, Segment f) {
  if (!recording || !recompute) return f(inputs);
  recording = false;
  std::vector<Tensor> outputs = f(inputs);
  recording = true;
  on_backward([this, inputs = std::move(inputs), f = std::move(f), outputs]() mutable {
    const std::vector<Gradient> gradients = take_gradients(outputs);
    const std::vector<Tensor> again = f(inputs);  // its closures are the next ones to run
    for (size_t i = 0; i < again.size(); ++i) {
      again[i].node_->gradient = gradients[i].value;
      again[i].node_->gradient_memory = gradients[i].memory;
    }
  });
  return outputs;
}

Matrix Context::gradient(Tensor& t, bool& add) {
  Tensor::Node& node = *t.node_;
  add = !node.gradient.empty();
  if (!add) {
    const size_t bytes = size_t(t.rows()) * size_t(t.cols()) * size_of(t.dtype());
    node.gradient_memory = std::make_shared<Memory>(arena_, bytes);
    node.gradient = matrix(node.gradient_memory->data(), t.dtype(), t.rows(), t.cols());
  }
  return node.gradient;
}

Matrix Context::gradient(const Tensor& t) const {
  TX_ASSERT(t.has_gradient());
  return t.node_->gradient;
}

Matrix Context::gradient(const Parameter& p, bool& add) {
  add = (*p.written)++ > 0;
  return p.gradient;
}

void Context::gradient_in_place(Tensor& t) {
  t.node_->gradient = t.node_->value;
  t.node_->gradient_memory = t.node_->memory;
}

}  // namespace tx
