// x_j = x_j cos a - x_(j+K/2) sin a, x_(j+K/2) = x_(j+K/2) cos a + x_j sin a, the angle a by
// position and j (Su et al., 2021). In place; backward rotates back.
#include "lib/ops/ops.h"

namespace tx {

void rotate(Context& context, Tensor x, int64_t columns, const Rotary& rotary) {
  TX_ASSERT(rotary.width > 0 && columns % rotary.width == 0 && columns <= x.cols());
  context.run([&](auto& k) {
    k.rotate(x.value().columns(0, columns), rotary.width, rotary.table, rotary.positions, false);
  });
  context.on_backward([&context, x, columns, rotary] {
    if (!x.has_gradient()) return;
    const Matrix dx = context.gradient(x).columns(0, columns);
    context.run([&](auto& k) { k.rotate(dx, rotary.width, rotary.table, rotary.positions, true); });
  });
}

}  // namespace tx
