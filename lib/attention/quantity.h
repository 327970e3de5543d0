// What can be read of an attention, in the order in which it is computed (equations in
// tx-attention(5)):
//
//   q, k, v -> scores q k^T -> scaled / sqrt(d_k) -> masked -> weights softmax -> context times v
//   -> output of the sub-layer, all heads together
#pragma once
#include "lib/base/named.h"

namespace tx {

enum class Quantity { weights, scores, scaled, masked, q, k, v, context, output };

template <>
struct Names<Quantity> {
  static constexpr NameOf<Quantity> list[] = {{"weights", Quantity::weights},
                                              {"scores", Quantity::scores},
                                              {"scaled", Quantity::scaled},
                                              {"masked", Quantity::masked},
                                              {"q", Quantity::q},
                                              {"k", Quantity::k},
                                              {"v", Quantity::v},
                                              {"context", Quantity::context},
                                              {"output", Quantity::output}};
};

// Whether it has an entry for each pair of a row and a column of the attention. The others have
// vectors: q and context one for each row, k and v one for each column, output one for each row and
// layer.
constexpr bool is_map(Quantity q) {
  return q == Quantity::weights || q == Quantity::scores || q == Quantity::scaled ||
         q == Quantity::masked;
}

}  // namespace tx
