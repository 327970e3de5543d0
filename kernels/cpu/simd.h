// Helpers of the CPU loops: element types, the instruction set in use, scratch memory of threads.
//
// The compiler fuses no products and sums by itself; kernels do where fused() says so. The order of
// sums depends on the instruction set only in bf16 instructions, the gradient's norm, and the
// products of training (oneDNN, OpenBLAS).
#pragma once
#ifdef _OPENMP
#include <omp.h>
#endif

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "kernels/view.h"
#include "lib/base/error.h"

// g++ compiles a marked function once per instruction set and selects one at load time; clang 14
// does not support that for templates and OpenMP bodies, so its loops are baseline code.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define TX_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TX_CLONES
#endif
#define TX_INLINE inline __attribute__((always_inline))

namespace tx {

struct bf16 {
  uint16_t bits;
};

TX_INLINE float load(float x) { return x; }
TX_INLINE double load(double x) { return x; }
TX_INLINE float load(bf16 x) {
  const uint32_t u = uint32_t(x.bits) << 16;
  float f;
  std::memcpy(&f, &u, 4);
  return f;
}
TX_INLINE void store(float& to, float x) { to = x; }
TX_INLINE void store(double& to, double x) { to = x; }
// Rounds to nearest even; NaN stays NaN.
TX_INLINE void store(bf16& to, float x) {
  uint32_t u;
  std::memcpy(&u, &x, 4);
  const uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  to.bits = uint16_t((u & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
}

// The type of sums: float for f32 and bf16, double for f64.
template <class T>
struct Accumulator {
  using type = float;
};
template <>
struct Accumulator<double> {
  using type = double;
};
template <class T>
using acc_t = typename Accumulator<T>::type;

// Calls f(T{}) with the element type of dtype.
template <class F>
void with_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32:
      return f(float{});
    case DType::bf16:
      return f(bf16{});
    case DType::f64:
      return f(double{});
    default:
      TX_ASSERT(!"a floating-point dtype");
  }
}

// a b + c. A register (lanes.h) is rounded once where the processor can, that is everywhere but on
// x86 before AVX2, so that all others give the same bits. A single value, such as one after the
// last whole register, is rounded twice: without FMA instructions one rounding is slow.
template <class V>
TX_INLINE V fused(const V& a, const V& b, const V& c) {
#ifdef __x86_64__
  constexpr bool separate = sizeof(V) <= 16;
#else
  constexpr bool separate = std::is_arithmetic_v<V>;
#endif
  if constexpr (requires { c.lo; }) {
    return {fused(a.lo, b.lo, c.lo), fused(a.hi, b.hi, c.hi)};
  } else if constexpr (separate) {
    return a * b + c;
  } else {
    V sum = c;
#if defined(__x86_64__) && !defined(__clang__)
    // g++ makes several instructions of the loop below, and has no builtin for every target.
    if constexpr (sizeof(sum[0]) == 4)
      asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "vm"(b));
    else
      asm("vfmadd231pd %2, %1, %0" : "+v"(sum) : "v"(a), "vm"(b));
#else
    for (size_t l = 0; l < sizeof(V) / sizeof(V{}[0]); ++l) sum[l] = std::fma(a[l], b[l], c[l]);
#endif
    return sum;
  }
}

// exp for x <= 88, relative error below 1.2e-7 from -87 on: 2^k times a degree-6 polynomial on
// [-ln2/2, ln2/2]. Below -87 exactly 0, so that masked scores vanish.
template <class F, class U>
TX_INLINE F fast_exp(F x) {
  const F zero{};  // x - zero: x in every lane
  const F shifted = fused(x, 1.44269504088896f - zero, 12582912.0f - zero);  // 1.5 * 2^23: rounds
  const F k = shifted - 12582912.0f;
  const F r = fused(k, 2.12194440e-4f - zero, x - k * 0.693359375f);  // this product is exact
  F p = 1.38145406e-3f - zero;  // minimax relative error (Remez) 3.6e-9
  for (const float c : {8.36874545e-3f, 4.1668389e-2f, 1.66665211e-1f, 0.49999994f, 1.0f, 1.0f})
    p = fused(p, r, c - zero);
  U bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits - 0x4b400000u + 127u) << 23;
  F power;
  std::memcpy(&power, &bits, sizeof power);
  return x < -87.0f ? F{} : p * power;
}
TX_INLINE float exponential(float x) { return fast_exp<float, uint32_t>(x); }
TX_INLINE double exponential(double x) { return std::exp(x); }

// The instruction sets that our own kernels distinguish; each includes the previous ones.
#ifdef __aarch64__
enum class IsaLimit { neon, dotprod, i8mm, arm_bf16, all };
#else
enum class IsaLimit {
  sse41,
  avx2,
  avx2_vnni,
  avx512_core,
  avx512_core_vnni,
  avx512_core_bf16,
  avx512_core_amx,
  all
};
#endif
// The newest one allowed: TX_MAX_ISA, or `all` if that is unset. Error with the valid names.
IsaLimit isa_limit();

// Bytes of the vector registers in use: 64, 32 or 16.
int register_bytes();
// Whether they have 64 bytes and hardware rounding to bf16 (AVX-512 BF16).
bool registers_round();

// Scratch memory of a region's threads, allocated before it: no exception may leave the region.

// The caller's number in its OpenMP team, from 0.
inline int thread_number() {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

// `count` uninitialised elements for each of `threads`.
template <class T>
class ThreadRows {
 public:
  ThreadRows(int threads, int64_t count)
      : stride_((size_t(count) + line - 1) / line * line),
        rows_(std::make_unique_for_overwrite<T[]>(size_t(threads) * stride_)) {}
  T* mine() const { return rows_.get() + size_t(thread_number()) * stride_; }

 private:
  static constexpr size_t line = 64 / sizeof(T);  // threads share cache lines only at the ends
  size_t stride_;
  std::unique_ptr<T[]> rows_;
};

}  // namespace tx
