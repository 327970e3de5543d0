#include "tests/unit/ops/gradient_check.h"
#include "tests/unit/ops/hand_values.h"

using namespace tx_test;

BOOST_AUTO_TEST_SUITE(ops_embed)

BOOST_AUTO_TEST_CASE(value_by_hand) {
  Hand hand;
  const MaskedRows rows(hand.backend, 3);
  tx::DeviceInts ids(hand.backend);
  const tx::Tensor positions = hand.tensor(3, 2, {0, 1, 0.5, -0.5, 7, 8});
  tx::EmbedInput e;
  e.ids = ids.set<int32_t>(std::vector<int32_t>{2, 0, 2});
  e.rows = 3;
  e.table = hand.parameter(3, 2, {1, 2, 3, 4, 5, 6});
  e.scale = 10;
  e.positions = positions.value();
  e.drop = rows.dropout(0);
  check_close(hand.values(embed(hand.context, e)), {50, 61, 10.5, 19.5, 57, 68}, 1e-15);
}

BOOST_AUTO_TEST_CASE(gradients) {
  for (double p : {0.0, 0.3}) {
    GradientCheck check;
    const MaskedRows rows(check.backend, 6);
    tx::DeviceInts ids(check.backend);
    tx::EmbedInput e;
    e.ids = ids.set<int32_t>(std::vector<int32_t>{4, 1, 4, 0, 6, 1});  // 2, 3 and 5 are not read
    e.rows = 6;
    e.table = check.parameter("table", 7, 10);
    e.scale = 3;
    e.learned = check.parameter("positions", 8, 10);
    e.positions = e.learned.value;
    e.drop = rows.dropout(p);
    BOOST_TEST_CONTEXT("dropout " << p)
    check({}, [&](auto& c, auto&) { return Tensors{embed(c, e)}; });
  }
}

// Source and target ids share one table.
BOOST_AUTO_TEST_CASE(gradients_of_a_shared_table_add_up) {
  GradientCheck check;
  const MaskedRows rows(check.backend, 3);
  tx::DeviceInts source(check.backend), target(check.backend);
  const tx::Parameter table = check.parameter("table", 5, 4);
  const tx::Parameter positions = check.parameter("positions", 3, 4);
  const auto input = [&](const int32_t* ids) {
    return tx::EmbedInput{ids, 3, table, 2, positions.value, positions, rows.dropout(0)};
  };
  const tx::EmbedInput a = input(source.set<int32_t>(std::vector<int32_t>{4, 1, 4}));
  const tx::EmbedInput b = input(target.set<int32_t>(std::vector<int32_t>{0, 1, 2}));
  check({}, [&](auto& c, auto&) { return Tensors{embed(c, a), embed(c, b)}; });
}

BOOST_AUTO_TEST_CASE(wrong_shapes) {
  Hand hand;
  const MaskedRows rows(hand.backend, 2);
  tx::DeviceInts ids(hand.backend);
  const tx::Tensor narrow = hand.tensor(2, 3), wide = hand.tensor(2, 4);
  tx::EmbedInput e{ids.set<int32_t>(std::vector<int32_t>{0, 1}),
                   2,
                   hand.parameter(5, 4),
                   1,
                   narrow.value(),
                   {},
                   rows.dropout(0)};
  BOOST_CHECK_THROW(embed(hand.context, e), tx::Bug);
  e.positions = wide.value();
  BOOST_CHECK_NO_THROW(embed(hand.context, e));
  e.drop.keys = {};
  BOOST_CHECK_THROW(embed(hand.context, e), tx::Bug);
}

BOOST_AUTO_TEST_SUITE_END()
