#include "tests/unit/ops/gradient_check.h"
#include "tests/unit/ops/hand_values.h"

using namespace tx_test;

namespace {

tx::Norm norm_of(GradientCheck& check, int64_t d) {
  return {check.parameter("gamma", 1, d), check.parameter("beta", 1, d), 1e-6};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ops_add_norm)

BOOST_AUTO_TEST_CASE(layer_norm_by_hand) {
  Hand hand;
  const auto normed = [&](const std::vector<double>& row, std::vector<double> gamma,
                          std::vector<double> beta) {
    const tx::Norm norm{hand.parameter(1, 4, gamma), hand.parameter(1, 4, beta), 1e-6};
    return hand.values(layer_norm(hand.context, hand.tensor(1, 4, row), norm));
  };
  const std::vector<double> unit{-1.3416402, -.4472134, .4472134, 1.3416402};
  check_close(normed({1, 2, 3, 4}, {1, 1, 1, 1}, {0, 0, 0, 0}), unit, 1e-7);
  check_close(normed({1, 2, 3, 4}, {2, 1, -1, 3}, {1, 0, 0, -1}),
              {2 * unit[0] + 1, unit[1], -unit[2], 3 * unit[3] - 1}, 1e-6);
  check_close(normed({7, 7, 7, 7}, {2, 1, -1, 3}, {1, 0, 0.5, -1}), {1, 0, 0.5, -1}, 0);
}

BOOST_AUTO_TEST_CASE(sum_and_norm_by_hand) {
  Hand hand;
  const tx::Norm norm{hand.parameter(1, 4, {1, 1, 1, 1}), hand.parameter(1, 4, {0, 0, 0, 0})};
  const tx::Normed out = add_norm(hand.context, hand.tensor(1, 4, {0, 1, 1, 1}),
                                  hand.tensor(1, 4, {1, 1, 2, 3}), {}, norm);
  check_close(hand.values(out.sum), {1, 2, 3, 4}, 0);
  check_close(hand.values(out.normed), {-1.3416402, -.4472134, .4472134, 1.3416402}, 1e-7);
}

BOOST_AUTO_TEST_CASE(dropout_falls_on_the_sublayer_alone) {
  Hand hand;
  const MaskedRows rows(hand.backend, 40);
  const tx::Norm norm{hand.parameter(1, 16), hand.parameter(1, 16)};
  const std::vector<double> ones(640, 1), hundreds(640, 100);
  const tx::Normed out = add_norm(hand.context, hand.tensor(40, 16, hundreds),
                                  hand.tensor(40, 16, ones), rows.dropout(0.25), norm);
  int dropped = 0;
  for (double x : hand.values(out.sum)) {
    dropped += x == 100;
    BOOST_TEST((x == 100 || std::abs(x - 100 - 4.0 / 3) < 1e-12));
  }
  BOOST_TEST(std::abs(dropped - 160) < 50);  // 4.5 standard deviations of 640 draws
}

BOOST_AUTO_TEST_CASE(gradients) {
  for (double p : {0.0, 0.3}) {
    GradientCheck check;
    const MaskedRows rows(check.backend, 6);
    const tx::Norm norm = norm_of(check, 9);
    BOOST_TEST_CONTEXT("dropout " << p)
    check({{6, 9}, {6, 9}}, [&](auto& c, auto& x) {
      const tx::Normed out = add_norm(c, x[0], x[1], rows.dropout(p), norm);
      return Tensors{out.sum, out.normed};
    });
  }
}

BOOST_AUTO_TEST_CASE(gradients_of_the_norm_alone) {  // post-norm: nothing else reads the sum
  GradientCheck check;
  const tx::Norm norm = norm_of(check, 9);
  check({{6, 9}, {6, 9}},
        [&](auto& c, auto& x) { return Tensors{add_norm(c, x[0], x[1], {}, norm).normed}; });
}

BOOST_AUTO_TEST_CASE(gradients_of_layer_norm) {
  GradientCheck check;
  const tx::Norm norm = norm_of(check, 9);
  check({{6, 9}}, [&](auto& c, auto& x) { return Tensors{layer_norm(c, x[0], norm)}; });
}

// Pre-norm: the residual stream reads x too, so its gradient has two contributions.
BOOST_AUTO_TEST_CASE(gradients_of_a_residual) {
  GradientCheck check;
  const tx::Norm first = norm_of(check, 9), second = norm_of(check, 9);
  check({{6, 9}}, [&](auto& c, auto& x) {
    const tx::Tensor sub = layer_norm(c, x[0], first);
    const tx::Normed out = add_norm(c, x[0], sub, {}, second);
    return Tensors{out.sum, out.normed};
  });
}

BOOST_AUTO_TEST_CASE(root_mean_square_by_hand) {
  Hand hand;
  const tx::Norm norm{hand.parameter(1, 4, {1, 2, 1, -1}), {}, 0};
  const double rms = std::sqrt(30 / 4.0);
  check_close(hand.values(layer_norm(hand.context, hand.tensor(1, 4, {1, 2, 3, 4}), norm)),
              {1 / rms, 4 / rms, 3 / rms, -4 / rms}, 1e-15);
}

BOOST_AUTO_TEST_CASE(gradients_of_root_mean_squares) {
  for (double p : {0.0, 0.3}) {
    GradientCheck check;
    const MaskedRows rows(check.backend, 6);
    const tx::Norm first{check.parameter("first", 1, 9), {}},
        second{check.parameter("w", 1, 9), {}};
    BOOST_TEST_CONTEXT("dropout " << p)
    check({{6, 9}}, [&](auto& c, auto& x) {
      const tx::Tensor sub = layer_norm(c, x[0], first);
      const tx::Normed out = add_norm(c, x[0], sub, rows.dropout(p), second);
      return Tensors{out.sum, out.normed};
    });
  }
}

BOOST_AUTO_TEST_CASE(ablations_by_hand) {
  Hand hand;
  tx::Context& c = hand.context;
  const tx::Norm norm{hand.parameter(1, 4, {1, 1, 1, 1}), hand.parameter(1, 4, {0, 0, 0, 0})};
  const tx::Normed without_norm =
      add_norm(c, hand.tensor(1, 4, {0, 1, 1, 1}), hand.tensor(1, 4, {1, 1, 2, 3}), {}, {});
  check_close(hand.values(without_norm.normed), {1, 2, 3, 4}, 0);
  const tx::Normed without_residual = add_norm(c, {}, hand.tensor(1, 4, {1, 2, 3, 4}), {}, norm);
  check_close(hand.values(without_residual.sum), {1, 2, 3, 4}, 0);
  check_close(hand.values(without_residual.normed), {-1.3416402, -.4472134, .4472134, 1.3416402},
              1e-7);
}

// Ablations drop the elements that the whole op drops.
BOOST_AUTO_TEST_CASE(ablations_have_the_same_masks) {
  Hand hand;
  tx::Context& c = hand.context;
  const MaskedRows rows(hand.backend, 40);
  const tx::Norm norm{hand.parameter(1, 16), hand.parameter(1, 16)};
  const tx::Tensor x = hand.tensor(40, 16, std::vector<double>(640, 0));
  const std::vector<double> ones(640, 1);
  const auto sum = [&](const tx::Tensor& to, const tx::Norm& with) {
    return hand.values(add_norm(c, to, hand.tensor(40, 16, ones), rows.dropout(0.25), with).sum);
  };
  const std::vector<double> whole = sum(x, norm);
  check_close(sum({}, norm), whole, 0);
  check_close(sum(x, {}), whole, 0);
  check_close(sum({}, {}), whole, 0);
}

BOOST_AUTO_TEST_CASE(gradients_of_ablations) {
  for (const bool residual : {false, true})
    for (const bool normed : {false, true})
      for (const double p : {0.0, 0.3}) {
        GradientCheck check;
        const MaskedRows rows(check.backend, 6);
        const tx::Parameter w = check.parameter("w", 9, 9);
        tx::Norm first, second;
        if (normed) first = norm_of(check, 9), second = norm_of(check, 9);
        BOOST_TEST_CONTEXT("residual " << residual << ", normed " << normed << ", dropout " << p)
        check({{6, 9}, {6, 9}}, [&](auto& c, auto& x) {
          const tx::Normed in = add_norm(c, x[0], x[1], rows.dropout(p), first);
          const tx::Tensor sub = linear(c, in.normed, w);
          const tx::Tensor to = residual ? in.sum : tx::Tensor();
          return Tensors{add_norm(c, to, sub, rows.dropout(p), second).normed};
        });
      }
}

BOOST_AUTO_TEST_CASE(wrong_shapes) {
  Hand hand;
  const tx::Norm norm{hand.parameter(1, 4), hand.parameter(1, 4)};
  const tx::Norm other{hand.parameter(1, 4), hand.parameter(1, 3)};
  tx::Context& c = hand.context;
  BOOST_CHECK_THROW(layer_norm(c, hand.tensor(2, 5), norm), tx::Bug);
  BOOST_CHECK_THROW(layer_norm(c, hand.tensor(2, 4), other), tx::Bug);
  BOOST_CHECK_THROW(add_norm(c, hand.tensor(2, 4), hand.tensor(3, 4), {}, norm), tx::Bug);
  BOOST_CHECK_THROW(add_norm(c, hand.tensor(2, 4), hand.tensor(2, 5), {}, norm), tx::Bug);
  BOOST_CHECK_THROW(add_norm(c, hand.tensor(2, 5), hand.tensor(2, 5), {}, norm), tx::Bug);
}

BOOST_AUTO_TEST_SUITE_END()
