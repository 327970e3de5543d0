// For the innermost loops for x86. Each function names its instruction set: if the whole file had
// one, the linker could choose its inline functions for older processors.
#pragma once
#include <immintrin.h>

#include "kernels/cpu/simd.h"

#define TX_AVX2 __attribute__((target("avx2,fma")))
#define TX_AVX_VNNI __attribute__((target("avx2,avxvnni")))
#define TX_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,fma")))
#define TX_AVX512_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define TX_AVX512_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))
#define TX_UNROLL _Pragma("GCC unroll 16")
// For every sum of a block of Rows x Vectors.
#define TX_EACH(r, v) \
  TX_UNROLL for (int r = 0; r < Rows; r++) TX_UNROLL for (int v = 0; v < Vectors; v++)

namespace tx::gemm {

// Two bf16, or four of 8 bits.
TX_INLINE int load_four_bytes(const char* from) {
  int bytes;
  std::memcpy(&bytes, from, 4);
  return bytes;
}

}  // namespace tx::gemm
