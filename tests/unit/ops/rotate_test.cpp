#include "tests/unit/ops/gradient_check.h"
#include "tests/unit/ops/hand_values.h"

using namespace tx_test;

namespace {

// One pair a head, turned by an angle per position.
tx::Matrix table_of(Hand& hand, tx::Tensor& kept, double angle) {
  std::vector<double> rows;
  for (int p = 0; p < 8; ++p) {
    rows.push_back(std::cos(angle * p));
    rows.push_back(std::sin(angle * p));
  }
  kept = hand.tensor(8, 2, rows);
  return kept.value();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ops_rotate)

// A quarter turn per position; the last column is not turned.
BOOST_AUTO_TEST_CASE(quarter_turns) {
  Hand hand;
  const MaskedRows rows(hand.backend, 3);
  tx::Tensor table;
  const tx::Rotary rotary{table_of(hand, table, M_PI / 2), 2, rows.keys.position};
  const tx::Tensor x = hand.tensor(3, 5, {1, 2, 3, 4, 9, 1, 2, 3, 4, 9, 1, 2, 3, 4, 9});
  rotate(hand.context, x, 4, rotary);
  check_close(hand.values(x), {1, 2, 3, 4, 9, -2, 1, -4, 3, 9, -1, -2, -3, -4, 9}, 1e-15);
}

BOOST_AUTO_TEST_CASE(gradients) {
  Hand hand;
  GradientCheck check;
  const MaskedRows rows(check.backend, 7);
  tx::Tensor table;
  const tx::Rotary rotary{table_of(hand, table, 0.7), 2, rows.keys.position};
  const tx::Parameter w = check.parameter("w", 9, 5);
  check({{7, 5}}, [&](auto& c, auto& x) {
    const tx::Tensor y = linear(c, x[0], w);
    rotate(c, y, 6, rotary);
    return Tensors{y};
  });
}

BOOST_AUTO_TEST_CASE(wrong_shapes) {
  Hand hand;
  const MaskedRows rows(hand.backend, 3);
  tx::Tensor table;
  const tx::Rotary rotary{table_of(hand, table, 1), 2, rows.keys.position};
  BOOST_CHECK_THROW(rotate(hand.context, hand.tensor(3, 5), 3, rotary), tx::Bug);
  BOOST_CHECK_THROW(rotate(hand.context, hand.tensor(3, 5), 6, rotary), tx::Bug);
}

BOOST_AUTO_TEST_SUITE_END()
