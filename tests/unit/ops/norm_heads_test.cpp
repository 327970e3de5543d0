#include "tests/unit/ops/gradient_check.h"
#include "tests/unit/ops/hand_values.h"

using namespace tx_test;

BOOST_AUTO_TEST_SUITE(ops_norm_heads)

// Two heads of queries, one of keys and a column of values.
BOOST_AUTO_TEST_CASE(by_hand) {
  Hand hand;
  const tx::Norm norm{hand.parameter(1, 4, {1, 2, 3, 4}), {}, 0};
  const tx::Tensor x = hand.tensor(1, 7, {1, 7, 5, 5, -2, 14, 9});
  norm_heads(hand.context, x, norm, 4, 6);
  check_close(hand.values(x), {0.2, 2.8, 1, 2, -0.6, 5.6, 9}, 1e-12);
}

BOOST_AUTO_TEST_CASE(gradients) {
  GradientCheck check;
  const tx::Parameter w = check.parameter("w", 11, 5), gamma = check.parameter("g", 1, 6);
  check({{7, 5}}, [&](auto& c, auto& x) {
    const tx::Tensor y = linear(c, x[0], w);
    norm_heads(c, y, {gamma, {}, 1e-3}, 6, 9);
    return Tensors{y};
  });
}

BOOST_AUTO_TEST_CASE(wrong_shapes) {
  Hand hand;
  const tx::Norm norm{hand.parameter(1, 4, {1, 1, 1, 1}), {}, 0};
  BOOST_CHECK_THROW(norm_heads(hand.context, hand.tensor(3, 5), norm, 2, 3), tx::Bug);
  BOOST_CHECK_THROW(norm_heads(hand.context, hand.tensor(3, 5), norm, 2, 6), tx::Bug);
}

BOOST_AUTO_TEST_SUITE_END()
