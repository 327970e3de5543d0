// Ranks are threads here: tests/thread_ranks.h.
#include "tests/thread_ranks.h"
#include "tests/unit/ops/hand_values.h"

using namespace tx_test;

namespace {

using Values = std::vector<double>;

// x (3,4) and v (2,4), which all ranks read, and each rank's own w (5,4).
struct Inputs {
  Values x = value("x", 0, 12), v = value("v", 0, 8);
  std::vector<Values> w;
  explicit Inputs(int ranks) {
    for (int r = 0; r < ranks; ++r) w.push_back(value("w", uint32_t(r), 20));
  }
};
struct Found {
  Values dx, dv, dw, y;
};

// loss = weights . (sum over ranks of x w^T) + others . x v^T: one product with x is split over
// ranks, the other is not.
Found run(const Inputs& in, tx::Communicator& ranks, bool recompute) {
  Hand hand;
  tx::Context& c = hand.context;
  c.recording = true;
  c.recompute = recompute;
  const tx::Parameter w = hand.parameter(5, 4, in.w[size_t(ranks.rank())]),
                      v = hand.parameter(2, 4, in.v);
  tx::Tensor x = hand.tensor(3, 4, in.x);
  const std::vector<tx::Tensor> y = c.segment({x}, [&](const std::vector<tx::Tensor>& read) {
    const tx::Tensor split = linear(c, read_by_ranks(c, read[0], ranks), w);
    sum_over_ranks(c, split, ranks);
    return std::vector<tx::Tensor>{split};
  });
  tx::Tensor split = y[0], whole = linear(c, x, v);
  const Values weights = value("weights", 0, 15), others = value("others", 0, 6);
  Found found;
  found.y = hand.values(split);
  bool add = false;
  to_device(hand.backend, weights, c.gradient(split, add));
  to_device(hand.backend, others, c.gradient(whole, add));
  c.backward();
  found.dx = to_host(hand.backend, std::as_const(c).gradient(x));
  found.dv = to_host(hand.backend, v.gradient);
  found.dw = to_host(hand.backend, w.gradient);
  return found;
}

std::vector<Found> run(const Inputs& in, bool recompute = false) {
  std::vector<Found> found(in.w.size());
  on_ranks(int(in.w.size()), [&](tx::Communicator& ranks) {
    found[size_t(ranks.rank())] = run(in, ranks, recompute);
  });
  return found;
}

// a (n,inner) times b (inner,m); with `transpose` a is given as (inner,n).
Values multiply(const Values& a, const Values& b, size_t n, size_t inner, size_t m,
                bool transpose) {
  Values c(n * m);
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < inner; ++k)
      for (size_t j = 0; j < m; ++j)
        c[i * m + j] += a[transpose ? k * n + i : i * inner + k] * b[k * m + j];
  return c;
}

// The sum over ranks, as each rank computes it.
std::vector<Values> sums(tx::DType dtype, const std::vector<Values>& of, int64_t rows) {
  std::vector<Values> found(of.size());
  on_ranks(int(of.size()), [&](tx::Communicator& ranks) {
    const Values& own = of[size_t(ranks.rank())];
    Hand hand;
    tx::Arena arena(hand.backend, 1 << 26);
    tx::Context context(hand.backend, arena, dtype);
    const int64_t cols = int64_t(own.size()) / rows;
    const tx::Tensor x = context.make(rows, cols);
    const tx::Tensor given = context.make(rows, cols, tx::DType::f64);
    to_device(hand.backend, own, given.value());
    hand.backend->convert(given.value(), x.value());
    sum_over_ranks(context, x, ranks);
    found[size_t(ranks.rank())] = to_host(hand.backend, x.value());
  });
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ops_across_ranks)

BOOST_AUTO_TEST_CASE(sums_by_hand) {
  for (const Values& sum : sums(tx::DType::f32, {{1, -10}, {2, 20}, {3, 0.5}}, 1))
    check_close(sum, {6, 10.5}, 0);
  // In bf16, 256 + 1 = 256.
  for (const Values& sum : sums(tx::DType::bf16, {{256}, {1}, {1}}, 1)) check_close(sum, {258}, 0);
}

BOOST_AUTO_TEST_CASE(sums_of_more_than_a_chunk) {
  const std::vector<Values> parts{value("a", 0, 540'000), value("b", 0, 540'000)};
  Values wanted(540'000);
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = parts[0][i] + parts[1][i];
  for (const int64_t rows : {2, 90}) check_close(sums(tx::DType::f64, parts, rows)[1], wanted, 0);
}

// dx = weights (sum of the ranks' w) + others v, dv = others^T x, dw = weights^T x.
BOOST_AUTO_TEST_CASE(gradients) {
  const Values weights = value("weights", 0, 15), others = value("others", 0, 6);
  for (const int count : {1, 2, 3}) {
    const Inputs in(count);
    Values sum(20), dx = multiply(others, in.v, 3, 2, 4, false);
    for (const Values& w : in.w)
      for (size_t i = 0; i < 20; ++i) sum[i] += w[i];
    const Values part = multiply(weights, sum, 3, 5, 4, false);
    for (size_t i = 0; i < 12; ++i) dx[i] += part[i];
    for (const Found& f : run(in)) {
      check_close(f.dx, dx, 1e-12);
      check_close(f.dv, multiply(others, in.x, 2, 3, 4, true), 1e-12);
      check_close(f.dw, multiply(weights, in.x, 5, 3, 4, true), 1e-12);
    }
  }
}

BOOST_AUTO_TEST_CASE(computed_again_in_backward) {
  const Inputs in(2);
  const std::vector<Found> once = run(in), again = run(in, true);
  for (size_t r = 0; r < 2; ++r)
    BOOST_TEST((once[r].dx == again[r].dx && once[r].dw == again[r].dw && once[r].y == again[r].y));
}

BOOST_AUTO_TEST_SUITE_END()
