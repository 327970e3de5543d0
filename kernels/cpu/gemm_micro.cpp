// The innermost loops of our own products: for any processor, vectorised by the compiler, and for
// x86. 6 rows x 4 vectors of AVX-512 (24 sums, 4 weights, 1 broadcast of 32 registers) and 6 x 2 of
// AVX2 saturate the multipliers: 98 % of the peak on Zen 4.
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/lanes.h"

#if defined(__x86_64__)
#include <utility>

#include "kernels/cpu/x86.h"
#endif

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
    const char* a = left.data + i * left.k_step;
    for (int r = 0; r < Rows; r++) {
      const A x = *reinterpret_cast<const A*>(a + r * left.row_step);
#pragma omp simd
      for (int j = 0; j < kPanel; j++) sum[r][j] += x * load(right[j * Group]);
    }
  }
  std::memcpy(tile, sum, sizeof sum);
}

template <class T, int Group>
Micro loops() {
  Micro m{"plain", kPanel, 2, {block<T, 1, Group>, block<T, 2, Group>}};
  if constexpr (Group == 2) m.wide[0] = block<float, 1, 1>, m.wide[1] = block<float, 2, 1>;
  return m;
}

}  // namespace

Micro micro_plain(DType dtype) {
  if (dtype == DType::bf16) return loops<bf16, 2>();
  return dtype == DType::f64 ? loops<double, 1>() : loops<float, 1>();
}

}  // namespace tx::gemm

#if defined(__x86_64__)

