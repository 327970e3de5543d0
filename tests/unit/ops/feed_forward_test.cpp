#include "tests/unit/ops/gradient_check.h"
#include "tests/unit/ops/hand_values.h"

using namespace tx_test;
using tx::Activation;

BOOST_AUTO_TEST_SUITE(ops_feed_forward)

BOOST_AUTO_TEST_CASE(values_by_hand) {
  Hand hand;
  const tx::Tensor x = hand.tensor(2, 1, {1, -2});
  const tx::Parameter w1 = hand.parameter(2, 1, {1, -1}), b1 = hand.parameter(1, 2, {0.5, 0});
  const tx::Parameter w2 = hand.parameter(1, 2, {2, 3}), b2 = hand.parameter(1, 1, {1});
  const auto y = [&](const tx::Parameter& one, const tx::Parameter& two, Activation activation) {
    return hand.values(feed_forward(hand.context, x, w1, one, w2, two, activation, {}));
  };
  check_close(y(b1, b2, Activation::relu), {4, 7}, 1e-15);
  check_close(y({}, {}, Activation::relu), {2, 6}, 1e-15);
  check_close(y(b1, b2, Activation::none), {1, 4}, 1e-15);
}

BOOST_AUTO_TEST_CASE(gradients) {
  for (const Activation activation : {Activation::relu, Activation::gelu, Activation::swiglu})
    for (const double p : {0.0, 0.3}) {
      GradientCheck check;
      const MaskedRows rows(check.backend, 7);
      const int64_t gates = is_gated(activation) ? 2 : 1;
      const tx::Parameter w1 = check.parameter("w1", 11 * gates, 5);
      const tx::Parameter b1 = check.parameter("b1", 1, 11 * gates);
      const tx::Parameter w2 = check.parameter("w2", 4, 11), b2 = check.parameter("b2", 1, 4);
      BOOST_TEST_CONTEXT("activation " << int(activation) << ", dropout " << p)
      check({{7, 5}}, [&](auto& c, auto& x) {
        return Tensors{feed_forward(c, x[0], w1, b1, w2, b2, activation, rows.dropout(p))};
      });
    }
}

BOOST_AUTO_TEST_CASE(gradients_without_bias) {
  GradientCheck check;
  const tx::Parameter w1 = check.parameter("w1", 9, 5), w2 = check.parameter("w2", 5, 9);
  check({{3, 5}}, [&](auto& c, auto& x) {
    return Tensors{feed_forward(c, x[0], w1, {}, w2, {}, Activation::relu, {})};
  });
}

// In f32: the values and gradients, and the memory, of linear_activation() and linear().
BOOST_AUTO_TEST_CASE(bits_and_memory_of_two_ops) {
  tx::Backend backend = tx::make_backend(tx::Device::cpu, 2);
  const MaskedRows masks(backend, 150);
  constexpr int64_t rows = 150, d = 24, f = 40;
  const auto run = [&](tx::Arena& arena, bool whole) {
    tx::Context context(backend, arena, tx::DType::f32);
    context.recording = true;
    Tensors kept;
    std::deque<int> written;
    const auto make = [&](int64_t n, int64_t m) {
      kept.push_back(context.make(n, m));
      if (!arena.counting())
        to_device(backend, value("leaf", uint32_t(kept.size()), size_t(n * m)),
                  kept.back().value());
      return kept.back();
    };
    const auto parameter = [&](int64_t n, int64_t m) {
      tx::Parameter p;
      p.value = make(n, m).value();
      p.gradient = make(n, m).value();
      p.written = &written.emplace_back(0);
      return p;
    };
    tx::Tensor x = make(rows, d);
    const tx::Parameter w1 = parameter(f, d), b1 = parameter(1, f);
    const tx::Parameter w2 = parameter(d, f), b2 = parameter(1, d);
    const tx::Dropout drop = masks.dropout(0.3);
    tx::Tensor y =
        whole ? feed_forward(context, x, w1, b1, w2, b2, Activation::relu, drop)
              : linear(context, linear_activation(context, x, w1, b1, Activation::relu, drop), w2,
                       b2);
    bool add = false;
    const tx::Matrix dy = context.gradient(y, add);
    std::vector<std::vector<double>> results;
    if (!arena.counting()) {
      to_device(backend, value("dy", 0, size_t(rows * d)), dy);
      results.push_back(to_host(backend, y.value()));
    }
    y = {};
    context.backward();
    if (arena.counting()) return results;
    results.push_back(to_host(backend, std::as_const(context).gradient(x)));
    for (const tx::Tensor& t : kept) results.push_back(to_host(backend, t.value()));
    return results;
  };
  tx::Arena arena(backend, 1 << 22), one, two;
  BOOST_TEST((run(arena, true) == run(arena, false)));
  run(one, true), run(two, false);
  BOOST_TEST(one.peak() == two.peak());
}

BOOST_AUTO_TEST_CASE(wrong_shapes) {
  Hand hand;
  const auto f = [&](int64_t cols, int64_t bias, int64_t inner) {
    feed_forward(hand.context, hand.tensor(2, cols), hand.parameter(3, 5), hand.parameter(1, bias),
                 hand.parameter(4, inner), {}, Activation::relu, {});
  };
  BOOST_CHECK_NO_THROW(f(5, 3, 3));
  BOOST_CHECK_THROW(f(4, 3, 3), tx::Bug);
  BOOST_CHECK_THROW(f(5, 4, 3), tx::Bug);
  BOOST_CHECK_THROW(f(5, 3, 2), tx::Bug);
}

BOOST_AUTO_TEST_SUITE_END()
