// The innermost loops of gemm_rows.cpp for any processor, left to the compiler.
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/simd.h"

namespace tx::gemm {
namespace {

constexpr int kPanel = 16;  // four SSE vectors of floats

// group: 2 for bf16, whose consecutive k lie in pairs.
template <class T, int Rows, int Group>
void block(const void* x, int64_t stride, const void* panel, int64_t k, void* tile) {
  using A = acc_t<T>;
  const T* a = static_cast<const T*>(x);
  const T* b = static_cast<const T*>(panel);
  A sum[Rows][kPanel] = {};
  for (int64_t i = 0; i < k; i++) {
    const T* row = b + i / Group * Group * kPanel + i % Group;
    for (int r = 0; r < Rows; r++) {
      const A left = load(a[r * stride + i]);
#pragma omp simd
      for (int j = 0; j < kPanel; j++) sum[r][j] += left * load(row[j * Group]);
    }
  }
  std::memcpy(tile, sum, sizeof sum);
}

template <class T, int Group>
Micro loops() {
  return {"plain", kPanel, 2, {block<T, 1, Group>, block<T, 2, Group>}};
}

}  // namespace

Micro micro_plain(DType dtype) {
  if (dtype == DType::bf16) return loops<bf16, 2>();
  return dtype == DType::f64 ? loops<double, 1>() : loops<float, 1>();
}

}  // namespace tx::gemm
