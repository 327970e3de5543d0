// activate and activate_backward, the dropout masks themselves.
#include "tests/unit/kernels/checker.h"

using namespace tx_test;
using tx::Activation;

namespace {

struct Problem {
  DType t;
  int64_t rows, width;
  Activation activation;
  Drop drop;
  Dense x, dy, dbias;

  Problem(DType type, int64_t n, int64_t d, Activation a, double p)
      : t(type),
        rows(n),
        width(d),
        activation(a),
        drop(random_drop(p, n)),
        x(random_dense(n, d, t, 1, -3, 3)),
        dy(random_dense(n, d, t, 2)),
        dbias(random_dense(1, d, sum_type(t), 3)) {
    x.data[0] = 0;
  }
};

double value(Activation a, double x) {
  const double tanh_argument = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  switch (a) {
    case Activation::relu:
      return x <= 0 ? 0 : x;
    case Activation::gelu:
      return x * 0.5 * std::erfc(-x / std::sqrt(2));
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(tanh_argument));
    case Activation::gelu_sigmoid:
      return x / (1 + std::exp(-1.702 * x));
    case Activation::silu:
      return x / (1 + std::exp(-x));
    default:
      return x;
  }
}

double slope(Activation a, double x) {
  if (a == Activation::relu) return x > 0;
  if (a == Activation::none) return 1;
  if (a != Activation::gelu) return (value(a, x + 1e-5) - value(a, x - 1e-5)) / 2e-5;
  return 0.5 * std::erfc(-x / std::sqrt(2)) + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
}

Dense naive(const Problem& p, bool backward) {
  Dense y(p.rows, p.width);
  for (int64_t i = 0; i < p.rows; ++i)
    for (int64_t j = 0; j < p.width; ++j) {
      const double x = p.x(i, j);
      const double f = backward ? p.dy(i, j) * slope(p.activation, x) : value(p.activation, x);
      y(i, j) = p.drop.factor(i, j) == 0 ? 0 : p.drop.factor(i, j) * f;
    }
  return y;
}

Dense run_forward(const Problem& p) {
  const Results got = run_layouts([&](Run& run) {
    const Matrix x = run.input(p.x, p.t), y = run.output(p.rows, p.width, p.t);
    const Matrix in_place = run.inout(p.x, p.t);
    const tx::Dropout drop = run.dropout(p.drop);
    run.call([&](auto& b) {
      b.activate(x, p.activation, drop, y);
      b.activate(in_place, p.activation, drop, in_place);
    });
    run.keep(y);
    run.keep(in_place);
  });
  BOOST_TEST(same_bits(got[0], got[1]), "y over x differs");
  return got[0];
}

// What activate_backward reads: the output for relu, the input for the others.
Dense kept_of(const Problem& p) {
  return p.activation == Activation::relu ? round_to(p.t, naive(p, false)) : p.x;
}

// dx, and the column sums added to dbias or assigned.
Results run_backward(const Problem& p, bool add_bias) {
  const Dense kept = kept_of(p);
  return run_layouts([&](Run& run) {
    const Matrix y = run.input(kept, p.t), dy = run.input(p.dy, p.t);
    const Matrix dx = run.output(p.rows, p.width, p.t);
    const Matrix dbias = run.inout(add_bias ? p.dbias : Dense(1, p.width, NAN), sum_type(p.t));
    const tx::Dropout drop = run.dropout(p.drop);
    run.call([&](auto& b) { b.activate_backward(dy, y, p.activation, drop, dx, dbias, add_bias); });
    run.keep(dx);
    run.keep(dbias);
  });
}

// dx over dy, without a bias.
Dense run_backward_in_place(const Problem& p) {
  const Dense kept = kept_of(p);
  return run_layouts([&](Run& run) {
    const Matrix y = run.input(kept, p.t), dx = run.inout(p.dy, p.t);
    const tx::Dropout drop = run.dropout(p.drop);
    run.call([&](auto& b) { b.activate_backward(dx, y, p.activation, drop, dx, {}, false); });
    run.keep(dx);
  })[0];
}

void check_backward(const Problem& p, bool add_bias) {
  const Results got = run_backward(p, add_bias);
  const bool differences = p.t == DType::f64 && p.activation > Activation::gelu;
  check_close(got[0], naive(p, true), differences ? Tolerance{0, 1e-9} : tolerance(p.t));
  Dense sums = add_bias ? p.dbias : Dense(1, p.width);
  for (int64_t i = 0; i < p.rows; ++i)
    for (int64_t j = 0; j < p.width; ++j) sums(0, j) += got[0](i, j);
  check_sum(got[1], sums, p.t, p.rows);
  if (add_bias) return;
  BOOST_TEST(same_bits(run_backward_in_place(p), got[0]), "dx over dy differs");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pointwise)

