// norm_heads and norm_heads_backward.
#include "tests/unit/kernels/checker.h"

using namespace tx_test;

namespace {

constexpr double epsilon = 1e-3;

struct Problem {
  DType t;
  int64_t rows, queries, keys, width, behind;  // heads; columns behind them
  Dense x, gamma, dy, dgamma;

  Problem(DType type, int64_t n, int64_t q, int64_t k, int64_t head, int64_t rest)
      : t(type),
        rows(n),
        queries(q),
        keys(k),
        width(head),
        behind(rest),
        x(random_dense(n, columns(), t, 1, -3, 3)),
        gamma(random_dense(1, 2 * head, sum_type(t), 2, 0.5, 1.5)),
        dy(random_dense(n, columns(), t, 3)),
        dgamma(random_dense(1, 2 * head, sum_type(t), 4)) {}
  int64_t heads() const { return queries + keys; }
  int64_t columns() const { return heads() * width + behind; }
  double gain(int64_t h, int64_t j) const { return gamma(0, (h < queries ? 0 : width) + j); }
  double rstd(int64_t i, int64_t h) const {
    double square = 0;
    for (int64_t j = 0; j < width; ++j) square += std::pow(x(i, h * width + j), 2);
    return 1 / std::sqrt(square / double(width) + epsilon);
  }
};

Dense naive(const Problem& p) {
  Dense y = p.x;
  for (int64_t i = 0; i < p.rows; ++i)
    for (int64_t h = 0; h < p.heads(); ++h)
      for (int64_t j = 0; j < p.width; ++j) y(i, h * p.width + j) *= p.rstd(i, h) * p.gain(h, j);
  return y;
}

// dx, then dgamma.
Results naive_backward(const Problem& p, bool add) {
  Results out = {p.dy, add ? p.dgamma : Dense(1, 2 * p.width)};
  for (int64_t i = 0; i < p.rows; ++i)
    for (int64_t h = 0; h < p.heads(); ++h) {
      const double rstd = p.rstd(i, h);
      double b = 0;
      for (int64_t j = 0; j < p.width; ++j) {
        const double xhat = p.x(i, h * p.width + j) * rstd, dy = p.dy(i, h * p.width + j);
        b += dy * p.gain(h, j) * xhat / double(p.width);
        out[1](0, (h < p.queries ? 0 : p.width) + j) += dy * xhat;
      }
      for (int64_t j = 0; j < p.width; ++j) {
        const int64_t at = h * p.width + j;
        out[0](i, at) = (p.dy(i, at) * p.gain(h, j) - p.x(i, at) * rstd * b) * rstd;
      }
    }
  return out;
}

tx::HeadNorm view_of(Run& run, const Problem& p, Matrix x) {
  return {.x = x.columns(0, p.heads() * p.width),
          .gamma = run.input(p.gamma, sum_type(p.t)),
          .queries = p.queries * p.width,
          .width = int(p.width),
          .epsilon = epsilon};
}

void check(const Problem& p) {
  for (const bool add : {false, true}) {
    const Results got = run_layouts([&](Run& run) {
      const Matrix y = run.inout(p.x, p.t), dx = run.inout(p.dy, p.t);
      const Matrix dgamma = run.inout(add ? p.dgamma : Dense(1, 2 * p.width, NAN), sum_type(p.t));
      const tx::HeadNorm forward = view_of(run, p, y);
      const tx::HeadNorm backward = view_of(run, p, run.input(p.x, p.t));
      run.call([&](auto& b) { b.norm_heads(forward); });
      run.call([&](auto& b) { b.norm_heads_backward(backward, dx, dgamma, add); });
      run.keep(y);
      run.keep(dx);
      run.keep(dgamma);
    });
    const Results back = naive_backward(p, add);
    check_close(got[0], naive(p), p.t);
    check_close(got[1], back[0], p.t, 4);
    check_sum(got[2], back[1], p.t, p.rows * p.heads());
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(norm_heads)

BOOST_AUTO_TEST_CASE(table) {
  for (const DType t : dtypes())
    for (const int64_t rows : row_counts())
      for (const int64_t width : {2, 8, 33, 64, 130})
        for (const auto& [queries, keys] : {std::pair{1, 1}, {4, 2}, {3, 3}})
          BOOST_TEST_CONTEXT(name_of(t) << ", " << rows << " rows, " << queries << " + " << keys
                                        << " heads of " << width) {
            check(Problem(t, rows, queries, keys, width, keys * width));
          }
}

BOOST_AUTO_TEST_CASE(no_rows) { check(Problem(DType::f32, 0, 2, 1, 8, 8)); }

// 3 and 4 have the root mean square sqrt(12.5).
BOOST_AUTO_TEST_CASE(known_values, *needs_f64()) {
  Problem p(DType::f64, 1, 1, 1, 2, 1);
  p.x = {{3, 4, 0, 0, 7}};
  p.gamma = {{1, 2, 5, 5}};
  const double rstd = 1 / std::sqrt(12.5 + epsilon);
  check_close(naive(p), {{3 * rstd, 8 * rstd, 0, 0, 7}}, {0, 1e-12});
  check(p);
}

BOOST_AUTO_TEST_SUITE_END()
