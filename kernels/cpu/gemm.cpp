// The matrix products of Cpu: checks and choice of library.
#include "kernels/cpu/gemm.h"

#include <cstdlib>

#include "kernels/cpu/profile.h"
#include "lib/base/error.h"

namespace tx {
namespace gemm {

void* aligned(size_t bytes) {
  void* p = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!p)
    throw Error("out of memory: cannot allocate " + std::to_string(bytes) + " bytes for a product");
  return p;
}

void Free::operator()(void* p) const { std::free(p); }

void* Scratch::grow(size_t wanted) {
  if (wanted > bytes) {
    memory.reset();
    bytes = 0;
    memory.reset(aligned(wanted));
    bytes = wanted;
  }
  return memory.get();
}

namespace {

enum class Library { blas, onednn, own };

// With AVX-512, oneDNN's brgemm is faster than OpenBLAS in f32: by 5-10 % on Zen 4, and twice as
// fast where OpenBLAS uses its Haswell kernels; without, it is no faster. In bf16 on Zen 4 our own
// loops are within 3 % of oneDNN's (10 % at 128 inputs); with AMX oneDNN is much faster. Below
// AVX-512 oneDNN 2.6 has no bf16 product: our own loops widen bf16.
Library library_for(DType t) {
  if (t == DType::f64) return Library::blas;
  if (t == DType::f32) return OneDnn::has_avx512() ? Library::onednn : Library::blas;
  const bool fast = best_isa() >= Isa::avx512_bf16 && OneDnn::has_avx512_bf16();
  return fast ? Library::onednn : Library::own;
}

}  // namespace
}  // namespace gemm

using gemm::Library;

void Cpu::product(const Product& p) {
  const Timed timed(profile_.get(), p.a.dtype == DType::bf16 ? "products, bf16" : "products, fp32",
                    product_work(p));
  const ProductShape s = shape_of(p);
  if (s.m == 0 || s.n == 0) return;
  switch (gemm::library_for(p.a.dtype)) {
    case Library::blas:
      return gemm::blas_product(p, threads);
    case Library::onednn:
      return products_->onednn.run(p, threads, products_->scratch);
    case Library::own:
      gemm::own_product(p, gemm::best_isa(), threads, products_->scratch);
  }
}

void Cpu::product_aside(const Product& p) { product(p); }
bool Cpu::has_branches() const { return false; }
void Cpu::join() {}

void Cpu::plan_product(const Product& p) {
  const ProductShape s = shape_of(p);
  if (s.m == 0 || s.n == 0) return;
  const Library library = gemm::library_for(p.a.dtype);
  if (library == Library::onednn) products_->onednn.plan(p, threads, products_->scratch);
  if (library == Library::own)
    products_->scratch.grow(gemm::own_scratch_bytes(p, gemm::best_isa(), threads));
}

size_t Cpu::scratch_bytes() const { return products_->scratch.bytes; }

Matrix Cpu::prepare(Matrix weights) { return gemm::pack(weights, gemm::best_isa()); }
Matrix Cpu::prepare_rows(const WeightRows& from, DType dtype) {
  return gemm::pack(from, dtype, gemm::best_isa(), threads);
}
Matrix Cpu::prepare_int8(const Int8Weights& weights) { return gemm::attach(weights); }
void Cpu::pick_rows(Matrix prepared, const int32_t* rows, int64_t count, Matrix& picked) {
  gemm::pick(prepared, rows, count, picked, threads);
}
void Cpu::release_prepared(Matrix& weights) { gemm::release_packed(weights); }
void Cpu::matmul_invariant(Matrix x, Matrix prepared, Matrix bias, Activation activation,
                           Matrix y) {
  const Timed timed(profile_.get(), x.dtype == DType::bf16 ? "rows, bf16" : "rows, fp32",
                    {traffic(x, prepared, bias, y).bytes,
                     2.0 * double(x.rows) * double(x.cols) * double(prepared.rows)});
  if (const Int8Weights* w = gemm::int8_of(prepared)) {
    void* scratch = products_->scratch.grow(gemm::int8_scratch_bytes(x.rows, x.cols));
    return gemm::int8_product(
        {x, bias, y, activation == Activation::relu, *w, static_cast<char*>(scratch)},
        gemm::int8_micro(gemm::best_int8_isa()), threads);
  }
  gemm::packed_product(x, prepared, bias, activation, y, threads, products_->scratch);
}

}  // namespace tx
