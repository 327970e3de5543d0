// The check of a product's operands that every backend shares. nvcc compiles it.
#pragma once
#include "kernels/view.h"
#include "lib/base/error.h"

namespace tx {

// M, N and inner dimension K of a product, after the transposes.
struct ProductShape {
  int64_t m, n, k;
};

// Asserts that shapes and dtypes agree. Only the CPU has f64: a GPU checks that itself.
inline ProductShape shape_of(const Product& p) {
  const int64_t m = p.transpose_a ? p.a.cols : p.a.rows;
  const int64_t k = p.transpose_a ? p.a.rows : p.a.cols;
  const int64_t n = p.transpose_b ? p.b.rows : p.b.cols;
  TX_ASSERT(k > 0 && (p.transpose_b ? p.b.cols : p.b.rows) == k);
  TX_ASSERT(p.c.rows == m && p.c.cols == n);
  TX_ASSERT(p.a.stride >= p.a.cols && p.b.stride >= p.b.cols && p.c.stride >= p.c.cols);
  const DType t = p.a.dtype, full = t == DType::f64 ? DType::f64 : DType::f32;
  TX_ASSERT(t == DType::f32 || t == DType::f64 || t == DType::bf16);
  TX_ASSERT(p.b.dtype == t && (p.c.dtype == t || p.c.dtype == full));
  TX_ASSERT(p.activation == Activation::none || p.activation == Activation::relu);
  TX_ASSERT(!p.accumulate || (p.bias.empty() && p.activation == Activation::none));
  TX_ASSERT(p.bias.empty() || (p.bias.dtype == full && p.bias.rows == 1 && p.bias.cols == n));
  TX_ASSERT(p.rounded_bias.empty() ||
            (p.rounded_bias.dtype == DType::bf16 && p.rounded_bias.cols == p.bias.cols));
  TX_ASSERT(!p.masked || p.mask.cols);
  if (p.mask.cols) {
    TX_ASSERT(p.mask.dtype == DType::ids && p.mask.rows == m && p.mask.stride == mask_words(n));
    TX_ASSERT(!p.accumulate && (p.activation == Activation::relu) != p.masked);
    TX_ASSERT(p.bias.empty() || !p.masked);
  }
  return {m, n, k};
}

}  // namespace tx
