// Internals of the products, shared by cpu.cpp, gemm*.cpp and their tests:
//   gemm.cpp           checks, the choice of library, the members of Cpu
//   gemm_blas.cpp      f64 and f32 through OpenBLAS
//   gemm_onednn.cpp    f32 on AVX-512 and bf16 by fast bf16 instructions through oneDNN
//   gemm_own.cpp       our own, through panels: inference, and bf16 where oneDNN is not used
//   gemm_panels.cpp    their packing and outer loops
//   gemm_micro.cpp     their innermost loops, one table per instruction set; gemm_neon.cpp: ARM64
//   gemm_int8*.cpp     8-bit weights: quantising, outer and innermost loops
#pragma once
#include <memory>
#include <string>

#include "kernels/cpu.h"
#include "kernels/int8.h"
#include "kernels/view.h"

namespace tx::gemm {

// 64-byte aligned; Error if the allocation fails.
void* aligned(size_t bytes);

struct Free {
  void operator()(void* p) const;
};
using Buffer = std::unique_ptr<void, Free>;

// -- OpenBLAS: f32 or f64, split over `threads`.
void blas_product(const Product& p, int threads);
std::string blas_description();

// Scratch memory shared by the products of one Cpu; grows, never shrinks.
struct Scratch {
  Buffer memory;
  size_t bytes = 0;
  void* grow(size_t wanted);
};

// -- oneDNN. Without it built_in() is false and run() must not be called.
class OneDnn {
 public:
  OneDnn();
  ~OneDnn();
  // Creates the primitive of this shape unless it exists, and grows the scratch memory.
  void plan(const Product& p, int threads, Scratch& scratch);
  void run(const Product& p, int threads, Scratch& scratch);
  static bool built_in();
  static bool has_avx512();  // instruction sets in use, DNNL_MAX_CPU_ISA respected
  static bool has_avx512_bf16();
  static std::string description();

