#include "kernels/cuda/products/blaslt_plan.h"

namespace tx {
namespace {

cudaDataType_t type_of(DType t) { return t == DType::bf16 ? CUDA_R_16BF : CUDA_R_32F; }

// The mask is one bit an element, in the order of c.
uint32_t epilogue_of(const Product& p) {
  const bool with_bias = !p.bias.empty();
  if (p.masked) return CUBLASLT_EPILOGUE_DRELU;
  if (p.activation != Activation::relu)
    return with_bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  if (p.mask.cols) return with_bias ? CUBLASLT_EPILOGUE_RELU_AUX_BIAS : CUBLASLT_EPILOGUE_RELU_AUX;
  return with_bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
}

}  // namespace

BlasLt::Plan::Plan(const BlasLtApi& functions, const Product& p, const void* anything)
    : api(&functions) {
  const char* doing = "describing a product";
  // f32 in f32: TF32 is another compute type.
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
  if (!p.mask.cols) return;
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, anything);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, int64_t(p.mask.stride * 32));  // in bits
}

BlasLt::Plan::~Plan() {
  if (operation) api->operation_destroy(operation);
  for (cublasLtMatrixLayout_t x : {a, b, c})
    if (x) api->layout_destroy(x);
}

}  // namespace tx
