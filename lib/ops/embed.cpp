// x = dropout(table[ids] * sqrt(d_model) + PE), sections 3.4, 3.5 and 5.4. Kept: nothing; the masks
// are recomputed. Cut rows have no token: x = dropout(PE). If the table is sharded, one rank has
// the token's row, and the others add zeros.
#include "lib/ops/ops.h"

namespace tx {

Tensor embed(Context& context, const EmbedInput& input) {
  TX_ASSERT(input.positions.empty() || input.table.value.cols == input.positions.cols);
  Tensor out = context.make(input.rows, input.table.value.cols);
  const EmbedInput in = input;
  context.run([&](auto& k) {
    TX_ASSERT(in.ids && in.drop.keys.position);
    k.embed(in.ids, {in.cut, in.blank}, in.table.value, in.scale, in.positions, in.drop,
            out.value());
  });
  context.on_backward([&context, in, out]() mutable {
    if (!out.has_gradient()) return;
    context.join();  // the table may also be the weight of a product
    bool add = false, add_positions = false;
    Matrix dtable = Context::gradient(in.table, add), dpositions;
    if (in.learned) dpositions = Context::gradient(in.learned, add_positions);
    context.run([&](auto& k) {
      // Rows are added one by one, so a first contribution needs a zeroed table.
      const auto clear = [&](const Matrix& m) {
        k.zero(m.data, size_t(m.rows) * size_t(m.stride) * size_of(m.dtype));
      };
      if (!add) clear(dtable);
      if (in.learned && !add_positions) clear(dpositions);
      k.embed_backward(in.ids, in.by_id, {in.cut, in.blank}, context.gradient(out), in.scale,
                       in.drop, dtable, dpositions);
    });
  });
  if (in.table.ranks) sum_over_ranks(context, out, *in.table.ranks);
  return out;
}

}  // namespace tx
