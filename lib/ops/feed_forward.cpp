// y = dropout(f(x w1^T + b1)) w2^T + b2, equation 2. For relu it is one op, since the gradient of
// its input can be masked where it is computed: d = (dy w2) scale where inner > 0, else 0; then
// db1, dw1 and dx are linear()'s of d. Kept: x and inner.
#include "lib/ops/products.h"

namespace tx {

Tensor feed_forward(Context& context, Tensor x, const Parameter& w1, const Parameter& b1,
                    const Parameter& w2, const Parameter& b2, Activation activation,
                    const Dropout& drop) {
  if (activation != Activation::relu) {
    const Tensor inner = linear_activation(context, std::move(x), w1, b1, activation, drop);
    return linear(context, inner, w2, b2);
  }
  TX_ASSERT(x.cols() == w1.value.cols && (!b1 || b1.value.cols == w1.value.rows));
  TX_ASSERT(!w2.ranks || w2.split != Split::outputs);
  x = input_of(context, std::move(x), w1);
  Tensor inner = context.make(x.rows(), w1.value.rows);
  forward_product(context, x, w1, b1, Activation::relu, inner);
  if (drop.threshold)
    context.run([&](auto& k) { k.activate(inner.value(), Activation::none, drop, inner.value()); });
  Tensor y = forward_linear(context, inner, w2, b2);
  context.on_backward([&context, x, w1, b1, w2, b2, drop, inner, y]() mutable {
    if (!y.has_gradient()) return;
    const Matrix dy = context.gradient(y);
    bias_gradient(context, b2, dy);
    Product p;
    p.a = dy;
    p.b = w2.value;
    p.c = context.gradient(inner, p.accumulate);
    bool add = false;
    Matrix db;
    if (b1) db = Context::gradient(b1, add);
    context.plan(p);
    context.run([&](auto& k) { k.product_relu_backward(p, inner.value(), drop, db, add); });
    weight_gradient(context, inner, w2, dy, y);
    y = {};
    input_gradient(context, x, w1, p.c);
    weight_gradient(context, x, w1, p.c, inner);
  });
  return y;
}

}  // namespace tx
