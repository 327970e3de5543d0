// y = x w^T + b. Kept: x. dx = dy w, dw = dy^T x, db = column sums of dy.
#include "lib/ops/products.h"

namespace tx {

void input_gradient(Context& context, Tensor& x, const Parameter& w, Matrix dy) {
  Product p;
  p.a = dy;
  p.b = w.value;
  p.c = context.gradient(x, p.accumulate);
  context.product(p);
}

void weight_gradient(Context& context, const Tensor& x, const Parameter& w, Matrix dy) {
  Product p;
  p.a = dy;
  p.b = x.value();
  p.transpose_a = true;
  p.c = Context::gradient(w, p.accumulate);
  context.product(p);
}

Tensor linear(Context& context, Tensor x, const Parameter& w, const Parameter& bias) {
  TX_ASSERT(x.cols() == w.value.cols);
  Tensor y = context.make(x.rows(), w.value.rows);
  Product p;
  p.a = x.value();
  p.b = w.value;
  p.c = y.value();
  p.transpose_b = true;
  p.bias = bias.value;
  context.product(p);
  context.on_backward([&context, x, w, bias, y]() mutable {
    if (!y.has_gradient()) return;
    const Matrix dy = context.gradient(y);
    if (bias) {
      bool add = false;
      const Matrix db = Context::gradient(bias, add);
      context.run([&](auto& k) { k.column_sum(dy, db, add); });
    }
    weight_gradient(context, x, w, dy);
    input_gradient(context, x, w, dy);
  });
  return y;
}

}  // namespace tx
