// y = dropout(f(x w^T + b)), the first half of equation 2. Kept: x and, for relu, y itself (it is
// positive exactly where the slope and the mask are 1); for other activations their input. With a
// gate, y = dropout(f(gate) * up) (Shazeer 2020), where gate and up are the halves of x w^T + b;
// their gradient overwrites them.
#include "lib/ops/products.h"

namespace tx {

namespace {

Tensor gated(Context& context, Tensor x, const Parameter& w, const Parameter& bias,
             Activation activation, const Dropout& drop) {
  TX_ASSERT(w.value.rows % 2 == 0);
  Tensor kept = context.make(x.rows(), w.value.rows);
  forward_product(context, x, w, bias, Activation::none, kept);
  Tensor y = context.make(x.rows(), w.value.rows / 2);
  context.run([&](auto& k) { k.gate(kept.value(), activation, drop, y.value()); });
  context.on_backward([&context, x, w, bias, activation, drop, kept, y]() mutable {
    if (!y.has_gradient()) return;
    const Matrix dy = context.gradient(y), dx = kept.value();
    bool add = false;
    Matrix db;
    if (bias) db = Context::gradient(bias, add);
    context.run([&](auto& k) { k.gate_backward(dy, dx, activation, drop, dx, db, add); });
    weight_gradient(context, x, w, dx);
    input_gradient(context, x, w, dx);
  });
  return y;
}

// Memory for the mask of the relu of y = x w^T, if the backend fuses the mask into both the product
// that computes y and the product that computes y's gradient; else an empty tensor.
Tensor mask_of(Context& context, const Tensor& x, const Parameter& w, const Parameter& bias,
               const Tensor& y, const Parameter& reader) {
  Product forward, backward;
  forward.a = x.value(), forward.b = w.value, forward.c = y.value(), forward.bias = bias.value;
  forward.transpose_b = true, forward.activation = Activation::relu;
  const Matrix like_y = matrix(nullptr, y.dtype(), y.rows(), y.cols());
  backward.a = matrix(nullptr, y.dtype(), y.rows(), reader.value.rows);
  backward.b = reader.value, backward.c = like_y, backward.masked = true;
  forward.mask = backward.mask = matrix(nullptr, DType::ids, y.rows(), mask_words(y.cols()));
  if (!context.fuses_mask(forward) || !context.fuses_mask(backward)) return {};
  return context.make(y.rows(), mask_words(y.cols()), DType::ids);
}

}  // namespace

Tensor linear_activation(Context& context, Tensor x, const Parameter& w, const Parameter& bias,
                         Activation activation, const Dropout& drop, const SharedMask& mask) {
  TX_ASSERT(x.cols() == w.value.cols && (!bias || bias.value.cols == w.value.rows));
  x = input_of(context, std::move(x), w);
  if (is_gated(activation)) return gated(context, x, w, bias, activation, drop);
  const bool relu = activation == Activation::relu;
  Tensor kept = context.make(x.rows(), w.value.rows);
  if (mask && relu && !drop.threshold && context.recording && !w.value.prepared)
    mask->bits = mask_of(context, x, w, bias, kept, mask->reader);
  forward_product(context, x, w, bias, relu ? Activation::relu : Activation::none, kept,
                  mask ? mask->bits : Tensor());
  Tensor y = relu ? kept : context.make(x.rows(), w.value.rows);
  const Activation rest = relu ? Activation::none : activation;
  if (!relu || drop.threshold)
    context.run([&](auto& k) { k.activate(kept.value(), rest, drop, y.value()); });
  context.on_backward([&context, x, w, bias, activation, drop, mask, kept, y]() mutable {
    if (!y.has_gradient()) return;
    const Matrix dy = context.gradient(y);  // overwritten by the gradient of the input of f
    bool add = false;
    Matrix db;
    if (bias) db = Context::gradient(bias, add);
    const bool done = mask && mask->applied;
    context.run([&](auto& k) {
      if (!done) k.activate_backward(dy, kept.value(), activation, drop, dy, db, add);
      if (done && bias) k.column_sum(dy, db, add);
    });
    weight_gradient(context, x, w, dy);
    input_gradient(context, x, w, dy);
  });
  return y;
}

}  // namespace tx