namespace tx::gemm {
namespace {

// The weights of few rows come from memory, and hardware does not prefetch across pages. A step
// reads `bytes` of a panel; the next panel follows it.
constexpr int64_t kAhead = 8192;
template <int bytes>
TX_INLINE void prefetch_weights(const void* from) {
  for (int line = 0; line < bytes; line += 64)
    __builtin_prefetch(static_cast<const char*>(from) + kAhead + line);
}

TX_INLINE int load_half(const char* from) {
  uint16_t half;
  std::memcpy(&half, from, 2);
  return half;
}

template <int Rows, int Vectors>
TX_AVX2 void f32_avx2(Left left, const void* panel, int64_t k, void* tile, bool add) {
  const char* a = left.data;
  const float* b = static_cast<const float*>(panel);
  float* out = static_cast<float*>(tile);
  __m256 sum[Rows][Vectors];
  TX_EACH(r, v) sum[r][v] = add ? _mm256_load_ps(out + (r * Vectors + v) * 8) : _mm256_setzero_ps();
  for (int64_t i = 0; i < k; i++, a += left.k_step, b += 8 * Vectors) {
    __m256 right[Vectors];
    TX_UNROLL for (int v = 0; v < Vectors; v++) right[v] = _mm256_load_ps(b + 8 * v);
    prefetch_weights<Vectors * 32>(b);
    TX_UNROLL for (int r = 0; r < Rows; r++) {
      const __m256 x = _mm256_broadcast_ss(reinterpret_cast<const float*>(a + r * left.row_step));
      TX_UNROLL for (int v = 0; v < Vectors; v++) {
        sum[r][v] = _mm256_fmadd_ps(x, right[v], sum[r][v]);
      }
    }
  }
  TX_EACH(r, v) _mm256_store_ps(out + (r * Vectors + v) * 8, sum[r][v]);
}

// bf16 weights widened in registers of `bytes`: even k are the low halves of words, odd k the high.
template <int bytes, int Rows, int Vectors>
TX_INLINE void widened(Left left, const void* panel, int64_t k, void* tile, bool add) {
  using V = typename Register<float, bytes>::Type;
  using Words = typename Register<uint32_t, bytes>::Type;
  const char* a = left.data;
  const Words* b = static_cast<const Words*>(panel);
  V* out = static_cast<V*>(tile);
  V sum[Rows][Vectors];
  TX_EACH(r, v) sum[r][v] = add ? out[r * Vectors + v] : V{};
  const auto add_products = [&](const V* right) TX_INLINE_LAMBDA {
    TX_UNROLL for (int r = 0; r < Rows; r++) {
      const V x = *reinterpret_cast<const float*>(a + r * left.row_step) - V{};  // in every lane
      TX_UNROLL for (int v = 0; v < Vectors; v++) sum[r][v] = fused(x, right[v], sum[r][v]);
    }
    a += left.k_step;
  };
  V right[Vectors];
  for (int64_t i = 0; i < k / 2; i++, b += Vectors) {
    prefetch_weights<Vectors * bytes>(b);
    TX_UNROLL for (int v = 0; v < Vectors; v++) right[v] = V(b[v] << 16);
    add_products(right);
    TX_UNROLL for (int v = 0; v < Vectors; v++) right[v] = V(b[v] & 0xffff0000u);
    add_products(right);
  }
  if (k % 2) {
    TX_UNROLL for (int v = 0; v < Vectors; v++) right[v] = V(b[v] << 16);
    add_products(right);
  }
  TX_EACH(r, v) out[r * Vectors + v] = sum[r][v];
}

template <int Rows, int Vectors>
TX_AVX2 void bf16_avx2(Left left, const void* panel, int64_t k, void* tile, bool add) {
  widened<32, Rows, Vectors>(left, panel, k, tile, add);
}
template <int Rows, int Vectors>
TX_AVX512 void bf16_avx512(Left left, const void* panel, int64_t k, void* tile, bool add) {
  widened<64, Rows, Vectors>(left, panel, k, tile, add);
}

template <int Rows, int Vectors>
TX_AVX512 void f32_avx512(Left left, const void* panel, int64_t k, void* tile, bool add) {
  const char* a = left.data;
  const float* b = static_cast<const float*>(panel);
  float* out = static_cast<float*>(tile);
  __m512 sum[Rows][Vectors];
  TX_EACH(r, v)
  sum[r][v] = add ? _mm512_load_ps(out + (r * Vectors + v) * 16) : _mm512_setzero_ps();
  for (int64_t i = 0; i < k; i++, a += left.k_step, b += 16 * Vectors) {
    __m512 right[Vectors];
    TX_UNROLL for (int v = 0; v < Vectors; v++) right[v] = _mm512_load_ps(b + 16 * v);
    prefetch_weights<Vectors * 64>(b);
    TX_UNROLL for (int r = 0; r < Rows; r++) {
      const __m512 x = _mm512_set1_ps(*reinterpret_cast<const float*>(a + r * left.row_step));
      TX_UNROLL for (int v = 0; v < Vectors; v++) {
        sum[r][v] = _mm512_fmadd_ps(x, right[v], sum[r][v]);
      }
    }
  }
  TX_EACH(r, v) _mm512_store_ps(out + (r * Vectors + v) * 16, sum[r][v]);
}

template <int Rows, int Vectors>
TX_AVX512_BF16 void dot_avx512(Left left, const void* panel, int64_t k, void* tile, bool add) {
  const char* a = left.data;
  const __m512i* b = static_cast<const __m512i*>(panel);
  float* out = static_cast<float*>(tile);
  __m512 sum[Rows][Vectors];
  TX_EACH(r, v)
  sum[r][v] = add ? _mm512_load_ps(out + (r * Vectors + v) * 16) : _mm512_setzero_ps();
  for (int64_t i = 0; i < k / 2; i++, a += left.k_step, b += Vectors) {
    __m512bh right[Vectors];
    TX_UNROLL for (int v = 0; v < Vectors; v++) right[v] = (__m512bh)_mm512_load_si512(b + v);
    prefetch_weights<Vectors * 64>(b);
    TX_UNROLL for (int r = 0; r < Rows; r++) {
      const __m512bh x = (__m512bh)_mm512_set1_epi32(load_four_bytes(a + r * left.row_step));
      TX_UNROLL for (int v = 0; v < Vectors; v++) {
        sum[r][v] = _mm512_dpbf16_ps(sum[r][v], x, right[v]);
      }
    }
  }
  // An odd last k has no pair: reading beyond it would be out of bounds.
  if (k % 2) {
    TX_UNROLL for (int r = 0; r < Rows; r++) {
      const __m512bh x = (__m512bh)_mm512_set1_epi32(load_half(a + r * left.row_step));
      TX_UNROLL for (int v = 0; v < Vectors; v++) {
        sum[r][v] = _mm512_dpbf16_ps(sum[r][v], x, (__m512bh)_mm512_load_si512(b + v));
      }
    }
  }
  TX_EACH(r, v) _mm512_store_ps(out + (r * Vectors + v) * 16, sum[r][v]);
}

// The conversion is one instruction. Masked forms avoid a false warning of g++ 12.
TX_AVX512_BF16 void finish_avx512_bf16(const Finish<float>& f) {
  for (int64_t i = 0; i < f.rows; i++) {
    const float* from = f.sums + i * f.panel;
    bf16* to = static_cast<bf16*>(f.y) + i * f.stride;
    for (int64_t j = 0; j < f.columns; j += 16) {
      const int64_t left = f.columns - j;
      const __mmask16 mask = left >= 16 ? 0xffff : __mmask16((1u << left) - 1);
      __m512 sum = _mm512_load_ps(from + j);
      if (f.bias) sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(mask, f.bias + j));
      if (f.add) {
        const __m256i y = _mm256_maskz_loadu_epi16(mask, to + j);
        const __m512i wide =
            _mm512_maskz_slli_epi32(mask, _mm512_maskz_cvtepu16_epi32(mask, y), 16);
        sum = _mm512_add_ps(sum, _mm512_castsi512_ps(wide));
      }
      // Returns the second operand if either is NaN.
      if (f.relu) sum = _mm512_maskz_max_ps(0xffff, _mm512_setzero_ps(), sum);
      const __m256i rounded = (__m256i)_mm512_cvtneps_pbh(sum);
      if (left >= 16)  // masked stores are slow
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + j), rounded);
      else
        _mm256_mask_storeu_epi16(to + j, mask, rounded);
    }
  }
}

