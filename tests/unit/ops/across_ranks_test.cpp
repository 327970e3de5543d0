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
  double loss = 0;
  Values dx, dv, dw, y;
};

double product(const Values& a, const Values& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

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
  found.loss = product(weights, found.y) + product(others, hand.values(whole));
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

void check_slopes(const Values& gradient, Inputs& in, Values& moved) {
  constexpr double h = 1e-5;
  for (size_t i = 0; i < moved.size(); ++i) {
    const double kept = moved[i];
    moved[i] = kept + h;
    const double up = run(in)[0].loss;
    moved[i] = kept - h;
    const double down = run(in)[0].loss;
    moved[i] = kept;
    BOOST_TEST(std::abs(gradient[i] - (up - down) / (2 * h)) < 1e-8);
  }
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
  const std::vector<Values> parts{value("a", 0, 900'000), value("b", 0, 900'000)};
  Values wanted(900'000);
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = parts[0][i] + parts[1][i];
  for (const int64_t rows : {3, 90}) check_close(sums(tx::DType::f64, parts, rows)[1], wanted, 0);
}

BOOST_AUTO_TEST_CASE(gradients) {
  for (const int count : {1, 2, 3}) {
    Inputs in(count);
    const std::vector<Found> found = run(in);
    for (const Found& f : found) {
      BOOST_TEST((f.y == found[0].y && f.dx == found[0].dx && f.dv == found[0].dv));
    }
    check_slopes(found[0].dx, in, in.x);
    check_slopes(found[0].dv, in, in.v);
    for (size_t r = 0; r < found.size(); ++r) check_slopes(found[r].dw, in, in.w[r]);
  }
}

BOOST_AUTO_TEST_CASE(computed_again_in_backward) {
  const Inputs in(2);
  const std::vector<Found> once = run(in), again = run(in, true);
  for (size_t r = 0; r < 2; ++r)
    BOOST_TEST((once[r].dx == again[r].dx && once[r].dw == again[r].dw && once[r].y == again[r].y));
}

BOOST_AUTO_TEST_SUITE_END()
