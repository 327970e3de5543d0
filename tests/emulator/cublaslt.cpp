// An emulated cuBLASLt, loaded by TX_CUBLASLT: plain loops over column-major matrices. It rejects
// what the manual of the real library does not guarantee: unsupported combinations of types, a bias
// whose type differs from the output's, leading dimensions and pointers that are not multiples of
// 16 bytes, attributes of the wrong size, a workspace that is too small, an algorithm that it did
// not return. Errors of the caller give INVALID_VALUE; what the real library may support but need
// not gives NOT_SUPPORTED.
#include "tests/emulator/cublasLt.h"

#include <memory>
#include <vector>

struct EmulatedBlasLt {};
struct EmulatedOperation {
  int32_t transpose_a = CUBLAS_OP_N, transpose_b = CUBLAS_OP_N, bias_type = -1;
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  cublasComputeType_t compute;
  cudaDataType_t scale;
};
struct EmulatedLayout {
  cudaDataType_t type;
  int64_t rows, cols, ld;
  bool operator==(const EmulatedLayout&) const = default;
};
struct EmulatedPreference {
  uint64_t workspace = 0;
  uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
  uint32_t alignment[4] = {256, 256, 256, 256};
};

namespace {

// Three orders of summation, so that the result shows which algorithm was selected.
enum Way : uint64_t { ascending, descending, halves, ways };
constexpr uint64_t magic = 0x7478656d756c6174;

struct Problem {
  EmulatedOperation operation;
  EmulatedLayout a, b, c, d;
  int64_t m() const { return d.rows; }
  int64_t n() const { return d.cols; }
  int64_t k() const { return operation.transpose_a == CUBLAS_OP_T ? a.rows : a.cols; }
  bool has_bias() const { return operation.epilogue & CUBLASLT_EPILOGUE_BIAS; }
  bool has_relu() const { return operation.epilogue & CUBLASLT_EPILOGUE_RELU; }
  size_t workspace(uint64_t way) const { return way == halves ? size_t(8 * m() * n()) : 0; }
};

int64_t size_of(cudaDataType_t t) { return t == CUDA_R_16BF ? 2 : 4; }
bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }

