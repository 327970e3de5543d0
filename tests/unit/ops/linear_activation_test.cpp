#include "tests/unit/ops/gradient_check.h"
#include "tests/unit/ops/hand_values.h"

using namespace tx_test;
using tx::Activation;

BOOST_AUTO_TEST_SUITE(ops_linear_activation)

BOOST_AUTO_TEST_CASE(values_by_hand) {  // exact GELU
  Hand hand;
  const tx::Tensor x = hand.tensor(5, 1, {-2, -1, 0.5, 1, 2});
  const tx::Parameter one = hand.parameter(1, 1, {1}), bias = hand.parameter(1, 1, {0.25});
  check_close(hand.values(linear_activation(hand.context, x, one, {}, Activation::gelu, {})),
              {-.045500, -.158655, .345731, .841345, 1.954500}, 1e-6);
  check_close(hand.values(linear_activation(hand.context, x, one, bias, Activation::relu, {})),
              {0, 0, 0.75, 1.25, 2.25}, 1e-15);
}

BOOST_AUTO_TEST_CASE(gradients) {
  for (Activation activation :
       {Activation::relu, Activation::gelu, Activation::none, Activation::gelu_tanh,
        Activation::gelu_sigmoid, Activation::silu}) {
    for (double p : {0.0, 0.3}) {
      GradientCheck check;
      const MaskedRows rows(check.backend, 7);
      const tx::Parameter w = check.parameter("w", 11, 5), bias = check.parameter("b", 1, 11);
      BOOST_TEST_CONTEXT("activation " << int(activation) << ", dropout " << p)
      check({{7, 5}}, [&](auto& c, auto& x) {
        return Tensors{linear_activation(c, x[0], w, bias, activation, rows.dropout(p))};
      });
    }
  }
}

BOOST_AUTO_TEST_CASE(gated_values_by_hand) {
  Hand hand;
  const tx::Tensor x = hand.tensor(3, 1, {-2, 0.5, 1});
  const tx::Parameter w = hand.parameter(2, 1, {1, 2}), bias = hand.parameter(1, 2, {0, 1});
  check_close(hand.values(linear_activation(hand.context, x, w, {}, Activation::swiglu, {})),
              {.953623, .311230, 1.462117}, 1e-6);
  check_close(hand.values(linear_activation(hand.context, x, w, bias, Activation::geglu, {})),
              {.136500, .691462, 2.524034}, 1e-6);
}

BOOST_AUTO_TEST_CASE(gated_gradients) {
  for (Activation activation : {Activation::swiglu, Activation::geglu})
    for (double p : {0.0, 0.3}) {
      GradientCheck check;
      const MaskedRows rows(check.backend, 7);
      const tx::Parameter w = check.parameter("w", 12, 5), bias = check.parameter("b", 1, 12);
      BOOST_TEST_CONTEXT("activation " << int(activation) << ", dropout " << p)
      check({{7, 5}}, [&](auto& c, auto& x) {
        return Tensors{linear_activation(c, x[0], w, bias, activation, rows.dropout(p))};
      });
    }
  GradientCheck check;
  const tx::Parameter w = check.parameter("w", 6, 5);
  check({{4, 5}}, [&](auto& c, auto& x) {
    return Tensors{linear_activation(c, x[0], w, {}, Activation::swiglu, {})};
  });
}

BOOST_AUTO_TEST_CASE(gradients_without_bias) {
  for (Activation activation : {Activation::relu, Activation::gelu}) {
    GradientCheck check;
    const tx::Parameter w = check.parameter("w", 4, 5);
    check({{3, 5}}, [&](auto& c, auto& x) {
      return Tensors{linear_activation(c, x[0], w, {}, activation, {})};
    });
  }
}

BOOST_AUTO_TEST_CASE(wrong_shapes) {
  Hand hand;
  const tx::Parameter w = hand.parameter(3, 5);
  const auto f = [&](int64_t cols, int64_t bias) {
    linear_activation(hand.context, hand.tensor(2, cols), w, hand.parameter(1, bias),
                      Activation::relu, {});
  };
  BOOST_CHECK_NO_THROW(f(5, 3));
  BOOST_CHECK_THROW(f(4, 3), tx::Bug);
  BOOST_CHECK_THROW(f(5, 5), tx::Bug);
}

BOOST_AUTO_TEST_SUITE_END()