template <int... R>
Micro avx2(bool half, std::integer_sequence<int, R...>) {
  if (!half) return {"AVX2", 16, sizeof...(R), {f32_avx2<R + 1, 2>...}};
  return {"AVX2",  16,      sizeof...(R),           {bf16_avx2<R + 1, 2>...},
          nullptr, nullptr, {f32_avx2<R + 1, 2>...}};
}
template <int... R>
Micro avx512(bool half, std::integer_sequence<int, R...>) {
  if (!half) return {"AVX-512", 64, sizeof...(R), {f32_avx512<R + 1, 4>...}};
  return {"AVX-512",
          64,
          sizeof...(R),
          {bf16_avx512<R + 1, 4>...},
          nullptr,
          nullptr,
          {f32_avx512<R + 1, 4>...}};
}
template <int... R>
Micro avx512_bf16(std::integer_sequence<int, R...>) {
  return {"AVX-512 BF16", 64, sizeof...(R), {dot_avx512<R + 1, 4>...}, finish_avx512_bf16};
}

using Rows = std::make_integer_sequence<int, kMaxRows>;

}  // namespace

namespace {

Isa find_best_isa() {
  const IsaLimit limit = isa_limit();
  if (limit >= IsaLimit::avx512_core && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    const bool half = limit >= IsaLimit::avx512_core_bf16 && __builtin_cpu_supports("avx512bf16");
    if (half && limit >= IsaLimit::avx512_core_amx && has_amx()) return Isa::amx;
    // On Intel without AMX vdpbf16ps has half the rate of fp32 FMA.
    return half && !__builtin_cpu_is("intel") ? Isa::avx512_bf16 : Isa::avx512;
  }
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return limit >= IsaLimit::avx2 && avx2 ? Isa::avx2 : Isa::plain;
}

}  // namespace

Isa best_isa() {
  static const Isa best = find_best_isa();
  return best;
}

Micro micro_avx2(DType dtype) { return avx2(dtype == DType::bf16, Rows()); }
Micro micro_avx512(DType dtype) { return avx512(dtype == DType::bf16, Rows()); }
Micro micro_avx512_bf16() { return avx512_bf16(Rows()); }

}  // namespace tx::gemm

#else

namespace tx::gemm {

#ifndef __aarch64__
Isa best_isa() { return Isa::plain; }
#endif
Micro micro_avx2(DType) { return {}; }
Micro micro_avx512(DType) { return {}; }
Micro micro_avx512_bf16() { return {}; }

}  // namespace tx::gemm

#endif
