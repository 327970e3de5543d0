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

struct Blocks {
  tx::AddNorm p;
  Blocks(Run& run, const Problem& from, bool stats = true) {
    const DType t = from.t, full = sum_type(t);
    if (from.residual) p.x = run.input(from.x, t), p.sum = run.output(from.rows, from.width, t);
    p.sub = run.input(from.sub, t);
    p.gamma = run.input(from.gamma, full);
    if (!from.rms) p.beta = run.input(from.beta, full);
    p.epsilon = from.epsilon, p.drop = run.dropout(from.drop);
    p.normed = run.output(from.rows, from.width, t);
    if (stats) p.stats = run.output(from.rows, 2, full);
  }
};

// What add_norm keeps: normed, stats and, with a residual, the sum.
Results run_problem(const Problem& p) {
  return run_layouts([&](Run& run) {
    const Blocks blocks(run, p);
    run.call([&](auto& b) { b.add_norm(blocks.p); });
    run.keep(blocks.p.normed);
    run.keep(blocks.p.stats);
    if (p.residual) run.keep(blocks.p.sum);
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
  const Results with = run_problem(p), without = run_layouts([&](Run&run) {
                                         const Blocks blocks(run, p, false);
                                         run.call([&](auto& b) { b.add_norm(blocks.p); });
                                         run.keep(blocks.p.normed);
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
        run.call([&](auto& b) {
          b.add_norm({x, sub, drop, gamma, beta, p.epsilon, sum, normed, {}});
        });
        run.keep(normed);
      });
    }
}

// For few rows of bf16 a GPU may compute both by one kernel.
BOOST_AUTO_TEST_CASE(a_product_after_a_norm_has_the_bits_of_both_kernels) {
  struct Shape {
    int64_t rows, width, outputs;
  };
  for (const DType t : dtypes())
    for (const Shape s : {Shape{1, 64, 8},
                          {3, 256, 40},
                          {8, 320, 72},
                          {16, 512, 104},
                          {5, 1024, 32},
                          {17, 64, 24},
                          {2, 72, 16},
                          {4, 1088, 8}})
      for (const int form : {0, 1, 2, 3}) {
        Problem p(t, s.rows, s.width, form != 1, 0);
        p.rms = form == 2;
        const Dense weights = random_dense(s.outputs, s.width, t, 5);
        const Dense biases = random_dense(1, s.outputs, sum_type(t), 6);
        const DType to = form == 3 ? t : sum_type(t);
        const auto both = [&](bool by_one) {
          return run_layouts([&](Run& run) {
            const Blocks blocks(run, p);
            const Matrix w = run.input(weights, t), bias = run.input(biases, sum_type(t));
            const Matrix y = run.output(s.rows, s.outputs, to);
            const tx::Activation f = form == 3 ? tx::Activation::relu : tx::Activation::none;
            run.call([&](auto& b) {
              Matrix prepared = b.prepare(w);
              if (by_one) {
                b.add_norm_matmul(blocks.p, {blocks.p.normed, prepared, bias, f, y});
              } else {
                b.add_norm(blocks.p);
                b.matmul_invariant(blocks.p.normed, prepared, bias, f, y);
              }
              b.release_prepared(prepared);
            });
            run.keep(y);
            run.keep(blocks.p.normed);
            if (p.residual) run.keep(blocks.p.sum);
          });
        };
        const Results one = both(true), two = both(false);
        for (size_t i = 0; i < two.size(); ++i)
          BOOST_TEST(same_bits(one[i], two[i]),
                     "result " << i << ", " << name_of(t) << ", " << s.rows << " x " << s.width);
      }
}

BOOST_AUTO_TEST_SUITE_END()
