// The second half of sums over rows: partial sums of fixed parts of the rows, added in a fixed
// order.
#pragma once
#include "kernels/cuda/runtime/state.h"

namespace tx {

// (first, second) (+)= the sum over `parts` rows of partial (parts, first.cols + second.cols) f32.
// first and second are (1, cols) f32; second may be empty. Without parts they are 0, or as before.
void add_parts(const Cuda::State& state, const float* partial, int64_t parts, Matrix first,
               Matrix second, bool add);

}  // namespace tx
