// matmul_invariant() with a given tile, for tests: all tiles give the same bits.
#pragma once
#include "kernels/cuda.h"

namespace tx::cuda {

// Weights of this type have tiles 0 .. tile_count - 1.
int tile_count(DType dtype);
void matmul_invariant(Cuda::State& s, Matrix x, Matrix prepared, Matrix bias, Activation activation,
                      Matrix y, int tile);
constexpr int best = -1;  // the tile that Cuda::matmul_invariant() takes for this many rows

}  // namespace tx::cuda
