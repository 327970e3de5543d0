// Loops over vector registers, whose width is chosen at run time. Sums always have lanes of 64
// bytes, in one or more registers, so that their bits do not depend on the machine. (g++ keeps a
// vector wider than a register in memory and processes it element by element; attention on AVX2
// took ten times as long.)
//
//   with_lanes<float>([&](auto lanes) TX_INLINE_LAMBDA {
//     using L = decltype(lanes);
//     ... code on L::Vector ...
//   });
#pragma once
#include <type_traits>
#include <utility>

#include "kernels/cpu/simd.h"

#define TX_INLINE_LAMBDA __attribute__((always_inline))

namespace tx {

// Two vectors as one.
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
  TX_TWICE(/)
#undef TX_TWICE
};

template <class V>
constexpr bool is_twice = false;
template <class V>
constexpr bool is_twice<Twice<V>> = true;

// A register of `bytes` of T, and its unaligned form; g++ drops vector_size from dependent types.
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

// 64 bytes of A in registers of `bytes`; `rounds`: rounding to bf16 in hardware.
template <class A, int bytes, bool rounds = false>
struct Lanes {
  using Scalar = A;
  static constexpr int count = 64 / sizeof(A), registers = 64 / bytes;
  static constexpr bool rounds_bf16 = rounds;
  using One = typename Register<A, bytes>::Type;
  using Vector =
      std::conditional_t<registers == 1, One,
                         std::conditional_t<registers == 2, Twice<One>, Twice<Twice<One>>>>;
};