cublasStatus_t check_shapes(const Problem& p) {
  const EmulatedOperation& o = p.operation;
  const bool ta = o.transpose_a == CUBLAS_OP_T, tb = o.transpose_b == CUBLAS_OP_T;
  for (const EmulatedLayout* x : {&p.a, &p.b, &p.c, &p.d})
    if (x->rows < 1 || x->cols < 1 || x->ld < x->rows) return CUBLAS_STATUS_INVALID_VALUE;
  if ((ta ? p.a.cols : p.a.rows) != p.m() || (tb ? p.b.rows : p.b.cols) != p.n() ||
      (tb ? p.b.cols : p.b.rows) != p.k() || p.c.rows != p.m() || p.c.cols != p.n())
    return CUBLAS_STATUS_INVALID_VALUE;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t check_support(const Problem& p) {
  const EmulatedOperation& o = p.operation;
  if (o.compute != CUBLAS_COMPUTE_32F || o.scale != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (p.a.type != p.b.type || p.c.type != p.d.type ||
      (p.a.type == CUDA_R_32F && p.d.type != CUDA_R_32F))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  switch (o.epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
      break;
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (p.has_bias() && (!o.bias || !aligned(o.bias))) return CUBLAS_STATUS_INVALID_VALUE;
  if (p.has_bias() && o.bias_type != -1 && o.bias_type != p.d.type)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  for (const EmulatedLayout* x : {&p.a, &p.b, &p.c, &p.d})
    if (x->ld * size_of(x->type) % 16) return CUBLAS_STATUS_NOT_SUPPORTED;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t check(const Problem& p) {
  const cublasStatus_t status = check_shapes(p);
  return status == CUBLAS_STATUS_SUCCESS ? check_support(p) : status;
}

template <class T>
cublasStatus_t assign(T& to, const void* value, size_t bytes) {
  if (!value || bytes != sizeof to) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&to, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

float get(const void* data, cudaDataType_t type, int64_t i) {
  if (type == CUDA_R_32F) return static_cast<const float*>(data)[i];
  return __uint_as_float(uint32_t(static_cast<const uint16_t*>(data)[i]) << 16);
}
void set(void* data, cudaDataType_t type, int64_t i, float x) {
  if (type == CUDA_R_32F) {
    static_cast<float*>(data)[i] = x;
    return;
  }
  const uint32_t u = __float_as_uint(x);
  static_cast<uint16_t*>(data)[i] =
      x != x ? 0x7fff : uint16_t((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}

// op(x) as floats, rows x cols.
std::vector<float> unpacked(const void* data, const EmulatedLayout& x, bool transposed) {
  std::vector<float> all(size_t(x.rows * x.cols));
  for (int64_t j = 0; j < x.cols; ++j)
    for (int64_t i = 0; i < x.rows; ++i)
      all[size_t(transposed ? i * x.cols + j : j * x.rows + i)] = get(data, x.type, j * x.ld + i);
  return all;
}

struct Call {
  Problem p;
  float alpha, beta;
  const void *a, *b, *c;
  void* d;
  uint64_t way;
  float* workspace;

  void run() const {
    const std::vector<float> left = unpacked(a, p.a, p.operation.transpose_a == CUBLAS_OP_T);
    const std::vector<float> right = unpacked(b, p.b, p.operation.transpose_b == CUBLAS_OP_T);
    const int64_t m = p.m(), k = p.k();
    const auto add = [&](float* sums, int64_t j, int64_t from, int64_t to, int64_t step) {
      for (int64_t x = from; x != to; x += step) {
        const float factor = right[size_t(j * k + x)];
        const float* column = &left[size_t(x * m)];
        for (int64_t i = 0; i < m; ++i) sums[i] += column[i] * factor;
      }
    };
    std::vector<float> own(static_cast<size_t>(m));
    for (int64_t j = 0; j < p.n(); ++j) {
      std::fill(own.begin(), own.end(), 0.0f);
      if (way == halves) {
        float* parts = workspace + 2 * m * j;
        std::fill(parts, parts + 2 * m, 0.0f);
        add(parts, j, 0, k / 2, 1), add(parts + m, j, k / 2, k, 1);
        for (int64_t i = 0; i < m; ++i) own[size_t(i)] = parts[i] + parts[m + i];
      } else if (way == descending) {
        add(own.data(), j, k - 1, -1, -1);
      } else {
        add(own.data(), j, 0, k, 1);
      }
      finish(own, j);
    }
  }

  void finish(const std::vector<float>& sums, int64_t j) const {
    for (int64_t i = 0; i < p.m(); ++i) {
      float x = alpha * sums[size_t(i)];
      if (beta != 0) x += beta * get(c, p.c.type, j * p.c.ld + i);
      if (p.has_bias()) x += get(p.operation.bias, p.d.type, i);
      if (p.has_relu() && x <= 0) x = 0;
      set(d, p.d.type, j * p.d.ld + i, x);
    }
  }
};

}  // namespace

size_t cublasLtGetVersion() { return 130000; }
const char* cublasLtGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS         ? "success"
         : status == CUBLAS_STATUS_INVALID_VALUE ? "an invalid value was given"
                                                 : "not supported";
}
cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = new EmulatedBlasLt;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* to, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  *to = new EmulatedOperation;
  (*to)->compute = compute;
  (*to)->scale = scale;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  delete operation;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t o,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return assign(o->transpose_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return assign(o->transpose_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return assign(o->epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return assign(o->bias, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return assign(o->bias_type, value, bytes);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* to, cudaDataType_t type,
                                          uint64_t rows, uint64_t cols, int64_t ld) {
  *to = new EmulatedLayout{type, int64_t(rows), int64_t(cols), ld};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* to) {
  *to = new EmulatedPreference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t p,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, size_t bytes) {
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return assign(p->workspace, value, bytes);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
      return assign(p->reductions, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return assign(p->alignment[attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], value,
                    bytes);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int max,
                                              cublasLtMatmulHeuristicResult_t* results,
                                              int* count) {
  *count = 0;
  if (max < 1 || !results) return CUBLAS_STATUS_INVALID_VALUE;
  const Problem p{*operation, *a, *b, *c, *d};
  const cublasStatus_t status = check(p);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  for (const uint32_t alignment : preference->alignment)
    if (alignment < 16) return CUBLAS_STATUS_NOT_SUPPORTED;
  for (uint64_t way = 0; way < ways && *count < max; ++way) {
    const bool split = way == halves;
    if (split && !(preference->reductions & CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE)) continue;
    if (p.workspace(way) > preference->workspace) continue;
    results[(*count)++] = {{{magic, way}}, p.workspace(way), CUBLAS_STATUS_SUCCESS, 1, {}};
  }
  return *count ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

// Split-K into any number of parts above 1 selects `halves`. The only reduction scheme accepted is
// the deterministic one.
cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute,
                                                    const void* value, size_t bytes) {
  int32_t number = 0;
  if (assign(number, value, bytes) != CUBLAS_STATUS_SUCCESS) return CUBLAS_STATUS_INVALID_VALUE;
  if (attribute == CUBLASLT_ALGO_CONFIG_SPLITK_NUM) {
    if (number < 1) return CUBLAS_STATUS_INVALID_VALUE;
    if (number > 1) algorithm->data[1] = halves, algorithm->data[2] = uint64_t(number);
    return CUBLAS_STATUS_SUCCESS;
  }
  return number == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE ? CUBLAS_STATUS_SUCCESS
                                                          : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t, cublasLtMatmulDesc_t operation,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algorithm,
                                       cublasLtMatmulHeuristicResult_t* result) {
  const Problem p{*operation, *a, *b, *c, *d};
  if (!algorithm || algorithm->data[0] != magic || algorithm->data[1] >= ways)
    return CUBLAS_STATUS_INVALID_VALUE;
  result->workspaceSize = p.workspace(algorithm->data[1]);
  result->wavesCount = 1;
  return result->state = check(p);
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
  cublasLtMatmulHeuristicResult_t result;
  const cublasStatus_t status = cublasLtMatmulAlgoCheck(handle, operation, a_layout, b_layout,
                                                        c_layout, d_layout, algorithm, &result);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  for (const void* x : {a, b, c, const_cast<const void*>(d)})
    if (!x || !aligned(x)) return CUBLAS_STATUS_INVALID_VALUE;
  if (result.workspaceSize > workspace_bytes || !aligned(workspace) ||
      (workspace_bytes && !workspace))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (c == d && *c_layout != *d_layout) return CUBLAS_STATUS_INVALID_VALUE;
  const Call call{{*operation, *a_layout, *b_layout, *c_layout, *d_layout},
                  *static_cast<const float*>(alpha),
                  *static_cast<const float*>(beta),
                  a,
                  b,
                  c,
                  d,
                  algorithm->data[1],
                  static_cast<float*>(workspace)};
  emulator::enqueue(stream, [call] { call.run(); });
  return CUBLAS_STATUS_SUCCESS;
}
