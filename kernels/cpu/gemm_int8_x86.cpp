// The innermost loops of products with 8-bit weights for x86. VNNI multiplies and adds four bytes
// at a time, exactly. AVX2 adds two products of an unsigned and a signed byte in 16 bits, which is
// exact for |x| and a weight with the sign of x: 2 * 127 * 127 < 2^15.
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/simd.h"

#if defined(__x86_64__)
#include <cpuid.h>

#include <utility>

#include "kernels/cpu/x86.h"

namespace tx::gemm {
namespace {

// Cache lines per group that are prefetched during the last use of a panel, because hardware does
// not prefetch across pages: four rows took 1.3 times as long without.
constexpr int64_t kAhead = 64;

// Panels of one group follow one another in memory: prefetches the weights 8 KB ahead.
TX_INLINE void prefetch_stream(const __m256i* w) {
  __builtin_prefetch(reinterpret_cast<const char*>(w) + 2 * kAhead * 64);
}

// Few rows have few independent sums; two alternating sets hide the latency.
template <int Rows, int Vectors>
TX_AVX512_VNNI void block_vnni(const Int8Left& left, const Int8Right& right, int32_t* tile) {
  constexpr int Turns = Rows * Vectors <= 12 ? 2 : 1;
  __m512i sum[Turns][Rows][Vectors];
  TX_EACH(r, g) {
    sum[0][r][g] = _mm512_set1_epi32(left.start[r]);
    if (Turns == 2) sum[Turns - 1][r][g] = _mm512_setzero_si512();
  }
  const char* a = left.data;
  const uint8_t* w = right.groups;
  const int64_t last = right.last ? right.quads - kAhead : right.quads;
  const int64_t step = right.last ? kAhead * 64 : 0, panel = (Vectors - 1) * right.group_bytes;
  for (int64_t k = 0; k < right.quads; k += Turns) {
    const int64_t ahead = k < last ? step : step + panel;  // then the next groups
    TX_UNROLL for (int turn = 0; turn < Turns; turn++) {
      if (turn > 0 && k + turn == right.quads) break;
      __m512i weights[Vectors];
      TX_UNROLL for (int g = 0; g < Vectors; g++) {
        weights[g] = _mm512_load_si512(w + g * right.group_bytes);
        _mm_prefetch(w + g * right.group_bytes + ahead, _MM_HINT_T0);
      }
      TX_UNROLL for (int r = 0; r < Rows; r++) {
        const __m512i x = _mm512_set1_epi32(load_four_bytes(a + r * left.step));
        TX_UNROLL for (int g = 0; g < Vectors; g++) sum[turn][r][g] =
            _mm512_dpbusd_epi32(sum[turn][r][g], weights[g], x);
      }
      a += 4, w += 64;
    }
  }
  TX_EACH(r, g) {
    __m512i s = sum[0][r][g];
    if (Turns == 2) s = _mm512_add_epi32(s, sum[Turns - 1][r][g]);
    _mm512_store_si512(tile + (r * Vectors + g) * 16, s);
  }
}

// VNNI of processors without AVX-512: a group is two vectors. For up to three
// rows, two alternating sets of sums hide the latency.
template <int Rows, int Vectors = 2>
TX_AVX_VNNI void block_avx_vnni(const Int8Left& left, const Int8Right& right, int32_t* tile) {
  constexpr int Turns = Rows <= 3 ? 2 : 1;
  __m256i sum[Turns][Rows][Vectors];
  TX_EACH(r, v) {
    sum[0][r][v] = _mm256_set1_epi32(left.start[r]);
    if (Turns == 2) sum[Turns - 1][r][v] = _mm256_setzero_si256();
  }
  const char* a = left.data;
  const __m256i* w = reinterpret_cast<const __m256i*>(right.groups);
  for (int64_t k = 0; k < right.quads; k += Turns) {
    TX_UNROLL for (int turn = 0; turn < Turns; turn++) {
      if (turn > 0 && k + turn == right.quads) break;
      const __m256i weights[2] = {_mm256_load_si256(w), _mm256_load_si256(w + 1)};
      prefetch_stream(w);
      TX_UNROLL for (int r = 0; r < Rows; r++) {
        const __m256i x = _mm256_set1_epi32(load_four_bytes(a + r * left.step));
        TX_UNROLL for (int v = 0; v < 2; v++) sum[turn][r][v] =
            _mm256_dpbusd_avx_epi32(sum[turn][r][v], weights[v], x);
      }
      a += 4, w += 2;
    }
  }
  TX_EACH(r, v) {
    __m256i s = sum[0][r][v];
    if (Turns == 2) s = _mm256_add_epi32(s, sum[Turns - 1][r][v]);
    _mm256_store_si256(reinterpret_cast<__m256i*>(tile + r * 16 + v * 8), s);
  }
}

template <int Rows, int Vectors = 2>
TX_AVX2 void block_avx2(const Int8Left& left, const Int8Right& right, int32_t* tile) {
  __m256i sum[Rows][Vectors];
  TX_EACH(r, v)
  sum[r][v] = _mm256_setzero_si256();
  const char* a = left.data;
  const __m256i* w = reinterpret_cast<const __m256i*>(right.groups);
  const __m256i ones = _mm256_set1_epi16(1), top = _mm256_set1_epi8(-128);
  for (int64_t k = 0; k < right.quads; k++, a += 8, w += 2) {
    prefetch_stream(w);
    const __m256i weights[2] = {_mm256_xor_si256(_mm256_load_si256(w), top),  // q + 128 to q
                                _mm256_xor_si256(_mm256_load_si256(w + 1), top)};
    TX_UNROLL for (int r = 0; r < Rows; r++) {
      const char* both = a + r * left.step;
      const __m256i size = _mm256_set1_epi32(load_four_bytes(both));
      const __m256i x = _mm256_set1_epi32(load_four_bytes(both + 4));
      TX_UNROLL for (int v = 0; v < 2; v++) {
        const __m256i pairs = _mm256_maddubs_epi16(size, _mm256_sign_epi8(weights[v], x));
        sum[r][v] = _mm256_add_epi32(sum[r][v], _mm256_madd_epi16(pairs, ones));
      }
    }
  }
  TX_EACH(r, v)
  _mm256_store_si256(reinterpret_cast<__m256i*>(tile + r * 16 + v * 8), sum[r][v]);
}

template <int R, int... G>
void fill_vnni(Int8Micro& m, std::integer_sequence<int, G...>) {
  ((m.block[R][G] = block_vnni<R + 1, G + 1>), ...);
}
template <int... R>
Int8Micro vnni(std::integer_sequence<int, R...>) {
  Int8Micro m{"AVX-512 VNNI", sizeof...(R), kInt8MaxGroups, false, {}, nullptr};
  (fill_vnni<R>(m, std::make_integer_sequence<int, kInt8MaxGroups>()), ...);
  return m;
}
template <int... R>
Int8Micro avx_vnni(std::integer_sequence<int, R...>) {
  return {"AVX-VNNI", sizeof...(R), 1, false, {{block_avx_vnni<R + 1>}...}, nullptr};
}

}  // namespace

Int8Micro int8_micro_avx512_vnni() { return vnni(std::make_integer_sequence<int, kInt8MaxRows>()); }
Int8Micro int8_micro_avx_vnni() {
  return avx_vnni(std::make_integer_sequence<int, kInt8MaxRows>());
}
Int8Micro int8_micro_avx2() {
  return {"AVX2", 4, 1, true, {{block_avx2<1>}, {block_avx2<2>}, {block_avx2<3>}, {block_avx2<4>}},
          nullptr};
}

// g++ 12 has no __builtin_cpu_supports() name for AVX-VNNI. It needs no system support beyond AVX2.
bool has_avx_vnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & 1u << 4);
}

