// Loops written in registers, and the choice of those registers at run time. Sums run in lanes of
// 64 bytes whatever the machine, held in as many registers as that takes, so that their bits do not
// depend on it. (g++ keeps a vector wider than a register in memory and goes through it element by
// element; attention on AVX2 took ten times as long.)
//
//   with_lanes<float>([&](auto lanes) TX_INLINE_LAMBDA {
//     using L = decltype(lanes);
//     ... code on L::Vector ...
//   });
#pragma once
#include <type_traits>

#include "kernels/cpu/simd.h"

#define TX_INLINE_LAMBDA __attribute__((always_inline))

namespace tx {

// Two vectors that stand side by side.
template <class V>
struct Twice {
  using Half = V;
  V lo, hi;

  TX_INLINE Twice& operator+=(const Twice& b) {
    lo += b.lo, hi += b.hi;
    return *this;
  }
#define TX_TWICE(op)                                                                         \
  friend TX_INLINE Twice operator op(const Twice& a, const Twice& b) {                       \
    return {a.lo op b.lo, a.hi op b.hi};                                                     \
  }                                                                                          \
  template <class S>                                                                         \
  requires std::is_arithmetic_v<S>                                                           \
  friend TX_INLINE Twice operator op(const Twice& a, S b) { return {a.lo op b, a.hi op b}; } \
  template <class S>                                                                         \
  requires std::is_arithmetic_v<S>                                                           \
  friend TX_INLINE Twice operator op(S a, const Twice& b) { return {a op b.lo, a op b.hi}; }
  TX_TWICE(+)
  TX_TWICE(-)
  TX_TWICE(*)
#undef TX_TWICE
};

template <class V>
constexpr bool is_twice = false;
template <class V>
constexpr bool is_twice<Twice<V>> = true;

// A register of `bytes` of T, and the same at any address. Spelled out, for g++ drops vector_size
// from a type whose size depends on a template.
template <class T, int bytes>
struct Register;
#define TX_REGISTER(T, bytes)                                                            \
  template <>                                                                            \
  struct Register<T, bytes> {                                                            \
    typedef T Type __attribute__((vector_size(bytes)));                                  \
    typedef T Memory __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias)); \
  };
#define TX_REGISTERS(bytes)    \
  TX_REGISTER(float, bytes)    \
  TX_REGISTER(double, bytes)   \
  TX_REGISTER(uint32_t, bytes) \
  TX_REGISTER(uint16_t, bytes / 2)
TX_REGISTERS(16)
TX_REGISTERS(32)
TX_REGISTERS(64)
#undef TX_REGISTERS
#undef TX_REGISTER

template <class V>
constexpr int lanes_of = sizeof(V) / sizeof(V{}[0]);  // of a register
template <class V>
constexpr int lanes_of<Twice<V>> = 2 * lanes_of<V>;

// 64 bytes of A in registers of `bytes`.
template <class A, int bytes>
struct Lanes {
  using Scalar = A;
  static constexpr int count = 64 / sizeof(A), registers = 64 / bytes;
  using One = typename Register<A, bytes>::Type;
  using Vector =
      std::conditional_t<registers == 1, One,
                         std::conditional_t<registers == 2, Twice<One>, Twice<Twice<One>>>>;
};

// `count` of T from any address.
template <class V, class T>
TX_INLINE V load_lanes(const T* x) {
  if constexpr (is_twice<V>) {
    using H = typename V::Half;
    return {load_lanes<H>(x), load_lanes<H>(x + lanes_of<H>)};
  } else if constexpr (std::is_same_v<T, bf16>) {
    using Halves = typename Register<uint16_t, sizeof(V) / 2>::Memory;
    using Words = typename Register<uint32_t, sizeof(V)>::Type;
    return V(__builtin_convertvector(*reinterpret_cast<const Halves*>(x), Words) << 16);
  } else {
    return *reinterpret_cast<const typename Register<T, sizeof(V)>::Memory*>(x);
  }
}

template <class V, class A>
TX_INLINE void store_lanes(A* x, const V& v) {
  if constexpr (is_twice<V>) {
    store_lanes(x, v.lo);
    store_lanes(x + lanes_of<typename V::Half>, v.hi);
  } else {
    *reinterpret_cast<typename Register<A, sizeof(V)>::Memory*>(x) = v;
  }
}

// The sum of f(x[j], y[j], ..) for j below n: lane by lane, then the lanes as a tree. One order of
// additions for every instruction set, and no chain of scalar additions at the end as an OpenMP
// reduction has. f takes registers and single values.
template <class L, class F, class... Ts>
TX_INLINE typename L::Scalar lane_sum(int64_t n, F&& f, const Ts*... x) {
  using V = typename L::Vector;
  constexpr int lanes = L::count;
  V sum = {};
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) sum += f(load_lanes<V>(x + j)...);
  typename L::Scalar part[lanes];
  store_lanes(part, sum);
  for (int l = 0; j + l < n; ++l) part[l] += f(load(x[j + l])...);
  for (int width = lanes / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) part[l] += part[l + width];
  return part[0];
}

template <class V>
TX_INLINE V exponential(V x) {
  if constexpr (is_twice<V>) {
    return {exponential(x.lo), exponential(x.hi)};
  } else if constexpr (std::is_same_v<V, typename Register<float, sizeof(V)>::Type>) {
    return fast_exp<V, typename Register<uint32_t, sizeof(V)>::Type>(x);
  } else {
    for (int l = 0; l < lanes_of<V>; ++l) x[l] = std::exp(x[l]);
    return x;
  }
}

// Bytes of the registers in use: 64, 32 or 16. DNNL_MAX_CPU_ISA lowers it.
int register_bytes();

// Calls f(Lanes<A, register_bytes()>()) inside a function for that instruction set. f must be
// marked TX_INLINE_LAMBDA, and an OpenMP region must stand outside of it.
#if defined(__x86_64__) && defined(__GNUC__)
template <class A, class F>
__attribute__((target("arch=x86-64-v4"), noinline)) void with_registers_of_64(const F& f) {
  f(Lanes<A, 64>());
}
template <class A, class F>
__attribute__((target("arch=x86-64-v3"), noinline)) void with_registers_of_32(const F& f) {
  f(Lanes<A, 32>());
}
template <class A, class F>
TX_INLINE void with_lanes(const F& f) {
  static const int bytes = register_bytes();
  if (bytes == 64) return with_registers_of_64<A>(f);
  if (bytes == 32) return with_registers_of_32<A>(f);
  f(Lanes<A, 16>());
}
#else
template <class A, class F>
TX_INLINE void with_lanes(const F& f) {
  f(Lanes<A, 16>());
}
#endif

}  // namespace tx
