// The functions of cuBLASLt, found by dlsym, under shorter names: nothing links with the library.
// For blaslt*.cu alone.
#pragma once
#include <cublasLt.h>

namespace tx {

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

  void open();  // UsageError when none is found, with what was tried
  void check(cublasStatus_t status, const char* doing) const;  // throws Error
};

}  // namespace tx
