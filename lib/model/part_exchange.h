// Between blocks of a whole model, which rank 0 of its parts has, and those of the parts. All ranks
// of the parts call these together. Only where the backends' memory is the host's.
#pragma once
#include "lib/model/parameters.h"

namespace tx {

// The blocks are flat, (1, elements), of one dtype: `whole` of the layout of the whole model, and
// empty on other ranks than 0; `own` of that of `part`.
void spread_parts(const Parameters& part, Matrix whole, Matrix own);
void collect_parts(const Parameters& part, Matrix own, Matrix whole);

}  // namespace tx
