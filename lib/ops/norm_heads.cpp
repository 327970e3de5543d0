// x_h = gamma x_h / sqrt(mean of x_h^2 + epsilon) for every head's queries and keys x_h. In place;
// kept for backward: x before.
#include "lib/ops/ops.h"

namespace tx {

void norm_heads(Context& context, Tensor x, const Norm& norm, int64_t queries, int64_t columns) {
  const int width = int(norm.gamma.value.cols / 2);
  TX_ASSERT(norm.gamma.value.cols % 2 == 0 && width > 0 && !norm.beta);
  TX_ASSERT(queries <= columns && columns <= x.cols());
  const auto heads = [=](Matrix m) {
    return HeadNorm{.x = m.columns(0, columns),
                    .gamma = norm.gamma.value,
                    .queries = queries,
                    .width = width,
                    .epsilon = norm.epsilon};
  };
  Tensor before;
  if (context.recording) {
    before = context.make(x.rows(), columns);
    context.run([&](auto& k) { k.convert(x.value().columns(0, columns), before.value()); });
  }
  context.run([&](auto& k) { k.norm_heads(heads(x.value())); });
  context.on_backward([&context, x, before, norm, heads]() mutable {
    if (!x.has_gradient()) return;
    bool add = false;
    const Matrix dgamma = Context::gradient(norm.gamma, add), dx = context.gradient(x);
    context.run([&](auto& k) { k.norm_heads_backward(heads(before.value()), dx, dgamma, add); });
  });
}

}  // namespace tx
