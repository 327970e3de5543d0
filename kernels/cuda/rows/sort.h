// A stable sort of rows by an integer key.
#pragma once
#include "kernels/cuda/runtime/state.h"

namespace tx {

struct SortedRows {
  const uint32_t* key = nullptr;  // ascending
  const uint32_t* row = nullptr;  // ascending among rows of the same key
};

// Scratch memory for `count` rows, in bytes, a multiple of 256.
size_t sort_bytes(int64_t count);

// Sorts rows 0 .. count - 1 (below 2^31) by keys[row] < `limit`; both arrays lie in `scratch`.
SortedRows sort_rows(const Cuda::State& state, const uint32_t* keys, int64_t count, int64_t limit,
                     void* scratch);

}  // namespace tx
