#include "tests/unit/ops/gradient_check.h"
#include "tests/unit/ops/hand_values.h"

using namespace tx_test;

BOOST_AUTO_TEST_SUITE(ops_linear)

BOOST_AUTO_TEST_CASE(value_by_hand) {
  Hand hand;
  const tx::Tensor x = hand.tensor(2, 3, {1, 2, 3, -1, 0, 4});
  const tx::Parameter w = hand.parameter(2, 3, {1, 0, -1, 2, 1, 0.5});
  const tx::Parameter bias = hand.parameter(1, 2, {10, 20});
  check_close(hand.values(linear(hand.context, x, w)), {-2, 5.5, -5, 0}, 1e-15);
  check_close(hand.values(linear(hand.context, x, w, bias)), {8, 25.5, 5, 20}, 1e-15);
}

BOOST_AUTO_TEST_CASE(gradients) {
  GradientCheck check;
  const tx::Parameter w = check.parameter("w", 3, 5), bias = check.parameter("b", 1, 3);
  check({{7, 5}}, [&](auto& c, auto& x) { return Tensors{linear(c, x[0], w, bias)}; });
}

BOOST_AUTO_TEST_CASE(gradients_of_weights_used_twice_add_up) {
  GradientCheck check;
  const tx::Parameter w = check.parameter("w", 5, 5);
  check({{7, 5}}, [&](auto& c, auto& x) { return Tensors{linear(c, linear(c, x[0], w), w)}; });
}

BOOST_AUTO_TEST_CASE(wrong_shapes) {
  Hand hand;
  const tx::Parameter w = hand.parameter(3, 5);
  BOOST_CHECK_THROW(linear(hand.context, hand.tensor(2, 4), w), tx::Bug);
  BOOST_CHECK_THROW(linear(hand.context, hand.tensor(2, 5), w, hand.parameter(1, 4)), tx::Bug);
}

BOOST_AUTO_TEST_SUITE_END()
