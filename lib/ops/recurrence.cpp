// s = sigmoid(f + bias), c_t = s c_(t-1) + (1 - s) u, y_t = max(0, c_t) along every sentence. Kept:
// u, f and c. Backward overwrites c by gradients.
#include "lib/ops/ops.h"

namespace tx {

Tensor recurrence(Context& context, Tensor x, const Parameter& bias, const int32_t* offsets,
                  int64_t sentences) {
  const int64_t width = bias.value.cols;
  TX_ASSERT(x.cols() == 2 * width && bias.value.rows == 1);
  Tensor y = context.make(x.rows(), width);
  Tensor cells = context.make(x.rows(), width, context.statistics_dtype());
  const auto kernel_view = [=](const Tensor& in, const Tensor& out, const Tensor& c) {
    return Recurrence{.x = in.value(),
                      .bias = bias.value,
                      .cells = c.value(),
                      .y = out.value(),
                      .offsets = offsets,
                      .sentences = sentences};
  };
  context.run([&](auto& k) { k.recurrence(kernel_view(x, y, cells)); });
  context.on_backward([&context, x, y, cells, bias, kernel_view]() mutable {
    if (!y.has_gradient()) return;
    bool add = false;
    const Matrix dx = context.gradient(x, add);
    TX_ASSERT(!add);
    const Matrix db = Context::gradient(bias, add);
    const int64_t d = y.cols();
    context.run([&](auto& k) {
      k.recurrence_backward(kernel_view(x, y, cells), context.gradient(y), dx);
      k.column_sum(dx.columns(d, d), db, add);
    });
  });
  return y;
}

}  // namespace tx
