// Inside of the products: how cpu.cpp, gemm*.cpp and their tests share the work. Not for users of
// kernels/.
//
//   gemm.cpp           checks, the choice of library, the members of Cpu
//   gemm_blas.cpp      f64 and f32 through OpenBLAS
//   gemm_onednn.cpp    bf16 and, on AVX-512, f32 through oneDNN
//   gemm_rows.cpp      products whose rows do not depend on their number (inference)
//   gemm_micro*.cpp    the innermost loops of those, one table per instruction set
#pragma once
#include <memory>
#include <string>

#include "kernels/cpu.h"

namespace tx::gemm {

// M, N and inner dimension K of p, after the transposes; asserts that shapes and dtypes agree.
struct Shape {
  int64_t m, n, k;
};
Shape shape_of(const Product& p);

// Zero on failure of aligned_alloc is turned into Error. 64-byte aligned.
void* aligned(size_t bytes);

struct Free {
  void operator()(void* p) const;
};
using Buffer = std::unique_ptr<void, Free>;

// -- OpenBLAS: f32 or f64, split over `threads`.
void blas_product(const Product& p, int threads);
std::string blas_description();

// -- oneDNN. Without it every function says so: has() is false, run() throws.
class OneDnn {
 public:
  OneDnn();
  ~OneDnn();
  // Creates the primitive of this shape unless it is there, and grows the scratch memory.
  void plan(const Product& p, int threads);
  void run(const Product& p, int threads);
  size_t scratch_bytes() const;
  // The implementation oneDNN chose for p, like "brg:avx512_core_bf16".
  std::string implementation(const Product& p, int threads);

  static bool built_in();
  static bool has_avx512();  // instruction sets in use, DNNL_MAX_CPU_ISA respected
  static bool has_avx512_bf16();
  static std::string description();

 private:
  struct Cache;
  std::unique_ptr<Cache> cache_;
};

// -- Rows. Bits depend on the instruction set, never on the number of rows, their place or threads.
enum class Isa { plain, avx2, avx512, avx512_bf16 };
Isa best_isa();  // of this processor

// One innermost loop: tile (rows, panel) = x (rows, k) times one packed panel of `panel` columns.
// tile holds doubles for f64, else floats, and is 64-byte aligned. x: elements of the dtype,
// `stride` apart.
using Block = void (*)(const void* x, int64_t stride, const void* panel, int64_t k, void* tile);
constexpr int kMaxRows = 12, kMaxPanel = 64;
struct Micro {
  const char* name = nullptr;
  int panel = 0;               // columns of one panel
  int rows = 0;                // most rows of one call
  Block block[kMaxRows] = {};  // for 1 .. rows rows
};
// The best loop for dtype that needs nothing beyond isa.
const Micro& micro(DType dtype, Isa isa);
Micro micro_plain(DType dtype);
Micro micro_avx2(DType dtype);    // f32, bf16 (widened to f32); no blocks on other processors
Micro micro_avx512(DType dtype);  // f32
Micro micro_avx512_bf16();

Matrix pack(Matrix weights, Isa isa);
void release_packed(Matrix& weights);
void packed_product(Matrix x, Matrix packed, Matrix bias, Activation activation, Matrix y,
                    int threads);

}  // namespace tx::gemm

namespace tx {

struct Cpu::Products {
  gemm::OneDnn onednn;
};

}  // namespace tx
