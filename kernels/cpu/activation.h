// Activations and their slopes, for loops over rows. All but relu and gelu are x sigmoid(v(x)).
#pragma once
#include "kernels/cpu/simd.h"

namespace tx {

// Exact GELU and its derivative (Hendrycks and Gimpel 2016), by the error function.
template <class A>
TX_INLINE A gelu(A x) {
  return A(0.5) * x * (A(1) + std::erf(x * A(0.70710678118654752)));
}
template <class A>
TX_INLINE A gelu_slope(A x) {
  const A cdf = A(0.5) * (A(1) + std::erf(x * A(0.70710678118654752)));
  return cdf + x * A(0.39894228040143268) * std::exp(A(-0.5) * x * x);
}

// exponential() is accurate up to 88 only; for x < -88 the sigmoid is below 1e-38.
template <class A>
TX_INLINE A sigmoid(A x) {
  return A(1) / (A(1) + exponential(x < A(-88) ? A(88) : -x));
}

// v(x), and its slope, of gelu_tanh (tanh(u) = 2 sigmoid(2 u) - 1), gelu_sigmoid and silu.
template <Activation activation, class A>
TX_INLINE A sigmoid_argument(A x) {
  if (activation == Activation::gelu_tanh)
    return A(1.5957691216057308) * x * (A(1) + A(0.044715) * x * x);
  return activation == Activation::gelu_sigmoid ? A(1.702) * x : x;
}
template <Activation activation, class A>
TX_INLINE A sigmoid_argument_slope(A x) {
  if (activation == Activation::gelu_tanh)
    return A(1.5957691216057308) * (A(1) + A(3 * 0.044715) * x * x);
  return activation == Activation::gelu_sigmoid ? A(1.702) : A(1);
}

template <Activation activation, class A>
TX_INLINE A activated(A x) {
  if constexpr (activation == Activation::none) return x;
  if constexpr (activation == Activation::relu) return x <= 0 ? A(0) : x;  // NaN stays NaN
  if constexpr (activation == Activation::gelu) return gelu(x);
  return x * sigmoid(sigmoid_argument<activation>(x));
}

template <Activation activation, class A>
TX_INLINE A activation_slope(A x) {
  if constexpr (activation == Activation::none) return A(1);
  if constexpr (activation == Activation::relu) return A(x > 0);
  if constexpr (activation == Activation::gelu) return gelu_slope(x);
  const A s = sigmoid(sigmoid_argument<activation>(x));
  return s + x * s * (A(1) - s) * sigmoid_argument_slope<activation>(x);
}

// Calls f with the activation as a type; not for gated ones.
template <Activation activation>
struct ActivationType {
  static constexpr Activation value = activation;
};
template <class F>
TX_INLINE void with_activation(Activation activation, F&& f) {
  using enum Activation;
  switch (activation) {
    case none:
      return f(ActivationType<none>{});
    case relu:
      return f(ActivationType<relu>{});
    case gelu:
      return f(ActivationType<gelu>{});
    case gelu_tanh:
      return f(ActivationType<gelu_tanh>{});
    case gelu_sigmoid:
      return f(ActivationType<gelu_sigmoid>{});
    case silu:
      return f(ActivationType<silu>{});
    default:
      TX_ASSERT(!"an activation without a gate");
  }
}

}  // namespace tx
