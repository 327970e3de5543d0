// One product as cuBLASLt is asked for it: what makes it another one, and its descriptors. Our
// matrices are row-major, the library's column-major. So it is asked for c^T = op(b)^T op(a)^T: in
// the same memory it sees the transpose of each of our matrices.
#pragma once
#include <compare>

#include "kernels/cuda/products/blaslt.h"
#include "kernels/cuda/products/blaslt_api.h"
#include "kernels/product.h"

namespace tx {

// What a plan depends on. Alignment is not part of it: no more than 16 bytes is ever promised.
struct ProductKey {
  int64_t m, n, k, a_stride, b_stride, c_stride;
  int flags;
  auto operator<=>(const ProductKey&) const = default;
};
enum ProductFlag {
  bf16_in = 1,
  bf16_out = 2,
  transpose_a = 4,
  transpose_b = 8,
  add = 16,
  bias = 32,
  relu = 64,
  mask = 128,
  masked = 256
};

inline ProductKey key_of(const Product& p) {
  const ProductShape s = shape_of(p);
  int flags = 0;
  if (p.a.dtype == DType::bf16) flags |= bf16_in;
  if (p.c.dtype == DType::bf16) flags |= bf16_out;
  if (p.transpose_a) flags |= transpose_a;
  if (p.transpose_b) flags |= transpose_b;
  if (p.accumulate) flags |= add;
  if (!p.bias.empty()) flags |= bias;
  if (p.activation == Activation::relu) flags |= relu;
  if (p.mask.cols) flags |= mask;
  if (p.masked) flags |= masked;
  return {s.m, s.n, s.k, p.a.stride, p.b.stride, p.c.stride, flags};
}

struct BlasLtAlgorithm {
  cublasLtMatmulAlgo_t value{};
};

// The descriptors of one product, and the algorithm once one is chosen.
struct BlasLt::Plan {
  const BlasLtApi* api = nullptr;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  BlasLtAlgorithm algorithm;
  bool found = false;

  // `anything`: in place of bias and mask until they are known.
  Plan(const BlasLtApi& functions, const Product& p, const void* anything);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) const {
    api->check(api->operation_set(operation, attribute, &value, sizeof value),
               "describing a product");
  }
  void set_mask(const Product& p) const {
    if (p.mask.cols) set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, p.mask.data);
  }
};

}  // namespace tx
