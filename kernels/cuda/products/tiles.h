// The tiles of our own products, and matmul_invariant() with a given one: all give the same bits.
#pragma once
#include "kernels/cuda.h"

namespace tx::cuda {

struct TileShape {
  int rows, cols;
  int stages = 0;  // slices of K in dynamic shared memory, 128 bytes per row and column each
  constexpr int shared_bytes() const { return stages * (rows + cols) * 128; }
};
// Weights of this type have tiles 0 .. tile_count - 1.
int tile_count(DType dtype);
TileShape tile_shape(DType dtype, int tile);
// The tile with the lowest estimated time for c (rows,cols) on `processors` multiprocessors, of
// those that need at most `shared_bytes` per block.
int best_tile(DType dtype, int64_t rows, int64_t cols, int processors, int shared_bytes);
void matmul_invariant(Cuda::State& s, Matrix x, Matrix prepared, Matrix bias, Activation activation,
                      Matrix y, int tile);
// From now on the largest tile of bf16 goes through wgmma, if `on` and the GPU is a Hopper on which
// that gives mma's bits, as random numbers show. Returns whether it does.
bool use_wgmma(Cuda::State& s, bool on);
constexpr int best = -1;  // the tile that Cuda::matmul_invariant() chooses

}  // namespace tx::cuda