namespace {

Int8Isa find_best_int8_isa() {
  const IsaLimit limit = isa_limit();
  if (limit >= IsaLimit::avx512_core_vnni && best_isa() >= Isa::avx512 &&
      __builtin_cpu_supports("avx512vnni"))
    return limit >= IsaLimit::avx512_core_amx && has_amx() ? Int8Isa::amx : Int8Isa::avx512_vnni;
  if (limit >= IsaLimit::avx2_vnni && limit != IsaLimit::avx512_core && has_avx_vnni())
    return Int8Isa::avx_vnni;
  return best_isa() >= Isa::avx2 ? Int8Isa::avx2 : Int8Isa::plain;
}

}  // namespace

// Cached: every product calls this, and cpuid is slow in virtual machines.
Int8Isa best_int8_isa() {
  static const Int8Isa best = find_best_int8_isa();
  return best;
}

}  // namespace tx::gemm

#else

namespace tx::gemm {

Int8Micro int8_micro_avx512_vnni() { return {}; }
Int8Micro int8_micro_avx_vnni() { return {}; }
Int8Micro int8_micro_avx2() { return {}; }
bool has_avx_vnni() { return false; }
#ifndef __aarch64__
Int8Isa best_int8_isa() { return Int8Isa::plain; }
#endif

}  // namespace tx::gemm

#endif
