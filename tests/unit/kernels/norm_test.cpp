// add_norm: residual sum, dropout and layer normalisation.
#include "tests/unit/kernels/checker.h"

using namespace tx_test;

namespace {

struct Problem {
  DType t;
  int64_t rows, width;
  bool residual;     // x is given
  bool rms = false;  // no beta
  Drop drop;
  double epsilon = 1e-6;
  Dense x, sub, gamma, beta;

  Problem(DType type, int64_t n, int64_t d, bool with_x, double p)
      : t(type),
        rows(n),
        width(d),
        residual(with_x),
        drop(random_drop(p, n)),
        x(random_dense(n, d, t, 1, -2, 2)),
        sub(random_dense(n, d, t, 2, -1, 2)),
        gamma(random_dense(1, d, sum_type(t), 3, 0.5, 1.5)),
        beta(random_dense(1, d, sum_type(t), 4)) {}
};

// What add_norm keeps: normed, stats and, with a residual, the sum.
Results run_problem(const Problem& p) {
  return run_layouts([&](Run& run) {
    const Matrix x = p.residual ? run.input(p.x, p.t) : Matrix{}, sub = run.input(p.sub, p.t);
    const Matrix gamma = run.input(p.gamma, sum_type(p.t));
    const Matrix beta = p.rms ? Matrix{} : run.input(p.beta, sum_type(p.t));
    const Matrix sum = p.residual ? run.output(p.rows, p.width, p.t) : Matrix{};
    const Matrix normed = run.output(p.rows, p.width, p.t);
    const Matrix stats = run.output(p.rows, 2, sum_type(p.t));
    const tx::Dropout drop = run.dropout(p.drop);
    run.call(
        [&](auto& b) { b.add_norm(x, sub, drop, gamma, beta, p.epsilon, sum, normed, stats); });
    run.keep(normed);
    run.keep(stats);
    if (p.residual) run.keep(sum);
  });
}

Dense naive_sum(const Problem& p) {
  Dense sum(p.rows, p.width);
  for (int64_t i = 0; i < p.rows; ++i)
    for (int64_t j = 0; j < p.width; ++j) sum(i, j) = p.x(i, j) + p.drop.factor(i, j) * p.sub(i, j);
  return sum;
}

// normed and stats of the rows that are normalised.
Results naive_norm(const Problem& p, const Dense& rows) {
  Results out = {Dense(p.rows, p.width), Dense(p.rows, 2)};
  for (int64_t i = 0; i < p.rows; ++i) {
    double mean = 0, variance = 0;
    for (int64_t j = 0; j < p.width && !p.rms; ++j) mean += rows(i, j) / double(p.width);
    for (int64_t j = 0; j < p.width; ++j)
      variance += (rows(i, j) - mean) * (rows(i, j) - mean) / double(p.width);
    const double rstd = 1 / std::sqrt(variance + p.epsilon);
    for (int64_t j = 0; j < p.width; ++j)
      out[0](i, j) = p.gamma(0, j) * (rows(i, j) - mean) * rstd + (p.rms ? 0 : p.beta(0, j));
    out[1](i, 0) = mean;
    out[1](i, 1) = rstd;
  }
  return out;
}

void check(const Problem& p, double factor = 2) {
  const Results got = run_problem(p);
  if (p.residual) check_close(got[2], naive_sum(p), p.t);
  // The stored (rounded) sum must be normalised, because the backward pass reads it.
  const Results want = naive_norm(p, p.residual ? got[2] : p.sub);
  check_close(got[0], want[0], p.t, factor);
  check_close(got[1], want[1], sum_type(p.t));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(norm)

BOOST_AUTO_TEST_CASE(table) {
  for (const DType t : dtypes())
    for (const int64_t rows : odd_sizes())
      for (const int64_t width : odd_sizes())
        for (const double drop : {0.0, 0.3}) {
          BOOST_TEST_CONTEXT(name_of(t) << ", " << rows << " x " << width << ", p " << drop) {
            Problem p(t, rows, width, true, drop);
            check(p);
            p.rms = true;
            check(p);
            if (drop == 0) check(Problem(t, rows, width, false, drop));
          }
        }
}

BOOST_AUTO_TEST_CASE(without_statistics) {
  const Problem p(DType::f32, 3, 63, false, 0);
  const Results with = run_problem(p),
                without = run_layouts([&](Run&run) {
                  const Matrix normed = run.output(p.rows, p.width, p.t),
                               sub = run.input(p.sub, p.t);
                  const Matrix gamma = run.input(p.gamma, p.t), beta = run.input(p.beta, p.t);
                  run.call([&](auto& b) {
                    b.add_norm({}, sub, {}, gamma, beta, p.epsilon, {}, normed, {});
                  });
                  run.keep(normed);
                });
  BOOST_TEST(same_bits(with[0], without[0]));
}

BOOST_AUTO_TEST_CASE(known_values) {
  for (const DType t : {DType::f32, DType::f64}) {
    if (t == DType::f64 && dtypes().size() < 3) continue;
    Problem p(t, 1, 4, false, 0);
    p.sub = {{1, 2, 3, 4}};
    p.gamma = Dense(1, 4, 1);
    p.beta = Dense(1, 4, 0);
    check_close(run_problem(p)[0], {{-1.3416402, -.4472134, .4472134, 1.3416402}}, {0, 5e-7});
    p.epsilon = 1e-5;
    check_close(run_problem(p)[0], {{-1.3416354, -.4472118, .4472118, 1.3416354}}, {0, 5e-7});
  }
}

// For any constant: rounding must not make the mean differ from it.
BOOST_AUTO_TEST_CASE(a_constant_row_gives_beta) {
  for (const DType t : dtypes())
    for (const int64_t width : odd_sizes())
      for (const double constant : {0.0, 1.0, 0.1, -3.7, 1000.1, 1e6, 3e9}) {
        Problem p(t, 2, width, false, 0);
        p.sub = Dense(2, width, round_to(t, constant));
        Dense want(2, width);
        for (int64_t j = 0; j < width; ++j) want(0, j) = want(1, j) = round_to(t, p.beta(0, j));
        BOOST_TEST_CONTEXT(name_of(t) << ", width " << width << ", constant " << constant)
        check_close(run_problem(p)[0], want, {0, 0});
      }
}

// The mean is rounded by up to half a unit in the last place; dividing by 0.58 amplifies the error.
BOOST_AUTO_TEST_CASE(rows_far_from_zero) {
  for (const DType t : dtypes()) {
    Problem p(t, 17, 130, false, 0);
    p.sub = random_dense(17, 130, t, 5, 99, 101);
    check(p, 100 / 0.58 * 0.06 + 2);
    p.sub = random_dense(17, 130, t, 5, -1001, -999);
    check(p, 1000 / 0.58 * 0.06 + 2);
  }
}

BOOST_AUTO_TEST_CASE(an_infinity_shows) {
  for (const DType t : dtypes()) {
    Problem p(t, 3, 17, false, 0);
    p.sub(1, 5) = INFINITY;
    const Dense got = run_problem(p)[0];
    for (int64_t j = 0; j < p.width; ++j) {
      BOOST_TEST(std::isfinite(got(0, j)));
      BOOST_TEST(std::isnan(got(1, j)));
      BOOST_TEST(std::isfinite(got(2, j)));
    }
  }
}

BOOST_AUTO_TEST_CASE(rows_do_not_depend_on_other_rows) {
  for (const DType t : dtypes())
    for (const int64_t width : {int64_t(63), int64_t(130)}) {
      const Problem p(t, 130, width, true, 0.1);
      check_rows_alone(p.rows, [&](Run& run, int64_t first, int64_t count) {
        const Matrix x = run.input(p.x.slice(first, count), t);
        const Matrix sub = run.input(p.sub.slice(first, count), t);
        const Matrix gamma = run.input(p.gamma, sum_type(t)), beta = run.input(p.beta, sum_type(t));
        const Matrix sum = run.output(count, width, t), normed = run.output(count, width, t);
        const tx::Dropout drop = run.dropout(p.drop.slice(first, count));
        run.call(
            [&](auto& b) { b.add_norm(x, sub, drop, gamma, beta, p.epsilon, sum, normed, {}); });
        run.keep(normed);
      });
    }
}

BOOST_AUTO_TEST_SUITE_END()
