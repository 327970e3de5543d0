// Inside of the products: how cpu.cpp, gemm*.cpp and their tests share the work. Not for users of
// kernels/.
//
//   gemm.cpp           checks, the choice of library, the members of Cpu
//   gemm_blas.cpp      f64 and f32 through OpenBLAS
//   gemm_onednn.cpp    bf16 and, on AVX-512, f32 through oneDNN
//   gemm_own.cpp       our own, through panels: inference and bf16 training on AVX-512 BF16
//   gemm_panels.cpp    the two outer loops of those; gemm_fill.cpp packs panels
//   gemm_micro*.cpp    their innermost loops, one table per instruction set
//   gemm_int8*.cpp     8-bit weights: quantising, outer and innermost loops
#pragma once
#include <memory>
#include <string>

#include "kernels/cpu.h"
#include "kernels/cpu/gemm_int8.h"
#include "kernels/product.h"

namespace tx::gemm {

// 64-byte aligned; throws Error where aligned_alloc fails.
void* aligned(size_t bytes);

struct Free {
  void operator()(void* p) const;
};
using Buffer = std::unique_ptr<void, Free>;

// -- OpenBLAS: f32 or f64, split over `threads`.
void blas_product(const Product& p, int threads);
std::string blas_description();

// Memory that the products of one Cpu share; grows, never shrinks.
struct Scratch {
  Buffer memory;
  size_t bytes = 0;
  void* grow(size_t wanted);
};

// -- oneDNN. Without it built_in() is false and run() is a bug.
class OneDnn {
 public:
  OneDnn();
  ~OneDnn();
  // Creates the primitive of this shape unless it is there, and grows the scratch memory.
  void plan(const Product& p, int threads, Scratch& scratch);
  void run(const Product& p, int threads, Scratch& scratch);
  // The implementation oneDNN chose for p, like "brg:avx512_core_bf16".
  std::string implementation(const Product& p, int threads, Scratch& scratch);

  static bool built_in();
  static bool has_avx512();  // instruction sets in use, DNNL_MAX_CPU_ISA respected
  static bool has_avx512_bf16();
  static std::string description();

 private:
  struct Cache;
  std::unique_ptr<Cache> cache_;
};

// -- Our own. Bits depend on the instruction set, never on the number of rows, on their place or on
// threads.
enum class Isa { plain, avx2, avx512, avx512_bf16, amx };
Isa best_isa();  // of this processor, within isa_limit()

// The left operand as the innermost loops read it: bytes from a row to the next, and from one k to
// the next (for bf16 from one pair of k to the next, the two of a pair being neighbours).
struct Left {
  const char* data;
  int64_t row_step, k_step;
};
// One innermost loop: tile (rows, panel) = or += left (rows, k) times one panel of weights. tile
// holds doubles for f64, else floats; panel and tile are 64-byte aligned.
using Block = void (*)(Left left, const void* panel, int64_t k, void* tile, bool add);
constexpr int kMaxRows = 6, kMaxPanel = 64;
// The same by matrix instructions: bf16 whose k lie one behind another, up to kTilesRows rows.
using Tiles = void (*)(Left left, int64_t rows, const void* panel, int64_t k, float* tile,
                       bool add);
constexpr int64_t kTilesRows = 32;
// Finished sums (rows, panel) go to y: + bias, + y, activation, conversion.
template <class A>
struct Finish {
  const A* sums;
  int64_t panel, rows, columns;  // the first columns of each row count
  const A* bias;                 // or null
  bool relu, add;
  void* y;
  int64_t stride;  // elements
};
struct Micro {
  const char* name = nullptr;
  int panel = 0;                                          // columns of one panel
  int rows = 0;                                           // most rows of one call
  Block block[kMaxRows] = {};                             // for 1 .. rows rows
  void (*finish_bf16)(const Finish<float>& f) = nullptr;  // better than the compiler's, or null
  Tiles tiles = nullptr;                                  // in place of block, or null
};
// The best loop for dtype that needs nothing beyond isa.
const Micro& micro(DType dtype, Isa isa);
Micro micro_plain(DType dtype);
Micro micro_avx2(DType dtype);    // f32, bf16 (widened to f32); no blocks on other processors
Micro micro_avx512(DType dtype);  // f32
Micro micro_avx512_bf16();
Micro micro_amx();  // bf16, for products that are not transposed
bool has_amx();     // for bf16 and bytes, and the system lets this process use it

// A matrix as panels of `width` of its rows, each [k][row], for bf16 [k / 2][row][2]; missing rows
// and the odd last k are zero. Of w (O,I) the rows are those of w; transposed, of w (I,O), its
// columns.
void fill_panel(const Matrix& w, bool transposed, int64_t first, int64_t width, void* to);
size_t panel_bytes(DType dtype, int64_t width, int64_t k);

struct Panels {
  const Micro* micro = nullptr;
  const char* data = nullptr;  // 64-byte aligned
  int64_t count = 0;
  size_t bytes = 0;  // of one
};
Panels panels_of(const Matrix& w, bool transposed, const Micro& micro);  // data still to be set
void fill_panels(const Matrix& w, bool transposed, const Panels& panels, char* data, int threads);

// y (N,O) = or += x (N,I), or x (I,N) when transposed, times panels of weights (+ bias) (+ relu).
struct PanelProduct {
  Matrix x, bias, y;
  bool transposed = false, relu = false, add = false;
  Panels w;
  char* scratch = nullptr;  // when transposed: left_bytes(), 64-byte aligned
};
void panel_product(const PanelProduct& p, int threads);
size_t left_bytes(const PanelProduct& p, int threads);

// Cpu::prepare, Cpu::pick_rows and Cpu::matmul_invariant on packed weights.
Matrix pack(Matrix weights, Isa isa);
// The same from the host; f32, bf16 or i8, whose matrix is one of f32.
Matrix pack(const WeightRows& from, DType dtype, Isa isa, int threads);
Matrix attach(const Int8Weights& weights);         // as they are
const Int8Weights* int8_of(const Matrix& packed);  // null: they are not of 8 bits
void pick(const Matrix& from, const int32_t* rows, int64_t count, Matrix& picked, int threads);
void release_packed(Matrix& weights);
void packed_product(Matrix x, Matrix packed, Matrix bias, Activation activation, Matrix y,
                    int threads);

// A training product: packs b, and a where it is transposed, then runs the loops of `isa`.
void own_product(const Product& p, Isa isa, int threads, Scratch& scratch);
size_t own_scratch_bytes(const Product& p, Isa isa, int threads);

}  // namespace tx::gemm

namespace tx {

struct Cpu::Products {
  gemm::OneDnn onednn;
  gemm::Scratch scratch;
};

}  // namespace tx