 private:
  struct Cache;
  std::unique_ptr<Cache> cache_;
};

// -- Our own. Bits depend on the instruction set, not on the number of rows, positions or threads.
enum class Isa { plain, avx2, avx512, avx512_bf16, amx, neon, neon_bf16 };
// Of this processor, within isa_limit(); avx512_bf16 only if its products are faster than fp32's.
Isa best_isa();

// The left operand of the innermost loops: steps in bytes from row to row and from k to k (for bf16
// that is not widened, from pair to pair of k; the two of a pair are adjacent).
struct Left {
  const char* data;
  int64_t row_step, k_step;
};
// One innermost loop: tile (rows, panel) = or += left (rows, k) times one panel, both aligned.
using Block = void (*)(Left left, const void* panel, int64_t k, void* tile, bool add);
constexpr int kMaxRows = 6, kMaxPanel = 64;
// The same by matrix instructions: bf16 with contiguous k, up to kTilesRows rows.
using Tiles = void (*)(Left left, int64_t rows, const void* panel, int64_t k, float* tile,
                       bool add);
constexpr int64_t kTilesRows = 32;
// Writes finished sums (rows, panel) to y: + bias, + y, activation, conversion.
template <class A>
struct Finish {
  const A* sums;
  int64_t panel, rows, columns;  // only the first `columns` of each row are valid
  const A* bias;                 // or null
  bool relu, add;
  void* y;
  int64_t stride;  // elements
};
struct Micro {
  const char* name = nullptr;
  int panel = 0;                                          // columns of one panel
  int rows = 0;                                           // maximum of one call
  Block block[kMaxRows] = {};                             // for 1 .. rows rows
  void (*finish_bf16)(const Finish<float>& f) = nullptr;  // faster than the compiler's, or null
  Tiles tiles = nullptr;                                  // instead of block, or null
  // bf16 by f32 arithmetic, with the bits of `block`: left is f32; these also read a widened panel.
  Block wide[kMaxRows] = {};
  bool widened() const { return wide[0] != nullptr; }
};
// The fastest loop for dtype within isa.
const Micro& micro(DType dtype, Isa isa);
Micro micro_plain(DType dtype);
Micro micro_avx2(DType dtype);    // f32, bf16 (widened); empty on other processors
Micro micro_avx512(DType dtype);  // the same
Micro micro_avx512_bf16();
Micro micro_amx();              // bf16, for products that are not transposed
Micro micro_neon(DType dtype);  // f32, bf16 (widened); empty on other processors
Micro micro_neon_bf16();
bool has_amx();  // for bf16 and 8-bit weights; also asks Linux for permission

// Packs a panel: `width` rows as [k][row], for bf16 [k / 2][row][2]; missing rows and an odd last k
// are zero-padded. The rows are those of w (O,I) or, transposed, the columns of w (I,O).
void fill_panel(const Matrix& w, bool transposed, int64_t first, int64_t width, void* to);
size_t panel_bytes(DType dtype, int64_t width, int64_t k);

struct Panels {
  const Micro* micro = nullptr;
  const char* data = nullptr;  // 64-byte aligned
  int64_t count = 0;
  size_t bytes = 0;  // of one
};
Panels panels_of(const Matrix& w, bool transposed, const Micro& micro);  // without data
void fill_panels(const Matrix& w, bool transposed, const Panels& panels, char* data, int threads);

// y (N,O) = or += x (N,I), or x (I,N) when transposed, times panels of weights (+ bias) (+ relu).
struct PanelProduct {
  Matrix x, bias, y;
  bool transposed = false, relu = false, add = false;
  Panels w;
  char* scratch = nullptr;  // left_bytes(), 64-byte aligned
};
void panel_product(const PanelProduct& p, int threads);
size_t left_bytes(const PanelProduct& p, int threads);  // 0 if x is read in place

// Cpu::prepare, Cpu::pick_rows and Cpu::matmul_invariant on packed weights.
Matrix pack(Matrix weights, Isa isa);
// From the host; f32, bf16 or i8. The matrix of i8 has the dtype f32.
Matrix pack(const WeightRows& from, DType dtype, Isa isa, int threads);
Matrix attach(const Int8Weights& weights);         // in place
const Int8Weights* int8_of(const Matrix& packed);  // null: not 8-bit
void pick(const Matrix& from, const int32_t* rows, int64_t count, Matrix& picked, int threads);
void release_packed(Matrix& weights);
void packed_product(Matrix x, Matrix packed, Matrix bias, Activation activation, Matrix y,
                    int threads, Scratch& scratch);

// A training product: packs b, and a if it is transposed, then runs the loops of `isa`.
void own_product(const Product& p, Isa isa, int threads, Scratch& scratch);
size_t own_scratch_bytes(const Product& p, Isa isa, int threads);

// -- Products with the 8-bit weights of kernels/int8.h. Activations are quantised, too,
// symmetrically per row. Sums are exact 32-bit integers, the same with every instruction set; a row
// of the product does not depend on the others.

// Scratch bytes of int8_product() for N rows of `inputs`.
size_t int8_scratch_bytes(int64_t rows, int64_t inputs);
// y (N,O) f32 or bf16 = x (N,I) f32 or bf16 times w^T (+ bias f32) (+ relu).
struct Int8Product {
  Matrix x, bias, y;
  bool relu = false;
  Int8Weights w;
  char* scratch = nullptr;  // 64-byte aligned
};

// Tiles of sums: `rows` rows of quantised activations times `vectors` groups of weights.
struct Int8Left {
  const char* data;      // row r at data + r * step, padded with zeros to whole quads
  int64_t step;          // bytes
  const int32_t* start;  // of each row: -128 times the sum of its q; 0 with Int8Micro::split
};
struct Int8Right {
  const uint8_t* groups;
  int64_t group_bytes, quads;
  bool last;  // the last use of these groups: prefetch the next ones
};
using Int8Block = void (*)(const Int8Left& left, const Int8Right& right, int32_t* tile);
constexpr int kInt8MaxRows = 6, kInt8MaxGroups = 4;
// Up to kTilesRows rows and kInt8MaxGroups groups by matrix instructions.
using Int8Tiles = void (*)(const Int8Left& left, int64_t rows, const Int8Right& right,
                           int64_t groups, int32_t* tile);
constexpr int kInt8LeastTileRows = 4;  // fewer rows are faster without tiles
// tile is (rows, groups * 16) of int32, 64-byte aligned.
struct Int8Micro {
  const char* name = nullptr;
  int rows = 0, groups = 0;  // maximum of one call
  bool split = false;        // each quad of the left operand is |q|, then q
  Int8Block block[kInt8MaxRows][kInt8MaxGroups] = {};  // [rows - 1][groups - 1]
  Int8Tiles tiles = nullptr;                           // for many rows, or null
};
enum class Int8Isa { plain, avx2, avx_vnni, avx512_vnni, amx, neon, dotprod, i8mm };
Int8Isa best_int8_isa();                   // of this processor, within isa_limit()
bool has_avx_vnni();                       // VNNI without AVX-512
const Int8Micro& int8_micro(Int8Isa isa);  // the fastest within isa
Int8Micro int8_micro_avx2();               // empty on other processors, as are the next ones
Int8Micro int8_micro_avx_vnni();
Int8Micro int8_micro_avx512_vnni();
Int8Micro int8_micro_neon();
Int8Micro int8_micro_dotprod();
Int8Micro int8_micro_i8mm();
Int8Tiles int8_tiles_amx();

void int8_product(const Int8Product& p, const Int8Micro& micro, int threads);

}  // namespace tx::gemm

namespace tx {

struct Cpu::Products {
  gemm::OneDnn onednn;
  gemm::Scratch scratch;
};

}  // namespace tx
