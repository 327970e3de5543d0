#include <cuda_runtime.h>
#include <dlfcn.h>

#include <string>
#include <utility>

#include "kernels/cuda/products/blaslt_api.h"
#include "kernels/cuda/runtime/library_places.h"
#include "lib/base/error.h"

namespace tx {
namespace {

template <class F>
void find(void* handle, F& f, const char* name) {
  f = reinterpret_cast<F>(dlsym(handle, name));
  if (!f) throw UsageError(std::string("cuBLASLt has no ") + name + "; version 12 or 13 is needed");
}

// First the one of the toolkit that this was built with, then the other: its types are the same.
SoughtLibrary sought() {
  const bool old = CUDART_VERSION < 13000;
  SoughtLibrary library{"TX_CUBLASLT", {"libcublasLt.so.13", "libcublasLt.so.12"}, {}};
  if (old) std::swap(library.files[0], library.files[1]);
  library.pip = {"cu13", "cublas"};  // of CUDA 13, of CUDA 12
  return library;
}

}  // namespace

void BlasLtApi::check(cublasStatus_t status, const char* doing) const {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(std::string("cuBLASLt failed while ") + doing + ": " + words(status));
}

void BlasLtApi::open() {
  std::string tried;
  handle = open_first(sought(), tried);
  if (!handle)
    throw UsageError(
        "--device cuda: cuBLASLt is needed for matrix products and cannot be opened:" + tried +
        "\ninstall the cuBLAS library of CUDA 12 or 13, or set TX_CUBLASLT to "
        "the path of libcublasLt.so; or use --device cpu");
  const auto get = [&](auto& f, const char* name) { find(handle, f, name); };
  get(create, "cublasLtCreate");
  get(version, "cublasLtGetVersion"), get(words, "cublasLtGetStatusString");
  get(operation_create, "cublasLtMatmulDescCreate");
  get(operation_destroy, "cublasLtMatmulDescDestroy");
  get(operation_set, "cublasLtMatmulDescSetAttribute");
  get(layout_create, "cublasLtMatrixLayoutCreate");
  get(layout_destroy, "cublasLtMatrixLayoutDestroy");
  get(preference_create, "cublasLtMatmulPreferenceCreate");
  get(preference_destroy, "cublasLtMatmulPreferenceDestroy");
  get(preference_set, "cublasLtMatmulPreferenceSetAttribute");
  get(candidates, "cublasLtMatmulAlgoGetHeuristic"), get(suits, "cublasLtMatmulAlgoCheck");
  get(configure, "cublasLtMatmulAlgoConfigSetAttribute"), get(matmul, "cublasLtMatmul");
}

}  // namespace tx
