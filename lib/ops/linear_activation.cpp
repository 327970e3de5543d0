// y = dropout(f(x w^T + b)), the first half of equation 2. Kept: x and, for relu, y itself (it is
// positive exactly where the slope and the mask are 1); for gelu the value before it.
#include "lib/ops/products.h"

namespace tx {

Tensor linear_activation(Context& context, Tensor x, const Parameter& w, const Parameter& bias,
                         Activation activation, const Dropout& drop) {
  TX_ASSERT(x.cols() == w.value.cols && (!bias || bias.value.cols == w.value.rows));
  const bool relu = activation == Activation::relu;
  Tensor kept = context.make(x.rows(), w.value.rows);
  forward_product(context, x, w, bias, relu ? Activation::relu : Activation::none, kept);
  Tensor y = relu ? kept : context.make(x.rows(), w.value.rows);
  const Activation rest = relu ? Activation::none : activation;
  if (!relu || drop.threshold)
    context.run([&](auto& k) { k.activate(kept.value(), rest, drop, y.value()); });
  context.on_backward([&context, x, w, bias, activation, drop, kept, y]() mutable {
    if (!y.has_gradient()) return;
    const Matrix dy = context.gradient(y);  // becomes the gradient before the activation, in place
    bool add = false;
    Matrix db;
    if (bias) db = Context::gradient(bias, add);
    context.run(
        [&](auto& k) { k.activate_backward(dy, kept.value(), activation, drop, dy, db, add); });
    weight_gradient(context, x, w, dy);
    input_gradient(context, x, w, dy);
  });
  return y;
}

}  // namespace tx
