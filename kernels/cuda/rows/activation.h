// Activations and their slopes. All but relu and gelu are x sigmoid(v(x)).
#pragma once
#include <type_traits>

#include "kernels/cuda/runtime/device.h"
#include "lib/base/error.h"

namespace tx {

// Exact GELU and its derivative (Hendrycks and Gimpel 2016), by the error function.
TX_DEVICE float normal_cdf(float x) { return 0.5f * (1 + erff(x * 0.70710678f)); }
TX_DEVICE float gelu_slope(float x) {
  return normal_cdf(x) + x * 0.39894228f * expf(-0.5f * x * x);
}

TX_DEVICE float sigmoid(float x) { return 1 / (1 + expf(-x)); }

// v(x), and its slope, of gelu_tanh (tanh(u) = 2 sigmoid(2 u) - 1), gelu_sigmoid and silu.
template <Activation activation>
TX_DEVICE float sigmoid_argument(float x) {
  if constexpr (activation == Activation::gelu_tanh)
    return 1.5957691f * x * (1 + 0.044715f * x * x);
  return activation == Activation::gelu_sigmoid ? 1.702f * x : x;
}
template <Activation activation>
TX_DEVICE float sigmoid_argument_slope(float x) {
  if constexpr (activation == Activation::gelu_tanh)
    return 1.5957691f * (1 + 3 * 0.044715f * x * x);
  return activation == Activation::gelu_sigmoid ? 1.702f : 1.0f;
}

template <Activation activation>
TX_DEVICE float activated(float x) {
  if constexpr (activation == Activation::none)
    return x;
  else if constexpr (activation == Activation::relu)
    return x <= 0 ? 0.0f : x;  // NaN stays NaN
  else if constexpr (activation == Activation::gelu)
    return x * normal_cdf(x);
  else
    return x * sigmoid(sigmoid_argument<activation>(x));
}

template <Activation activation>
TX_DEVICE float activation_slope(float x) {
  if constexpr (activation == Activation::gelu) {
    return gelu_slope(x);
  } else {
    const float s = sigmoid(sigmoid_argument<activation>(x));
    return s + x * s * (1 - s) * sigmoid_argument_slope<activation>(x);
  }
}

// Host: calls f with the activation as a type; not for gated ones.
template <class F>
void with_activation(Activation activation, F&& f) {
  using enum Activation;
  if (activation == none) return f(std::integral_constant<Activation, none>{});
  if (activation == relu) return f(std::integral_constant<Activation, relu>{});
  if (activation == gelu) return f(std::integral_constant<Activation, gelu>{});
  if (activation == gelu_tanh) return f(std::integral_constant<Activation, gelu_tanh>{});
  if (activation == gelu_sigmoid) return f(std::integral_constant<Activation, gelu_sigmoid>{});
  TX_ASSERT(activation == silu);
  f(std::integral_constant<Activation, silu>{});
}

}  // namespace tx
