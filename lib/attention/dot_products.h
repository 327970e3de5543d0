// The scores of an attention from its queries and keys, for a reader: the kernels keep none.
#pragma once
#include <vector>

#include "lib/attention/extraction.h"

namespace tx {

// q k^T of each head, q (T,K) and k (S,K), summed in double.
std::vector<AttentionMap> dot_products(const std::vector<AttentionMap>& q,
                                       const std::vector<AttentionMap>& k);
std::vector<AttentionMap> multiplied(const std::vector<AttentionMap>& scores, double factor);
// slope |i - j| is taken from every score, as alibi does.
void take_distances(AttentionMap& scores, double slope);
// Columns `window` or more away from a row's own become minus infinity.
void mask_far(std::vector<AttentionMap>& scores, int window);
// Columns behind a row's own become minus infinity.
void mask_later(std::vector<AttentionMap>& scores);

}  // namespace tx
