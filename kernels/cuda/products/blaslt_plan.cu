#include <cuda_runtime.h>
#include <dlfcn.h>

#include <string>
#include <utility>

#include "kernels/cuda/products/blaslt_plan.h"
#include "kernels/cuda/runtime/library_places.h"
#include "lib/base/error.h"

namespace tx {
namespace {

cudaDataType_t type_of(DType t) { return t == DType::bf16 ? CUDA_R_16BF : CUDA_R_32F; }

// Not RELU_AUX and DRELU, which keep the signs: on an H200 a DRELU of 25,000 x 2,048 is a second
// kernel of 306 us, and RELU_AUX takes 125 instead of 88 us.
uint32_t epilogue_of(const Product& p) {
  const bool with_bias = !p.bias.empty();
  if (p.activation != Activation::relu)
    return with_bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  return with_bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
}

}  // namespace

BlasLt::Plan::Plan(const BlasLtApi& functions, const Product& p, const void* anything)
    : api(&functions) {
  const char* doing = "describing a product";
  // f32 without TF32, which is another compute type.
  api->check(api->operation_create(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F), doing);
  const auto layout = [&](cublasLtMatrixLayout_t* to, const Matrix& m) {
    api->check(
        api->layout_create(to, type_of(m.dtype), uint64_t(m.cols), uint64_t(m.rows), m.stride),
        doing);
  };
  layout(&a, p.a), layout(&b, p.b), layout(&c, p.c);
  const auto operation_of = [](bool transposed) -> int32_t {
    return transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, operation_of(p.transpose_b));
  set(CUBLASLT_MATMUL_DESC_TRANSB, operation_of(p.transpose_a));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(p));
  if (!p.bias.empty()) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, anything);
}

BlasLt::Plan::~Plan() {
  if (operation) api->operation_destroy(operation);
  for (cublasLtMatrixLayout_t x : {a, b, c})
    if (x) api->layout_destroy(x);
}

namespace {

template <class F>
void find(void* handle, F& f, const char* name) {
  f = reinterpret_cast<F>(dlsym(handle, name));
  if (!f) throw UsageError(std::string("cuBLASLt has no ") + name + "; version 12 or 13 is needed");
}

// First the version of the toolkit of this build, then the other, which has the same types.
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
