// Weight gradients of base by cuBLASLt, dw (O,I) in f32 = dy (rows,O)^T x (rows,I) in bf16: the
// library's first algorithm and the fastest of its first 8 and 64, on all multiprocessors and on 88
// of them (SM_COUNT_TARGET), where other kernels run at the same time.
//   nvcc -std=c++17 weight_gradients.cu -ldl        weight_gradients [LIBRARY [ROWS]]
// LIBRARY is libcublasLt.so.13. Status 1: it cannot be used, or a call fails.
#include <cublasLt.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void check(bool good, const char* what) {
  if (good) return;
  std::printf("FAILED: %s\n", what);
  std::exit(1);
}
#define BLAS(call) check(call == CUBLAS_STATUS_SUCCESS, #call)
#define CUDA(call) check(call == cudaSuccess, #call)
#define FIND(name) const auto name = find<decltype(&::name)>(library, #name)

template <class F>
F find(void* library, const char* name) {
  void* f = dlsym(library, name);
  check(f, name);
  return reinterpret_cast<F>(f);
}

__global__ void fill(uint16_t* x, size_t count) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < count) x[i] = uint16_t(0x3c00 | (uint32_t(i) * 1664525u + 1013904223u) >> 16 & 0x83ff);
}

}  // namespace

int main(int argc, char** argv) {
  void* library = dlopen(argc > 1 ? argv[1] : "libcublasLt.so.13", RTLD_NOW);
  check(library, library ? "" : dlerror());
  FIND(cublasLtCreate);
  FIND(cublasLtMatmulDescCreate);
  FIND(cublasLtMatmulDescSetAttribute);
  FIND(cublasLtMatrixLayoutCreate);
  FIND(cublasLtMatmulPreferenceCreate);
  FIND(cublasLtMatmulPreferenceSetAttribute);
  FIND(cublasLtMatmulAlgoGetHeuristic);
  FIND(cublasLtMatmul);
  const int64_t rows = argc > 2 ? std::atoll(argv[2]) : 25000;
  const int64_t shapes[][2] = {{512, 512},  {1536, 512}, {2048, 512},
                               {512, 2048}, {6144, 512}, {37056, 512}};
  const size_t workspace_bytes = 64 << 20;
  cublasLtHandle_t handle;
  BLAS(cublasLtCreate(&handle));
  uint16_t *x, *dy;
  float* dw;
  void* workspace;
  CUDA(cudaMalloc(&x, rows * 2048 * 2)), CUDA(cudaMalloc(&dy, rows * 37056 * 2));
  CUDA(cudaMalloc(&dw, int64_t(37056) * 2048 * 4)), CUDA(cudaMalloc(&workspace, workspace_bytes));
  const auto filled = [](uint16_t* to, size_t count) {
    fill<<<(count + 255) / 256, 256>>>(to, count);
  };
  filled(x, rows * 2048), filled(dy, rows * 37056);
  cudaEvent_t begin, end;
  CUDA(cudaEventCreate(&begin)), CUDA(cudaEventCreate(&end));

  std::printf("%-24s %5s %10s %10s %10s   us\n", "dw", "SMs", "first", "of 8", "of 64");
  for (const auto& [o, i] : shapes) {
    for (const int32_t processors : {0, 88}) {
      // Row-major dw = dy^T x is column-major dw^T (I,O) = x^T (I,rows) dy (rows,O).
      cublasLtMatmulDesc_t operation;
      cublasLtMatrixLayout_t a, b, c;
      BLAS(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
      const int32_t no = CUBLAS_OP_N, yes = CUBLAS_OP_T;
      BLAS(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &no, sizeof no));
      BLAS(
          cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSB, &yes, sizeof yes));
      if (processors)
        BLAS(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET,
                                            &processors, sizeof processors));
      BLAS(cublasLtMatrixLayoutCreate(&a, CUDA_R_16BF, i, rows, i));
      BLAS(cublasLtMatrixLayoutCreate(&b, CUDA_R_16BF, o, rows, o));
      BLAS(cublasLtMatrixLayoutCreate(&c, CUDA_R_32F, i, o, i));
      cublasLtMatmulPreference_t preference;
      BLAS(cublasLtMatmulPreferenceCreate(&preference));
      BLAS(cublasLtMatmulPreferenceSetAttribute(preference,
                                                CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                &workspace_bytes, sizeof workspace_bytes));
      std::vector<cublasLtMatmulHeuristicResult_t> found(64);
      int count = 0;
      BLAS(cublasLtMatmulAlgoGetHeuristic(handle, operation, a, b, c, c, preference, 64,
                                          found.data(), &count));
      check(count > 0, "no algorithm");
      std::vector<float> times;
      const float one = 1, zero = 0;
      for (int n = 0; n < count; ++n) {
        float best = 1e9f;
        for (int run = 0; run < 4; ++run) {  // the first is a warm-up
          float ms = 0;
          CUDA(cudaEventRecord(begin));
          if (cublasLtMatmul(handle, operation, &one, x, a, dy, b, &zero, dw, c, dw, c,
                             &found[n].algo, workspace, workspace_bytes,
                             nullptr) != CUBLAS_STATUS_SUCCESS)
            break;
          CUDA(cudaEventRecord(end)), CUDA(cudaEventSynchronize(end));
          CUDA(cudaEventElapsedTime(&ms, begin, end));
          if (run > 0) best = std::min(best, ms * 1000);
        }
        times.push_back(best);
      }
      const auto least = [&](int most) {
        return *std::min_element(times.begin(), times.begin() + std::min(most, count));
      };
      char name[32];
      std::snprintf(name, sizeof name, "%lld x %lld x %lld", (long long)o, (long long)i,
                    (long long)rows);
      std::printf("%-24s %5s %10.1f %10.1f %10.1f\n", name, processors ? "88" : "all", times[0],
                  least(8), least(64));
      std::fflush(stdout);
    }
  }
}
