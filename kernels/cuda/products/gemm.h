// Internals of the products on CUDA, shared by gemm*.cu, blaslt.cu and their tests:
//   gemm.cu       checks, the choice between cuBLASLt and our own loops, the members of Cuda
//   blaslt.cu     cuBLASLt: the products of training
//   gemm_bf16.cu  our own in bf16 on tensor cores: inference, and what cuBLASLt does not support
//   gemm_wgmma.cu the same for many rows on Hopper, and the gradient of relu within its product
//   gemm_norm.cu  the same for few rows, after add_norm()
//   gemm_f32.cu   the same in f32
#pragma once
#include "kernels/cuda/products/tiles.h"
#include "kernels/cuda/runtime/device.h"
#include "kernels/cuda/runtime/state.h"
#include "kernels/view.h"

namespace tx::cuda {

// An operand: `rows` rows of K elements, (i, k) at data + i * row_step + k * k_step; one step is 1.
struct Side {
  const void* data;
  int64_t rows, row_step, k_step;
};

constexpr int kPart = 256;  // of K

// c (M,N) = a (M,K) b (N,K)^T (+ c) (+ bias) then relu. Every element is a sum in f32 in a fixed
// order: in bf16, each part of 256 k is a chain of mma of 16 k, ascending from 0, and the parts are
// added in order; in f32, all k are one chain of fmaf. So its bits depend only on its row of a and
// its row of b, not on M, on the position of the row or on the tile.
struct Sums {
  DType dtype;  // of a and b
  Side a, b;
  int64_t k;
  Matrix c;  // f32 or bf16
  const float* bias;
  bool relu, add;
  bool weights = false;  // the previous kernel did not write b or the bias
};
Sums sums_of(const Product& p);

// Our own loops, by the tile of c that a block computes; all give the same bits.
constexpr TileShape tensor_tiles[] = {{16, 16, 6}, {32, 16, 8}, {16, 64, 4},  {32, 32, 4},
                                      {32, 64, 4}, {64, 64, 3}, {128, 128, 3}};
constexpr TileShape plain_tiles[] = {{16, 32}, {64, 64}, {128, 128}};
void tensor_product(const Cuda::State& s, const Sums& p, int tile);  // bf16, any way
void mma_product(const Cuda::State& s, const Sums& p, int tile);
void plain_product(const Cuda::State& s, const Sums& p, int tile);  // f32
void own_product(const Cuda::State& s, const Sums& p, int tile);    // either

// Whether rows can be read along k in packs of 16 bytes, of which only the last may be incomplete.
inline bool packed(const Side& s, DType dtype) {
  return s.k_step == 1 && reinterpret_cast<uintptr_t>(s.data) % 16 == 0 &&
         size_t(s.row_step) * size_of(dtype) % 16 == 0;
}

// Whether a and b are, and K is whole packs.
inline bool packed_operands(const Sums& p) {
  return p.k % 8 == 0 && packed(p.a, p.dtype) && packed(p.b, p.dtype);
}

void wgmma_product(const Cuda::State& s, const Sums& p);  // wide_output()

// Launches add_norm(norm) and p, whose a is norm.normed, as one kernel, if there is one for them.
bool norm_product(const Cuda::State& s, const AddNorm& norm, const Sums& p);

// product_relu_backward() in bf16, of rows in packs: packs() of every matrix.
void wgmma_relu_backward(Cuda::State& s, const Product& p, const Matrix& y, float scale,
                         const Matrix& dbias, bool add_bias);

// The epilogue of a sum: what is added to it and where it is stored.
struct Finish {
  void* c;
  const float* bias;  // or null
  int64_t rows, cols, stride;
  bool bf16_out, relu, add;
  bool weights;  // b and the bias may be loaded before the earlier kernels have ended
  bool pairs;    // two neighbours from an even column can be stored at once
};
inline Finish finish_of(const Cuda::State& s, const Sums& p) {
  const size_t pair = 2 * size_of(p.c.dtype);
  return {p.c.data,
          p.bias,
          p.c.rows,
          p.c.cols,
          p.c.stride,
          p.c.dtype == DType::bf16,
          p.relu,
          p.add,
          s.early && p.weights,
          reinterpret_cast<uintptr_t>(p.c.data) % pair == 0 && p.c.stride % 2 == 0};
}

// Whether, besides, rows of c can be stored and pairs of the bias read in packs; nothing is added
// to c.
inline bool wide_output(const Sums& p) {
  return packed_operands(p) && !p.add && packs(p.c, 16) && p.c.cols % 8 == 0 &&
         reinterpret_cast<uintptr_t>(p.bias) % (2 * sizeof(float)) == 0;
}

template <class T>
TX_DEVICE float finished(const Finish& f, const T* c, int64_t column, float sum) {
  if (f.bias) sum += f.bias[column];
  if (f.add) sum += load(c[column]);
  return f.relu && sum <= 0 ? 0 : sum;  // NaN stays NaN
}
// The `count` columns of `row` from `column` on; those outside c are skipped.
template <class T, int count>
TX_DEVICE void finish_row(const Finish& f, int64_t row, int64_t column,
                          const float (&sums)[count]) {
  if (row >= f.rows) return;
  T* c = static_cast<T*>(f.c) + row * f.stride;
  for (int j = 0; j < count; j += 2) {
    const int64_t at = column + j;
    if (f.pairs && at + 1 < f.cols) {
      Pack<T, 2> pair;
      store(pair.at[0], finished(f, c, at, sums[j]));
      store(pair.at[1], finished(f, c, at + 1, sums[j + 1]));
      *reinterpret_cast<Pack<T, 2>*>(c + at) = pair;
      continue;
    }
    if (at < f.cols) store(c[at], finished(f, c, at, sums[j]));
    if (at + 1 < f.cols) store(c[at + 1], finished(f, c, at + 1, sums[j + 1]));
  }
}
template <int count>
TX_DEVICE void finish_columns(const Finish& f, int64_t row, int64_t column,
                              const float (&sums)[count]) {
  if (f.bf16_out) return finish_row<bf16>(f, row, column, sums);
  finish_row<float>(f, row, column, sums);
}

}  // namespace tx::cuda
