// add_norm_backward: against the formula, and against differences of add_norm in f64.
#include "tests/unit/kernels/checker.h"

using namespace tx_test;

namespace {

// Which operands are given, and which outputs are added to.
struct Choice {
  bool dsum, dx, dsub, add_x, add_parameters, rms = false;
};

struct Problem {
  DType t;
  int64_t rows, width;
  Choice with;
  Drop drop;
  Dense dnormed, dsum, sum, stats, gamma, dx, dgamma, dbeta;

  Problem(DType type, int64_t n, int64_t d, Choice choice, double p)
      : t(type),
        rows(n),
        width(d),
        with(choice),
        drop(random_drop(p, n)),
        dnormed(random_dense(n, d, t, 1)),
        dsum(random_dense(n, d, t, 2)),
        sum(random_dense(n, d, t, 3, -1, 3)),
        stats(random_dense(n, 2, DType::bf16, 8)),
        gamma(random_dense(1, d, sum_type(t), 4, 0.5, 1.5)),
        dx(random_dense(n, d, t, 5)),
        dgamma(random_dense(1, d, sum_type(t), 6)),
        dbeta(random_dense(1, d, sum_type(t), 7)) {
    // The formula holds for any statistics: they need not be those of the sum.
    for (int64_t i = 0; i < n; ++i) stats(i, 1) += 1.5;
  }
};

// The operands in the memory of a run; NaN where an output is assigned.
tx::AddNormBackward operands_of(const Problem& p, Run& run) {
  const DType a = sum_type(p.t);
  tx::AddNormBackward g;
  g.dnormed = run.input(p.dnormed, p.t);
  if (p.with.dsum) g.dsum = run.input(p.dsum, p.t);
  g.sum = run.input(p.sum, p.t);
  g.stats = run.input(p.stats, a);
  g.gamma = run.input(p.gamma, a);
  if (p.with.dx) g.dx = run.inout(p.with.add_x ? p.dx : Dense(p.rows, p.width, NAN), p.t);
  if (p.with.dsub) g.dsub = run.output(p.rows, p.width, p.t);
  g.dgamma = run.inout(p.with.add_parameters ? p.dgamma : Dense(1, p.width, NAN), a);
  if (!p.with.rms) g.dbeta = run.inout(p.with.add_parameters ? p.dbeta : Dense(1, p.width, NAN), a);
  g.add_x = p.with.add_x;
  g.add_parameters = p.with.add_parameters;
  g.drop = run.dropout(p.drop);
  return g;
}

// dgamma, dbeta, then dx and dsub as far as requested.
Results run_problem(const Problem& p) {
  return run_layouts([&](Run& run) {
    const tx::AddNormBackward g = operands_of(p, run);
    run.call([&](auto& b) { b.add_norm_backward(g); });
    run.keep(g.dgamma);
    if (!p.with.rms) run.keep(g.dbeta);
    if (p.with.dx) run.keep(g.dx);
    if (p.with.dsub) run.keep(g.dsub);
  });
}

Results naive(const Problem& p) {
  const Dense zero(p.rows, p.width), none(1, p.width);
  Results out = {p.with.add_parameters ? p.dgamma : none, p.with.add_parameters ? p.dbeta : none,
                 p.with.add_x ? p.dx : zero, zero};
  for (int64_t i = 0; i < p.rows; ++i) {
    const double mean = p.stats(i, 0), rstd = p.stats(i, 1);
    double a = 0, b = 0;
    for (int64_t j = 0; j < p.width; ++j) {
      const double x = (p.sum(i, j) - mean) * rstd, g = p.dnormed(i, j);
      if (!p.with.rms) a += g * p.gamma(0, j) / double(p.width);
      b += g * p.gamma(0, j) * x / double(p.width);
      out[0](0, j) += g * x;
      out[1](0, j) += g;
    }
    for (int64_t j = 0; j < p.width; ++j) {
      const double x = (p.sum(i, j) - mean) * rstd;
      const double d =
          rstd * (p.dnormed(i, j) * p.gamma(0, j) - a - x * b) + (p.with.dsum ? p.dsum(i, j) : 0);
      out[2](i, j) += d;
      out[3](i, j) = d * p.drop.factor(i, j);
    }
  }
  return out;
}

void check(const Problem& p) {
  const Results got = run_problem(p), want = naive(p);
  check_sum(got[0], want[0], p.t, p.rows);
  if (!p.with.rms) check_sum(got[1], want[1], p.t, p.rows);
  size_t next = p.with.rms ? 1 : 2;
  if (p.with.dx) check_close(got[next++], want[2], p.t, 4);
  if (p.with.dsub) check_close(got[next], want[3], p.t, 4);
}

// Sum over all elements of u * normed + v * sum, by add_norm.
double objective(const Problem& p, const Results& operands, const Dense& u, const Dense& v) {
  Run run(layouts()[0]);
  Matrix m[4];
  for (size_t i = 0; i < 4; ++i) m[i] = run.input(operands[i], DType::f64);
  const Matrix sum = run.output(p.rows, p.width, DType::f64);
  const Matrix normed = run.output(p.rows, p.width, DType::f64);
  const tx::Dropout drop = run.dropout(p.drop);
  run.call([&](auto& b) { b.add_norm({m[0], m[1], drop, m[2], m[3], 1e-6, sum, normed, {}}); });
  const Dense y = run.read(normed), s = run.read(sum);
  double value = 0;
  for (size_t i = 0; i < y.data.size(); ++i) value += u.data[i] * y.data[i] + v.data[i] * s.data[i];
  return value;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(norm_backward)

BOOST_AUTO_TEST_CASE(table) {
  const std::vector<Choice> choices = {
      {true, true, true, false, false},       {false, true, false, true, true},
      {true, false, true, false, true},       {false, true, true, true, false},
      {true, true, true, false, false, true}, {false, true, false, true, true, true}};
  for (const DType t : dtypes())
    for (const int64_t rows : row_counts())
      for (const int64_t width : odd_sizes())
        for (const Choice& choice : choices)
          for (const double drop : {0.0, 0.1}) {
            BOOST_TEST_CONTEXT(name_of(t)
                               << ", " << rows << " x " << width << ", p " << drop << ", dsum "
                               << choice.dsum << ", dx " << choice.dx << ", add " << choice.add_x
                               << choice.add_parameters << (choice.rms ? ", rms" : "")) {
              check(Problem(t, rows, width, choice, drop));
            }
          }
}

BOOST_AUTO_TEST_CASE(no_rows) {
  check(Problem(DType::f32, 0, 17, {true, true, true, false, false}, 0.1));
  check(Problem(DType::f32, 0, 17, {true, true, true, true, true}, 0.1));
}

BOOST_AUTO_TEST_CASE(agrees_with_differences, *needs_f64()) {
  Problem p(DType::f64, 3, 17, {true, true, true, false, false}, 0.3);
  Results operands = {random_dense(3, 17, p.t, 11), random_dense(3, 17, p.t, 12), p.gamma,
                      random_dense(1, 17, p.t, 13)};
  for (int64_t i = 0; i < p.rows; ++i) {
    double mean = 0, variance = 0;
    for (int64_t j = 0; j < 17; ++j) {
      p.sum(i, j) = operands[0](i, j) + p.drop.factor(i, j) * operands[1](i, j);
      mean += p.sum(i, j) / 17;
    }
    for (int64_t j = 0; j < 17; ++j) variance += std::pow(p.sum(i, j) - mean, 2) / 17;
    p.stats(i, 0) = mean;
    p.stats(i, 1) = 1 / std::sqrt(variance + 1e-6);
  }
  const Results got = run_problem(p);
  const size_t order[] = {2, 3, 0, 1};  // dx, dsub, dgamma, dbeta
  for (size_t k = 0; k < 4; ++k) {
    Dense want = operands[k];
    for (size_t i = 0; i < want.data.size(); ++i) {
      const double h = 1e-5;
      Results up = operands, down = operands;
      up[k].data[i] += h;
      down[k].data[i] -= h;
      want.data[i] =
          (objective(p, up, p.dnormed, p.dsum) - objective(p, down, p.dnormed, p.dsum)) / (2 * h);
    }
    BOOST_TEST_CONTEXT("operand " << k) check_close(got[order[k]], want, {0, 1e-8});
  }
}

BOOST_AUTO_TEST_SUITE_END()
