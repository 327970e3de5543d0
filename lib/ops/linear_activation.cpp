// y = dropout(f(x w^T + b)), the first half of equation 2. Kept: x and, for relu, y itself
// (positive where slope and mask are 1); for other activations their input. With a gate, y =
// dropout(f(gate) * up) (Shazeer 2020), the halves of x w^T + b, which their gradient overwrites.
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
    input_gradient(context, x, w, dx);
    weight_gradient(context, x, w, dx, kept);
  });
  return y;
}

}  // namespace

Tensor linear_activation(Context& context, Tensor x, const Parameter& w, const Parameter& bias,
                         Activation activation, const Dropout& drop) {
  TX_ASSERT(x.cols() == w.value.cols && (!bias || bias.value.cols == w.value.rows));
  x = input_of(context, std::move(x), w);
  if (is_gated(activation)) return gated(context, x, w, bias, activation, drop);
  const bool relu = activation == Activation::relu;
  Tensor kept = context.make(x.rows(), w.value.rows);
  forward_product(context, x, w, bias, relu ? Activation::relu : Activation::none, kept);
  Tensor y = relu ? kept : context.make(x.rows(), w.value.rows);
  const Activation rest = relu ? Activation::none : activation;
  if (!relu || drop.threshold)
    context.run([&](auto& k) { k.activate(kept.value(), rest, drop, y.value()); });
  context.on_backward([&context, x, w, bias, activation, drop, kept, y]() mutable {
    if (!y.has_gradient()) return;
    const Matrix dy = context.gradient(y);  // overwritten by the gradient of the input of f
    bool add = false;
    Matrix db;
    if (bias) db = Context::gradient(bias, add);
    context.run(
        [&](auto& k) { k.activate_backward(dy, kept.value(), activation, drop, dy, db, add); });
    input_gradient(context, x, w, dy);
    weight_gradient(context, x, w, dy, y);
  });
  return y;
}

}  // namespace tx