BOOST_AUTO_TEST_CASE(table) {
  for (const DType t : dtypes())
    for (const int64_t rows : row_counts())
      for (const int64_t width : odd_sizes())
        for (const Activation a :
             {Activation::none, Activation::relu, Activation::gelu, Activation::gelu_tanh,
              Activation::gelu_sigmoid, Activation::silu})
          for (const double drop : {0.0, 0.1}) {
            const bool quick = a <= Activation::gelu || (rows == 63 && width >= 63);
            if (!quick) continue;
            BOOST_TEST_CONTEXT(name_of(t) << ", " << rows << " x " << width << ", p " << drop
                                          << ", activation " << int(a)) {
              const Problem p(t, rows, width, a, drop);
              check_close(run_forward(p), naive(p, false), t);
              check_backward(p, (rows / 2 + width / 2) % 2 == 1);
            }
          }
}

BOOST_AUTO_TEST_CASE(no_rows_give_no_bias) {
  const Problem p(DType::f32, 1, 17, Activation::relu, 0);
  Run run(layouts()[1]);
  const Matrix none = run.input(Dense(0, 17), p.t), dbias = run.output(1, 17, p.t);
  run.call([&](auto& b) { b.activate_backward(none, none, p.activation, {}, none, dbias, false); });
  check_close(run.read(dbias), Dense(1, 17), {0, 0});
}

BOOST_AUTO_TEST_CASE(known_gelu) {
  for (const DType t : dtypes()) {
    if (t == DType::bf16) continue;
    Problem p(t, 1, 5, Activation::gelu, 0);
    p.x = {{-2, -1, .5, 1, 2}};
    check_close(run_forward(p), {{-.045500, -.158655, .345731, .841345, 1.954500}}, {0, 5e-7});
  }
}

// relu(NaN) = 0 would hide products that have overflowed.
BOOST_AUTO_TEST_CASE(infinities_and_nan) {
  for (const DType t : dtypes()) {
    Problem p(t, 1, 4, Activation::relu, 0);
    p.x = {{INFINITY, -INFINITY, NAN, -0.0}};
    check_close(run_forward(p), {{INFINITY, 0, NAN, 0}}, {0, 0});
    p.activation = Activation::none;
    check_close(run_forward(p), p.x, {0, 0});
    p.activation = Activation::gelu;
    p.x = {{INFINITY, -100, NAN, 100}};
    check_close(run_forward(p), {{INFINITY, 0, NAN, 100}}, {0, 0});
    for (const Activation a : {Activation::gelu_tanh, Activation::gelu_sigmoid, Activation::silu}) {
      p.activation = a;
      p.x = {{INFINITY, -120, NAN, 120}};
      check_close(run_forward(p), {{INFINITY, 0, NAN, 120}}, {0, 1e-30});
    }
  }
}

BOOST_AUTO_TEST_CASE(gelu_slope_agrees_with_differences, *needs_f64()) {
  Problem p(DType::f64, 3, 63, Activation::gelu, 0.3);
  const Dense got = run_backward(p, false)[0];
  Problem up = p, down = p;
  for (double& x : up.x.data) x += 1e-5;
  for (double& x : down.x.data) x -= 1e-5;
  const Dense a = run_forward(up), b = run_forward(down);
  Dense want = a;
  for (size_t i = 0; i < want.data.size(); ++i)
    want.data[i] = p.dy.data[i] * (a.data[i] - b.data[i]) / 2e-5;
  check_close(got, want, {0, 1e-9});
}

// Dropout of ones gives the mask; some widths are not multiples of the 8 features per Philox block.
BOOST_AUTO_TEST_CASE(masks_are_the_definition) {
  for (const int64_t width : {1, 7, 8, 9, 127, 128, 129, 1000})
    for (const double rate : {1e-5, 0.1, 0.3, 0.5, 0.99999, 1.0}) {
      Problem p(DType::f32, 17, width, Activation::none, rate);
      p.drop.seed = 0xfedcba98, p.drop.site = 0xffff1234, p.drop.step = 0x7fffffff;
      p.x = Dense(17, width, 1);
      BOOST_TEST_CONTEXT("width " << width << ", p " << rate)
      check_close(run_forward(p), naive(p, false), {1e-7, 0});
    }
}

BOOST_AUTO_TEST_CASE(masks_drop_the_share_they_say) {
  Problem p(DType::f32, 130, 1000, Activation::none, 0.1);
  p.x = Dense(130, 1000, 1);
  const Dense y = run_forward(p);
  double dropped = 0, sum = 0;
  for (const double v : y.data) dropped += v == 0, sum += v;
  BOOST_TEST(std::abs(dropped / 130000 - 0.1) < 0.004);  // nearly five standard deviations
  BOOST_TEST(std::abs(sum / 130000 - 1) < 0.005);
}

BOOST_AUTO_TEST_SUITE_END()
