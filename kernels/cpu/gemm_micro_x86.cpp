// The innermost loops of gemm_rows.cpp for x86. Each function names its instruction set, so that
// one object file holds them all and no inline function of the standard library is compiled for a
// processor that does not have it.
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/simd.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <utility>

#define TX_AVX2 __attribute__((target("avx2,fma")))
#define TX_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,fma")))
#define TX_AVX512_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))
#define TX_UNROLL _Pragma("GCC unroll 16")

namespace tx::gemm {
namespace {

template <int Rows, int Vectors>
TX_AVX2 void f32_avx2(const void* x, int64_t stride, const void* panel, int64_t k, void* tile) {
  const float* a = static_cast<const float*>(x);
  const float* b = static_cast<const float*>(panel);
  __m256 sum[Rows][Vectors];
  TX_UNROLL for (int r = 0; r < Rows; r++) {
    TX_UNROLL for (int v = 0; v < Vectors; v++) sum[r][v] = _mm256_setzero_ps();
  }
  for (int64_t i = 0; i < k; i++, a++, b += 8 * Vectors) {
    __m256 right[Vectors];
    TX_UNROLL for (int v = 0; v < Vectors; v++) right[v] = _mm256_load_ps(b + 8 * v);
    TX_UNROLL for (int r = 0; r < Rows; r++) {
      const __m256 left = _mm256_broadcast_ss(a + r * stride);
      TX_UNROLL for (int v = 0; v < Vectors; v++) {
        sum[r][v] = _mm256_fmadd_ps(left, right[v], sum[r][v]);
      }
    }
  }
  float* out = static_cast<float*>(tile);
  TX_UNROLL for (int r = 0; r < Rows; r++) {
    TX_UNROLL for (int v = 0; v < Vectors; v++) {
      _mm256_store_ps(out + (r * Vectors + v) * 8, sum[r][v]);
    }
  }
}

// bf16 widened: the even k of every pair are the low halves, the odd ones the high halves.
template <int Rows, int Vectors>
TX_AVX2 void bf16_avx2(const void* x, int64_t stride, const void* panel, int64_t k, void* tile) {
  const bf16* a = static_cast<const bf16*>(x);
  const __m256i* b = static_cast<const __m256i*>(panel);
  const __m256i high = _mm256_set1_epi32(int(0xffff0000u));
  __m256 sum[Rows][Vectors];
  TX_UNROLL for (int r = 0; r < Rows; r++) {
    TX_UNROLL for (int v = 0; v < Vectors; v++) sum[r][v] = _mm256_setzero_ps();
  }
  for (int64_t i = 0; i < k; i++, a++) {
    __m256 right[Vectors];
    TX_UNROLL for (int v = 0; v < Vectors; v++) {
      const __m256i pair = _mm256_load_si256(b + v);
      right[v] =
          _mm256_castsi256_ps(i % 2 ? _mm256_and_si256(pair, high) : _mm256_slli_epi32(pair, 16));
    }
    TX_UNROLL for (int r = 0; r < Rows; r++) {
      const __m256 left = _mm256_castsi256_ps(_mm256_set1_epi32(int(a[r * stride].bits) << 16));
      TX_UNROLL for (int v = 0; v < Vectors; v++) {
        sum[r][v] = _mm256_fmadd_ps(left, right[v], sum[r][v]);
      }
    }
    b += i % 2 ? Vectors : 0;
  }
  float* out = static_cast<float*>(tile);
  TX_UNROLL for (int r = 0; r < Rows; r++) {
    TX_UNROLL for (int v = 0; v < Vectors; v++) {
      _mm256_store_ps(out + (r * Vectors + v) * 8, sum[r][v]);
    }
  }
}

template <int Rows, int Vectors>
TX_AVX512 void f32_avx512(const void* x, int64_t stride, const void* panel, int64_t k, void* tile) {
  const float* a = static_cast<const float*>(x);
  const float* b = static_cast<const float*>(panel);
  __m512 sum[Rows][Vectors];
  TX_UNROLL for (int r = 0; r < Rows; r++) {
    TX_UNROLL for (int v = 0; v < Vectors; v++) sum[r][v] = _mm512_setzero_ps();
  }
  for (int64_t i = 0; i < k; i++, a++, b += 16 * Vectors) {
    __m512 right[Vectors];
    TX_UNROLL for (int v = 0; v < Vectors; v++) right[v] = _mm512_load_ps(b + 16 * v);
    TX_UNROLL for (int r = 0; r < Rows; r++) {
      const __m512 left = _mm512_set1_ps(a[r * stride]);
      TX_UNROLL for (int v = 0; v < Vectors; v++) {
        sum[r][v] = _mm512_fmadd_ps(left, right[v], sum[r][v]);
      }
    }
  }
  float* out = static_cast<float*>(tile);
  TX_UNROLL for (int r = 0; r < Rows; r++) {
    TX_UNROLL for (int v = 0; v < Vectors; v++) {
      _mm512_store_ps(out + (r * Vectors + v) * 16, sum[r][v]);
    }
  }
}

inline int load_pair(const char* from) {
  int pair;
  std::memcpy(&pair, from, 4);
  return pair;
}

template <int Rows, int Vectors>
TX_AVX512_BF16 void bf16_avx512(const void* x, int64_t stride, const void* panel, int64_t k,
                                void* tile) {
  const char* a = static_cast<const char*>(x);
  const __m512i* b = static_cast<const __m512i*>(panel);
  __m512 sum[Rows][Vectors];
  TX_UNROLL for (int r = 0; r < Rows; r++) {
    TX_UNROLL for (int v = 0; v < Vectors; v++) sum[r][v] = _mm512_setzero_ps();
  }
  for (int64_t i = 0; i < k / 2; i++, a += 4, b += Vectors) {
    __m512bh right[Vectors];
    TX_UNROLL for (int v = 0; v < Vectors; v++) right[v] = (__m512bh)_mm512_load_si512(b + v);
    TX_UNROLL for (int r = 0; r < Rows; r++) {
      const __m512bh left = (__m512bh)_mm512_set1_epi32(load_pair(a + r * stride * 2));
      TX_UNROLL for (int v = 0; v < Vectors; v++) {
        sum[r][v] = _mm512_dpbf16_ps(sum[r][v], left, right[v]);
      }
    }
  }
  // The last of an odd number of k is alone: its neighbour in x is not ours to read.
  if (k % 2) {
    TX_UNROLL for (int r = 0; r < Rows; r++) {
      uint16_t last;
      std::memcpy(&last, a + r * stride * 2, 2);
      const __m512bh left = (__m512bh)_mm512_set1_epi32(last);
      TX_UNROLL for (int v = 0; v < Vectors; v++) {
        sum[r][v] = _mm512_dpbf16_ps(sum[r][v], left, (__m512bh)_mm512_load_si512(b + v));
      }
    }
  }
  float* out = static_cast<float*>(tile);
  TX_UNROLL for (int r = 0; r < Rows; r++) {
    TX_UNROLL for (int v = 0; v < Vectors; v++) {
      _mm512_store_ps(out + (r * Vectors + v) * 16, sum[r][v]);
    }
  }
}

template <int... R>
Micro table(Micro m, DType t, std::integer_sequence<int, R...>) {
  m.rows = sizeof...(R);
  ((m.block[R] = t == DType::bf16 ? bf16_avx2<R + 1, 2> : f32_avx2<R + 1, 2>), ...);
  return m;
}
template <int... R>
Micro table512(Micro m, DType t, std::integer_sequence<int, R...>) {
  m.rows = sizeof...(R);
  ((m.block[R] = t == DType::bf16 ? bf16_avx512<R + 1, 4> : f32_avx512<R + 1, 4>), ...);
  return m;
}

}  // namespace

Isa best_isa() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    return __builtin_cpu_supports("avx512bf16") ? Isa::avx512_bf16 : Isa::avx512;
  }
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? Isa::avx2 : Isa::plain;
}

Micro micro_avx2(DType dtype) {
  return table({"AVX2", 16}, dtype, std::make_integer_sequence<int, 6>());
}
Micro micro_avx512(DType dtype) {
  return table512({"AVX-512", 64}, dtype, std::make_integer_sequence<int, 6>());
}
Micro micro_avx512_bf16() {
  return table512({"AVX-512 BF16", 64}, DType::bf16, std::make_integer_sequence<int, 6>());
}

}  // namespace tx::gemm

#else

namespace tx::gemm {

Isa best_isa() { return Isa::plain; }
Micro micro_avx2(DType) { return {}; }
Micro micro_avx512(DType) { return {}; }
Micro micro_avx512_bf16() { return {}; }

}  // namespace tx::gemm

#endif
