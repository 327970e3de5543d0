// Loads of bf16 and wider elements into registers of the sum type (lanes.h), and sums across lanes.
#pragma once
#include <utility>

#include "kernels/cpu/lanes.h"

namespace tx {

// Interleaves two registers: first = e0 o0 e1 o1 .., second the rest.
template <class V>
TX_INLINE void zip(const V& even, const V& odd, V& first, V& second) {
  if constexpr (is_twice<V>) {
    zip(even.lo, odd.lo, first.lo, first.hi);
    zip(even.hi, odd.hi, second.lo, second.hi);
  } else {
    [&]<int... I>(std::integer_sequence<int, I...>) TX_INLINE_LAMBDA {
      constexpr int n = sizeof...(I);
      first = __builtin_shufflevector(even, odd, (I / 2 + I % 2 * n)...);
      second = __builtin_shufflevector(even, odd, (I / 2 + n / 2 + I % 2 * n)...);
    }
    (std::make_integer_sequence<int, lanes_of<V>>());
  }
}

// The inverse of zip(): the elements at even and at odd positions of a and b together.
template <class V>
TX_INLINE void unzip(const V& a, const V& b, V& even, V& odd) {
  if constexpr (is_twice<V>) {
    unzip(a.lo, a.hi, even.lo, odd.lo);
    unzip(b.lo, b.hi, even.hi, odd.hi);
  } else {
    [&]<int... I>(std::integer_sequence<int, I...>) TX_INLINE_LAMBDA {
      even = __builtin_shufflevector(a, b, (2 * I)...);
      odd = __builtin_shufflevector(a, b, (2 * I + 1)...);
    }
    (std::make_integer_sequence<int, lanes_of<V>>());
  }
}

// The low (first of two) and high halves of the words at x.
template <class V>
TX_INLINE void load_pairs(const bf16* x, V& low, V& high) {
  if constexpr (is_twice<V>) {
    load_pairs(x, low.lo, high.lo);
    load_pairs(x + 2 * lanes_of<typename V::Half>, low.hi, high.hi);
  } else {
    typename Register<uint32_t, sizeof(V)>::Type words;
    std::memcpy(&words, x, sizeof words);
    low = V(words << 16);
    high = V(words & 0xffff0000u);
  }
}

// `group` consecutive elements as `parts` vectors of the sum type. bf16 is loaded as even elements
// and odd elements, one operation each; join() restores the order, split() undoes join().
template <class T, class L>
struct Wide {
  using V = typename L::Vector;
  static constexpr int parts = 1, group = L::count;
  static TX_INLINE void load_group(const T* x, V* out) { out[0] = load_lanes<V>(x); }
  static TX_INLINE void join(V*) {}
  static TX_INLINE void split(V*) {}
};

template <class L>
struct Wide<bf16, L> {
  using V = typename L::Vector;
  static constexpr int parts = 2, group = 2 * L::count;
  static TX_INLINE void load_group(const bf16* x, V* out) { load_pairs(x, out[0], out[1]); }
  static TX_INLINE void join(V* x) {
    const V even = x[0], odd = x[1];
    zip(even, odd, x[0], x[1]);
  }
  static TX_INLINE void split(V* x) {
    const V first = x[0], second = x[1];
    unzip(first, second, x[0], x[1]);
  }
};

// Lane i of the result is the sum of the lanes of x[i], adjacent lanes first.
template <class V>
TX_INLINE V sum_across(V* x) {
  if constexpr (is_twice<V>) {
    using H = typename V::Half;
    constexpr int lanes = lanes_of<V>;
    H lo[lanes], hi[lanes];
    for (int i = 0; i < lanes; ++i) lo[i] = x[i].lo, hi[i] = x[i].hi;
    return {sum_across(lo) + sum_across(hi),
            sum_across(lo + lanes / 2) + sum_across(hi + lanes / 2)};
  } else {
    constexpr int lanes = lanes_of<V>;
    for (int left = lanes; left > 1; left /= 2)
      for (int i = 0; i < left / 2; ++i) {
        const V a = x[2 * i], b = x[2 * i + 1];
        x[i] = [&]<int... I>(std::integer_sequence<int, I...>) TX_INLINE_LAMBDA {
          return __builtin_shufflevector(a, b, (2 * I)...) +
                 __builtin_shufflevector(a, b, (2 * I + 1)...);
        }
        (std::make_integer_sequence<int, lanes>());
      }
    return x[0];
  }
}

}  // namespace tx
