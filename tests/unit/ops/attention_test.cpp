#include "tests/unit/ops/gradient_check.h"
#include "tests/unit/ops/hand_values.h"

using namespace tx_test;

namespace {

using Offsets = std::vector<int32_t>;

tx::AttentionInput input(const int32_t* q_offsets, const int32_t* k_offsets, int64_t sentences,
                         int heads, int d_k, int d_v) {
  tx::AttentionInput a;
  a.q_offsets = q_offsets;
  a.k_offsets = k_offsets;
  a.sentences = sentences;
  a.heads = a.kv_heads = heads;
  a.scale = 1 / std::sqrt(double(d_k));
  a.d_k = d_k;
  a.d_v = d_v;
  return a;
}

// One sentence, one head.
std::vector<double> attend(Hand& hand, const std::vector<double>& q, const std::vector<double>& k,
                           const std::vector<double>& v, bool causal = false) {
  tx::DeviceInts rows_q(hand.backend), rows_k(hand.backend);
  const int32_t n = int32_t(q.size() / 2), m = int32_t(k.size() / 2);
  const int d_v = int(v.size()) / m;
  tx::AttentionInput a =
      input(rows_q.set<int32_t>(Offsets{0, n}), rows_k.set<int32_t>(Offsets{0, m}), 1, 1, 2, d_v);
  a.q = hand.tensor(n, 2, q);
  a.k = hand.tensor(m, 2, k);
  a.v = hand.tensor(m, d_v, v);
  a.causal = causal;
  return hand.values(attention(hand.context, a));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ops_attention)

BOOST_AUTO_TEST_CASE(scaled_and_unscaled_scores) {
  Hand hand;
  const std::vector<double> k{1, 0, 0, 1, .7, .7, -1, 0}, v{10, 20, 30, 40, 15, 25, 50, 60};
  const double unscale = std::sqrt(2.0);
  check_close(attend(hand, {.9, .1}, k, v), {19.9045, 29.9045}, 5e-5);
  check_close(attend(hand, {.9 * unscale, .1 * unscale}, k, v), {18.0926, 28.0926}, 5e-5);
  const std::vector<double> unit{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  check_close(attend(hand, {.9, .1}, k, unit), {.368169, .209109, .319616, .103105});
}

BOOST_AUTO_TEST_CASE(weights_and_outputs) {
  Hand hand;
  const std::vector<double> q{1, .5, .2, 1, .8, .3}, k{.9, .1, .3, .8, .7, .6};
  const std::vector<double> unit{1, 0, 0, 0, 1, 0, 0, 0, 1}, v{1, 0, 0, 1, 1, 1};
  check_close(attend(hand, q, k, unit),
              {.347953, .291573, .360475, .256977, .387264, .355759, .354716, .293067, .352217});
  check_close(attend(hand, q, k, v), {.708427, .652047, .612736, .743023, .706933, .645284});
  check_close(attend(hand, q, k, unit, true),
              {1, 0, 0, .398883, .601117, 0, .354716, .293067, .352217});
  check_close(attend(hand, q, k, v, true), {1, 0, .398883, .601117, .706933, .645284});
}

BOOST_AUTO_TEST_CASE(large_scores_do_not_overflow) {
  Hand hand;
  const double root = std::sqrt(2.0);
  check_close(attend(hand, {1000 * root, 999 * root}, {1, 0, 0, 1}, {1, 0, 0, 1}),
              {.731059, .268941});
}

BOOST_AUTO_TEST_CASE(gradients_of_separate_tensors) {
  for (bool causal : {false, true}) {
    GradientCheck check;
    tx::DeviceInts q(check.backend), k(check.backend);
    const Offsets queries{0, 3, 4, 8}, keys{0, 2, 7, 10};
    tx::AttentionInput a =
        input(q.set<int32_t>(queries), k.set<int32_t>(causal ? queries : keys), 3, 2, 3, 5);
    a.causal = causal;
    const int64_t rows = causal ? 8 : 10;
    BOOST_TEST_CONTEXT("causal " << causal)
    check({{8, 6}, {rows, 6}, {rows, 10}}, [&](auto& c, auto& x) {
      tx::AttentionInput in = a;
      in.q = x[0], in.k = x[1], in.v = x[2];
      return Tensors{attention(c, in)};
    });
  }
}

BOOST_AUTO_TEST_CASE(gradients_of_one_tensor_with_dropout) {
  for (bool causal : {false, true}) {
    GradientCheck check;
    const MaskedRows rows(check.backend, 7);
    tx::DeviceInts offsets(check.backend);
    const int32_t* at = offsets.set<int32_t>(Offsets{0, 5, 7});
    tx::AttentionInput a = input(at, at, 2, 2, 2, 3);
    a.k_column = 4;
    a.v_column = 8;
    a.causal = causal;
    a.drop = rows.dropout(0.2);
    if (!causal) a.scale = 1;
    BOOST_TEST_CONTEXT("causal " << causal)
    check({{7, 14}}, [&](auto& c, auto& x) {
      tx::AttentionInput in = a;
      in.q = in.k = in.v = x[0];
      return Tensors{attention(c, in)};
    });
  }
}

// Two decoder layers read the same matrix of keys and values, each its own columns.
BOOST_AUTO_TEST_CASE(gradients_of_a_memory_with_two_readers) {
  GradientCheck check;
  const tx::Parameter w = check.parameter("w", 2, 2);
  tx::DeviceInts q(check.backend), k(check.backend);
  tx::AttentionInput a =
      input(q.set<int32_t>(Offsets{0, 2, 5}), k.set<int32_t>(Offsets{0, 4, 6}), 2, 1, 2, 3);
  check({{5, 2}, {6, 10}}, [&](auto& c, auto& x) {
    Tensors out;
    for (int64_t layer : {0, 1}) {
      tx::AttentionInput in = a;
      in.q = x[0];
      in.k = in.v = x[1];
      in.k_column = layer * 5;
      in.v_column = layer * 5 + 2;
      if (layer == 0) in.q = linear(c, x[0], w);
      out.push_back(attention(c, in));
    }
    return out;
  });
}

BOOST_AUTO_TEST_CASE(wrong_shapes) {
  Hand hand;
  tx::DeviceInts offsets(hand.backend);
  const int32_t* at = offsets.set<int32_t>(Offsets{0, 4});
  tx::AttentionInput good = input(at, at, 1, 2, 3, 5);
  good.q = good.k = hand.tensor(4, 6);
  good.v = hand.tensor(4, 10);
  BOOST_CHECK_NO_THROW(attention(hand.context, good));
  const auto refused = [&](auto change) {
    tx::AttentionInput in = good;
    change(in);
    BOOST_CHECK_THROW(attention(hand.context, in), tx::Bug);
  };
  refused([&](auto& in) { in.v = hand.tensor(5, 10); });
  refused([&](auto& in) { in.q = hand.tensor(4, 5); });
  refused([&](auto& in) { in.k = hand.tensor(4, 5); });
  refused([&](auto& in) { in.v = hand.tensor(4, 9); });
  refused([&](auto& in) { in.v_column = 1; });
  refused([&](auto& in) { in.k_column = -1; });
  refused([&](auto& in) { in.heads = 0; });
}

BOOST_AUTO_TEST_SUITE_END()
