// The innermost loops of our own products for any processor, left to the compiler.
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/simd.h"

namespace tx::gemm {
namespace {

constexpr int kPanel = 16;  // four SSE vectors of floats

// Group: 2 for bf16, whose k are in pairs.
template <class T, int Rows, int Group>
void block(Left left, const void* panel, int64_t k, void* tile, bool add) {
  using A = acc_t<T>;
  const T* b = static_cast<const T*>(panel);
  A sum[Rows][kPanel] = {};
  if (add) std::memcpy(sum, tile, sizeof sum);
  for (int64_t i = 0; i < k; i++) {
    const T* right = b + i / Group * Group * kPanel + i % Group;
    const char* a = left.data + i / Group * left.k_step;
    for (int r = 0; r < Rows; r++) {
      const A x = load(reinterpret_cast<const T*>(a + r * left.row_step)[i % Group]);
#pragma omp simd
      for (int j = 0; j < kPanel; j++) sum[r][j] += x * load(right[j * Group]);
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
