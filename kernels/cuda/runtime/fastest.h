// Which of several ways to do the same is the fastest on this device.
#pragma once
#include <functional>

#include "kernels/cuda/runtime/state.h"

namespace tx {

// The number, from 0, of the way whose `rounds` calls have the smallest median time; ways take
// turns, and what the last one left in the cache is driven out before each. A way that fails,
// because call() says false, is out; -1 when all are. Waits for the work: for plans, never within a
// step.
int fastest_way(const Cuda::State& s, int ways, const std::function<bool(int way)>& call);

// Numbers as products meet them: of both signs, of magnitude 1/2 to 2, in f32 as in bf16. On equal
// operands, zeros in particular, products can run faster than on data.
void fill_with_numbers(const Cuda::State& s, void* to, size_t bytes);

}  // namespace tx
