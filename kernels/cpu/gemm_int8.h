// Products with the 8-bit weights of kernels/int8.h. Activations are quantised as they come, too,
// symmetric per row. Sums are exact 32-bit integers: every instruction set gives the same ones, and
// a row of the product depends on nothing beside itself.
#pragma once
#include "kernels/cpu/gemm.h"
#include "kernels/int8.h"
#include "kernels/view.h"

namespace tx::gemm {

// How many bytes int8_product() needs for N rows of `inputs`.
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
  const int32_t* start;  // of each row: -128 times the sum of its q
};
struct Int8Right {
  const uint8_t* groups;
  int64_t group_bytes, quads;
  bool last;  // no other rows read these groups next, but maybe the groups behind them
};
using Int8Block = void (*)(const Int8Left& left, const Int8Right& right, int32_t* tile);
constexpr int kInt8MaxRows = 6, kInt8MaxGroups = 4;
// Up to kTilesRows rows and kInt8MaxGroups groups by matrix instructions.
using Int8Tiles = void (*)(const Int8Left& left, int64_t rows, const Int8Right& right,
                           int64_t groups, int32_t* tile);
constexpr int kInt8LeastTileRows = 4;  // fewer are faster without
// tile is (rows, groups * 16) of int32, 64-byte aligned.
struct Int8Micro {
  const char* name = nullptr;
  int rows = 0, groups = 0;                            // most of one call
  bool wide = false;                                   // the left operand's q have 16 bits
  Int8Block block[kInt8MaxRows][kInt8MaxGroups] = {};  // [rows - 1][groups - 1]
  Int8Tiles tiles = nullptr;                           // for many rows, if there is a better way
};
enum class Int8Isa { plain, avx2, avx_vnni, avx512_vnni, amx };
Int8Isa best_int8_isa();                   // of this processor, within isa_limit()
bool has_avx_vnni();                       // the form of VNNI that needs no AVX-512
const Int8Micro& int8_micro(Int8Isa isa);  // the best that needs nothing beyond isa
Int8Micro int8_micro_avx2();               // these have no blocks on other processors
Int8Micro int8_micro_avx_vnni();
Int8Micro int8_micro_avx512_vnni();
Int8Tiles int8_tiles_amx();

void int8_product(const Int8Product& p, const Int8Micro& micro, int threads);

}  // namespace tx::gemm