// The lanes of V, loaded from any address and converted from T; one value if V is a scalar.
template <class V, class T>
TX_INLINE V load_lanes(const T* x) {
  if constexpr (std::is_arithmetic_v<V>) {
    return load(*x);
  } else if constexpr (is_twice<V>) {
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

// Register by register, rounded to bf16 as store() does.
template <class V>
TX_INLINE void round_lanes(bf16* x, const V& v) {
  if constexpr (is_twice<V>) {
    round_lanes(x, v.lo);
    round_lanes(x + lanes_of<typename V::Half>, v.hi);
  } else {
    using Words = typename Register<uint32_t, sizeof(V)>::Type;
    using Halves = typename Register<uint16_t, sizeof(V) / 2>::Type;
    const Words u = Words(v), rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
    const Words halves = (u & 0x7fffffffu) > 0x7f800000u ? Words{} + 0x7fc0u : rounded;
    *reinterpret_cast<typename Register<uint16_t, sizeof(V) / 2>::Memory*>(x) =
        __builtin_convertvector(halves, Halves);
  }
}

// Stores v, lanes of L or a single value, to x, rounded to T. bf16 below 1.2e-38 may become 0.
template <class L, class T, class V>
TX_INLINE void put_lanes(T* x, const V& v) {
  if constexpr (std::is_arithmetic_v<V>) {
    store(*x, v);
  } else if constexpr (!std::is_same_v<T, bf16>) {
    store_lanes(x, v);
  } else if constexpr (L::rounds_bf16) {  // by asm: the enclosing function has another target
#ifdef __clang__                          // which knows no such register here
    round_lanes(x, v);
#else
    typename Register<uint16_t, 32>::Type halves;
    asm("vcvtneps2bf16 %1, %0" : "=v"(halves) : "v"(v));
    *reinterpret_cast<typename Register<uint16_t, 32>::Memory*>(x) = halves;
#endif
  } else {
    round_lanes(x, v);
  }
}

// Calls f(j, V()) for every whole vector V of L below n, then f(j, 0) for each remaining element,
// so that f is written once for both. Unlike compiler vectorisation this has no run-time check for
// overlapping pointers, which takes longer than a row of 128.
template <class L, class F>
TX_INLINE void for_lanes(int64_t n, F&& f) {
  int64_t j = 0;
  for (; j + L::count <= n; j += L::count) f(j, typename L::Vector{});
  for (; j < n; ++j) f(j, typename L::Scalar{});
}

// y[j] = f(j, x[j], ..) for j below n, rounded to T.
template <class L, class T, class F, class... Ts>
TX_INLINE void map_lanes(T* y, int64_t n, F&& f, const Ts*... x) {
  for_lanes<L>(n, [&](int64_t j, auto zero) TX_INLINE_LAMBDA {
    put_lanes<L>(y + j, f(j, load_lanes<decltype(zero)>(x + j)...));
  });
}

// The larger, lane by lane; b if either is NaN.
template <class V>
TX_INLINE V larger(const V& a, const V& b) {
  if constexpr (is_twice<V>)
    return {larger(a.lo, b.lo), larger(a.hi, b.hi)};
  else
    return a > b ? a : b;
}

// 16 words of ones, then zeros: the words from 16 - n on are a mask of the first n lanes.
alignas(64) inline constexpr uint32_t lane_mask[32] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u,
                                                       ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};

// Lanes 0 .. n - 1 of v, and `other` in the rest; g++ compiles a comparison to 16 branches.
template <class V, class S>
TX_INLINE V first_lanes(const V& v, int64_t n, S other) {
  if constexpr (is_twice<V>) {
    return {first_lanes(v.lo, n, other), first_lanes(v.hi, n - lanes_of<typename V::Half>, other)};
  } else if constexpr (std::is_same_v<S, float>) {
    using Words = Register<uint32_t, sizeof(V)>;
    const int64_t kept = n < 0 ? 0 : n > 16 ? 16 : n;
    const typename Words::Type mask =
        *reinterpret_cast<const typename Words::Memory*>(lane_mask + 16 - kept);
    const V rest = V{} + other;
    return V((typename Words::Type(v) & mask) | (typename Words::Type(rest) & ~mask));
  } else {
    S lane[lanes_of<V>];
    store_lanes(lane, v);
    for (int64_t l = n < 0 ? 0 : n; l < lanes_of<V>; ++l) lane[l] = other;
    return load_lanes<V>(lane);
  }
}

// Reduces the lanes of v by op, as a tree: lanes l and l + half the count, and so on.
template <class V, class Op>
TX_INLINE auto fold_lanes(const V& v, Op&& op) {
  if constexpr (is_twice<V>) {
    return fold_lanes(op(v.lo, v.hi), op);
  } else {
    constexpr int half = lanes_of<V> / 2;
    const auto halves = [&]<int... l>(std::integer_sequence<int, l...>) TX_INLINE_LAMBDA {
      return op(__builtin_shufflevector(v, v, l...), __builtin_shufflevector(v, v, (l + half)...));
    };
    const auto folded = halves(std::make_integer_sequence<int, half>());
    if constexpr (half == 1)
      return folded[0];
    else
      return fold_lanes(folded, op);
  }
}

template <class V>
TX_INLINE auto sum_lanes(const V& v) {
  return fold_lanes(v, [](auto a, auto b) TX_INLINE_LAMBDA { return a + b; });
}
template <class V>
TX_INLINE auto largest_lane(const V& v) {
  return fold_lanes(v, [](auto a, auto b) TX_INLINE_LAMBDA { return larger(a, b); });
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
  if (j < n) {
    typename L::Scalar part[lanes];
    store_lanes(part, sum);
    for (int l = 0; j + l < n; ++l) part[l] += f(load(x[j + l])...);
    sum = load_lanes<V>(part);
  }
  return sum_lanes(sum);
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

// Calls f(Lanes<A, register_bytes()>()) inside a function compiled for that instruction set. f must
// be marked TX_INLINE_LAMBDA and must not contain an OpenMP region.
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
__attribute__((target("arch=x86-64-v4"), noinline)) void with_registers_that_round(const F& f) {
  f(Lanes<A, 64, true>());
}
template <class A, class F>
TX_INLINE void with_lanes(const F& f) {
  static const int bytes = register_bytes();
  static const bool round = registers_round();
  if constexpr (std::is_same_v<A, float>)
    if (round) return with_registers_that_round<A>(f);
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
