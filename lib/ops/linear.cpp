// y = x w^T + b. Kept: x. dx = dy w, dw = dy^T x, db = column sums of dy. If the inputs are divided
// among ranks, the ranks' y are summed, and only rank 0 adds the bias.
#include <utility>

#include "lib/ops/products.h"

namespace tx {

void forward_product(Context& context, const Tensor& x, const Parameter& w, const Parameter& bias,
                     Activation activation, const Tensor& y) {
  if (w.observer) context.run([&](auto&) { (*w.observer)(x.value()); });
  if (w.value.prepared) {
    Context::Late late = context.take_late(x);
    if (late.product)  // x is a product itself, which runs first
      context.run_late(std::exchange(late, {}));
    late.product = {x.value(), w.value, bias.value, activation, y.value()};
    late.of_product = x, late.result = y;
    return context.run_late(std::move(late));
  }
  Product p;
  p.a = x.value();
  p.b = w.value;
  p.c = y.value();
  p.transpose_b = true;
  p.bias = bias.value;
  if (!bias.value.empty()) p.rounded_bias = bias.rounded;
  p.activation = activation;
  context.product(p);
}

void input_gradient(Context& context, Tensor& x, const Parameter& w, Matrix dy) {
  Product p;
  p.a = dy;
  p.b = w.value;
  p.c = context.gradient(x, p.accumulate);
  context.product(p);
}

void weight_gradient(Context& context, const Tensor& x, const Parameter& w, Matrix dy,
                     const Tensor& holder) {
  Product p;
  p.a = dy;
  p.b = x.value();
  p.transpose_a = true;
  p.c = Context::gradient(w, p.accumulate);
  context.product_aside(p, {x, holder});
}

Tensor input_of(Context& context, Tensor x, const Parameter& w) {
  const bool shared = w.ranks && w.split == Split::outputs;
  return shared ? read_by_ranks(context, std::move(x), *w.ranks) : x;
}

Tensor forward_linear(Context& context, const Tensor& x, const Parameter& w,
                      const Parameter& bias) {
  TX_ASSERT(x.cols() == w.value.cols && (!bias || bias.value.cols == w.value.rows));
  Tensor y = context.make(x.rows(), w.value.rows);
  const bool partial = w.ranks && w.split == Split::inputs;
  const bool adds_bias = !partial || w.ranks->rank() == 0;
  forward_product(context, x, w, adds_bias ? bias : Parameter{}, Activation::none, y);
  if (partial) sum_over_ranks(context, y, *w.ranks);
  return y;
}

void bias_gradient(Context& context, const Parameter& bias, Matrix dy) {
  if (!bias) return;
  bool add = false;
  const Matrix db = Context::gradient(bias, add);
  context.run([&](auto& k) { k.column_sum(dy, db, add); });
}

Tensor linear(Context& context, Tensor x, const Parameter& w, const Parameter& bias) {
  x = input_of(context, std::move(x), w);
  Tensor y = forward_linear(context, x, w, bias);
  context.on_backward([&context, x, w, bias, y]() mutable {
    if (!y.has_gradient()) return;
    const Matrix dy = context.gradient(y);
    bias_gradient(context, bias, dy);
    input_gradient(context, x, w, dy);
    weight_gradient(context, x, w, dy, y);
  });
  return y;
}

}  // namespace tx
