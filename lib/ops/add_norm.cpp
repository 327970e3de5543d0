// The end of a sub-layer (sections 3.1 and 5.4): sum = x + dropout(sub), followed by LayerNorm,
//   normed = gamma (sum - mean) / sqrt(var + eps) + beta,
// or, if there is no beta, RMSNorm (Zhang and Sennrich 2019),
//   normed = gamma sum / sqrt(mean of sum^2 + eps).
// Kept: sum and the statistics of its rows. Ablations: without x, sum = dropout(sub); without
// gamma, normed = sum. They keep nothing for the sum.
#include "lib/ops/ops.h"

namespace tx {

namespace {

bool fits(const Norm& norm, const Tensor& x) {
  if (!norm.gamma) return !norm.beta;
  return norm.gamma.value.cols == x.cols() && (!norm.beta || norm.beta.value.cols == x.cols());
}

AddNorm norm_of(const Norm& norm, const Tensor& sub, const Tensor& normed, const Tensor& stats) {
  AddNorm p;
  p.sub = sub.value();
  p.gamma = norm.gamma.value, p.beta = norm.beta.value, p.epsilon = norm.epsilon;
  p.normed = normed.value(), p.stats = stats.value();
  return p;
}

void norm_backward(Context& context, Tensor& x, Tensor* sub, const Normed& out, const Tensor& stats,
                   const Norm& norm, const Dropout& drop) {
  if (!out.normed.has_gradient() && !out.sum.has_gradient()) return;
  TX_ASSERT(out.normed.has_gradient());
  AddNormBackward p;
  p.dnormed = context.gradient(out.normed);
  if (sub && out.sum.has_gradient()) p.dsum = context.gradient(out.sum);
  p.sum = out.sum.value();
  p.stats = stats.value();
  p.gamma = norm.gamma.value;
  p.dx = context.gradient(x, p.add_x);
  bool add_sub = false;
  if (sub) p.dsub = context.gradient(*sub, add_sub);
  TX_ASSERT(!add_sub);  // a sub-layer's output has one reader
  p.dgamma = Context::gradient(norm.gamma, p.add_parameters);
  if (norm.beta) p.dbeta = Context::gradient(norm.beta, p.add_parameters);
  p.drop = drop;
  context.run([&](auto& k) { k.add_norm_backward(p); });
}

// x + dropout(sub), or without x dropout(sub).
Tensor add_dropped(Context& context, Tensor x, Tensor sub, const Dropout& drop) {
  if (!x && !drop.threshold) return sub;
  Tensor sum = context.make(sub.rows(), sub.cols());
  context.run([&](auto& k) {
    if (x)
      k.dropout_sum(x.value(), sub.value(), drop, sum.value());
    else
      k.activate(sub.value(), Activation::none, drop, sum.value());
  });
  context.on_backward([&context, x, sub, sum, drop]() mutable {
    if (!sum.has_gradient()) return;
    const Matrix dsum = context.gradient(sum);
    bool add_x = false, add_sub = false;
    const Matrix dx = x ? context.gradient(x, add_x) : Matrix{};
    const Matrix dsub = context.gradient(sub, add_sub);
    TX_ASSERT(!add_sub);  // a sub-layer's output has one reader
    context.run([&](auto& k) {
      if (x) add_x ? k.add(dsum, dx) : k.convert(dsum, dx);
      k.activate_backward(dsum, dsum, Activation::none, drop, dsub, {}, false);
    });
  });
  return sum;
}

}  // namespace

Normed add_norm(Context& context, Tensor x, Tensor sub, const Dropout& drop, const Norm& norm) {
  TX_ASSERT(!x || (x.rows() == sub.rows() && x.cols() == sub.cols()));
  TX_ASSERT(fits(norm, sub));
  if (!x || !norm.gamma) {
    const Tensor sum = add_dropped(context, std::move(x), std::move(sub), drop);
    return {sum, layer_norm(context, sum, norm)};
  }
  Normed out{context.make(x.rows(), x.cols()), context.make(x.rows(), x.cols())};
  Tensor stats = context.make(x.rows(), 2, context.statistics_dtype());
  AddNorm p = norm_of(norm, sub, out.normed, stats);
  p.x = x.value(), p.drop = drop, p.sum = out.sum.value();
  context.run_late({p, {}, out.normed, {x, sub, out.sum, stats}});
  context.on_backward([&context, x, sub, out, stats, norm, drop]() mutable {
    norm_backward(context, x, &sub, out, stats, norm, drop);
  });
  return out;
}

Tensor layer_norm(Context& context, Tensor x, const Norm& norm) {
  TX_ASSERT(fits(norm, x));
  if (!norm.gamma) return x;
  Tensor normed = context.make(x.rows(), x.cols());
  Tensor stats = context.make(x.rows(), 2, context.statistics_dtype());
  context.run_late({norm_of(norm, x, normed, stats), {}, normed, {x, stats}});
  context.on_backward([&context, x, normed, stats, norm]() mutable {
    norm_backward(context, x, nullptr, {x, normed}, stats, norm, {});
  });
  return normed;
}

}  // namespace tx
