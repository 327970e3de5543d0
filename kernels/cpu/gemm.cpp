// The members of Cpu that multiply matrices: checks and the choice of library.
#include "kernels/cpu/gemm.h"

#include <cstdlib>

#include "lib/base/error.h"

namespace tx {
namespace gemm {

Shape shape_of(const Product& p) {
  const int64_t m = p.transpose_a ? p.a.cols : p.a.rows;
  const int64_t k = p.transpose_a ? p.a.rows : p.a.cols;
  const int64_t n = p.transpose_b ? p.b.rows : p.b.cols;
  TX_ASSERT(k > 0 && (p.transpose_b ? p.b.cols : p.b.rows) == k);
  TX_ASSERT(p.c.rows == m && p.c.cols == n);
  TX_ASSERT(p.a.stride >= p.a.cols && p.b.stride >= p.b.cols && p.c.stride >= p.c.cols);
  const DType t = p.a.dtype;
  TX_ASSERT(t == DType::f32 || t == DType::f64 || t == DType::bf16);
  TX_ASSERT(p.b.dtype == t && (p.c.dtype == t || (t == DType::bf16 && p.c.dtype == DType::f32)));
  TX_ASSERT(p.activation == Activation::none || p.activation == Activation::relu);
  TX_ASSERT(!p.accumulate || (p.bias.empty() && p.activation == Activation::none));
  const DType b = t == DType::f64 ? DType::f64 : DType::f32;
  TX_ASSERT(p.bias.empty() || (p.bias.dtype == b && p.bias.rows == 1 && p.bias.cols == n));
  return {m, n, k};
}

void* aligned(size_t bytes) {
  void* p = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!p) throw Error("cannot allocate " + std::to_string(bytes) + " bytes for a matrix product");
  return p;
}

void Free::operator()(void* p) const { std::free(p); }

namespace {

// f32 on AVX-512 is faster through oneDNN's brgemm; below that oneDNN has only its gemm:jit, and
// OpenBLAS is the faster one.
bool through_onednn(DType t) {
  if (t == DType::f64) return false;
  if (t == DType::f32) return OneDnn::has_avx512();
  const std::string reason = Cpu::no_bf16_reason();
  if (!reason.empty()) throw UsageError("--precision bf16: " + reason + "; use --precision fp32");
  return true;
}

}  // namespace
}  // namespace gemm

void Cpu::product(const Product& p) {
  const gemm::Shape s = gemm::shape_of(p);
  if (s.m == 0 || s.n == 0) return;
  if (gemm::through_onednn(p.a.dtype)) {
    products_->onednn.run(p, threads);
  } else {
    gemm::blas_product(p, threads);
  }
}

void Cpu::plan_product(const Product& p) {
  const gemm::Shape s = gemm::shape_of(p);
  if (s.m == 0 || s.n == 0) return;
  if (gemm::through_onednn(p.a.dtype)) products_->onednn.plan(p, threads);
}

size_t Cpu::scratch_bytes() const { return products_->onednn.scratch_bytes(); }

Matrix Cpu::prepare(Matrix weights) { return gemm::pack(weights, gemm::best_isa()); }
void Cpu::release_prepared(Matrix& weights) { gemm::release_packed(weights); }
void Cpu::product_rows(Matrix x, Matrix prepared, Matrix bias, Activation activation, Matrix y) {
  gemm::packed_product(x, prepared, bias, activation, y, threads);
}

}  // namespace tx
