// The two ops of tensor parallelism, f and g of Shoeybi et al., 2019, section 3. f is the identity
// in the forward pass and sums the ranks' gradients in the backward pass; g sums in the forward
// pass and is the identity in the backward pass. Kept: nothing.
#include <algorithm>

#include "lib/ops/ops.h"

namespace tx {

namespace {

constexpr int64_t chunk = 1 << 18;  // elements that a rank sends at a time

// Replaces x by the sum over the ranks, in rank order; bf16 is added in f32 and rounded once.
void add_over_ranks(Context& context, Matrix x, Communicator& ranks) {
  TX_ASSERT(x.stride == x.cols);
  const int64_t count = ranks.size();
  const int64_t rows = std::min(x.rows, std::max<int64_t>(1, chunk / x.cols));
  const bool narrow = x.dtype == DType::bf16;
  const Tensor all = context.make(count * rows, x.cols, x.dtype);
  Tensor term, sum;
  if (narrow) {
    term = context.make(rows, x.cols, DType::f32);
    sum = context.make(rows, x.cols, DType::f32);
  }
  context.run([&](auto& k) {
    TX_ASSERT(!k.has_own_memory());
    for (int64_t first = 0; first < x.rows; first += rows) {
      const Matrix here = x.slice(first, std::min(rows, x.rows - first));
      const size_t bytes = size_t(here.rows * here.cols) * size_of(here.dtype);
      ranks.gather_all(here.data, bytes, all.value().data);
      const Matrix to = narrow ? sum.value().slice(0, here.rows) : here;
      for (int64_t r = 0; r < count; ++r) {
        Matrix part = all.value().slice(r * here.rows, here.rows);
        if (r == 0) {
          k.convert(part, to);
          continue;
        }
        if (narrow) {
          k.convert(part, term.value().slice(0, here.rows));
          part = term.value().slice(0, here.rows);
        }
        k.add(part, to);
      }
      if (narrow) k.convert(to, here);
    }
  });
}

}  // namespace

Tensor read_by_ranks(Context& context, Tensor x, Communicator& ranks) {
  const Tensor y = Context::same(x);
  context.on_backward([&context, &ranks, x, y]() mutable {
    if (!y.has_gradient()) return;
    const Matrix dy = context.gradient(y);
    add_over_ranks(context, dy, ranks);
    bool add = false;
    const Matrix dx = context.gradient(x, add);
    context.run([&](auto& k) { add ? k.add(dy, dx) : k.convert(dy, dx); });
  });
  return y;
}

void sum_over_ranks(Context& context, const Tensor& x, Communicator& ranks) {
  add_over_ranks(context, x.value(), ranks);
}

}  // namespace tx
