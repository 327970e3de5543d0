// The functions of cuBLASLt, and one product as a call of it: its key and its descriptors. Our
// matrices are row-major, the library's column-major, so that it sees the transpose of each matrix:
// the call is c^T = op(b)^T op(a)^T.
#pragma once
#include <cublasLt.h>

#include <compare>

#include "kernels/cuda/products/blaslt.h"
#include "kernels/view.h"

namespace tx {

// The functions of cuBLASLt, found by dlsym, under shorter names: nothing links with the library.
struct BlasLtApi {
  void* handle = nullptr;
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtGetVersion) version;
  decltype(&cublasLtGetStatusString) words;
  decltype(&cublasLtMatmulDescCreate) operation_create;
  decltype(&cublasLtMatmulDescDestroy) operation_destroy;
  decltype(&cublasLtMatmulDescSetAttribute) operation_set;
  decltype(&cublasLtMatrixLayoutCreate) layout_create;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set;
  decltype(&cublasLtMatmulAlgoGetHeuristic) candidates;
  decltype(&cublasLtMatmulAlgoCheck) suits;
  decltype(&cublasLtMatmulAlgoConfigSetAttribute) configure;
  decltype(&cublasLtMatmul) matmul;

  void open();  // UsageError, with the places that were tried, if it is not found
  void check(cublasStatus_t status, const char* doing) const;  // throws Error
};

// Everything that a plan depends on. Alignment is always 16 bytes.
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
  relu = 64
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

  // `anything`: a placeholder for the bias until it is known.
  Plan(const BlasLtApi& functions, const Product& p, const void* anything);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) const {
    api->check(api->operation_set(operation, attribute, &value, sizeof value),
               "describing a product");
  }
};

}  // namespace tx
