// matmul_invariant by a tile of one's choice, for tests: all tiles give the same bits.
#pragma once
#include "kernels/cuda.h"

namespace tx::cuda {

// Tiles 0 .. tile_count - 1 are there for weights of this type.
int tile_count(DType dtype);
void matmul_invariant(Cuda::State& s, Matrix x, Matrix prepared, Matrix bias, Activation activation,
                      Matrix y, int tile);
constexpr int best = -1;  // the tile that matmul_invariant() takes for this many rows

}  // namespace tx::cuda
