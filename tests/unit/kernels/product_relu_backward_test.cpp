// product_relu_backward against plain loops.
#include "tests/unit/kernels/checker.h"

using namespace tx_test;

namespace {

struct Problem {
  DType t;
  int64_t rows, width, inner;
  Drop drop;
  Dense a, b, y, dbias;

  Problem(DType type, int64_t m, int64_t n, int64_t k, double p)
      : t(type),
        rows(m),
        width(n),
        inner(k),
        drop(random_drop(p, m)),
        a(random_dense(m, k, t, 1)),
        b(random_dense(k, n, t, 2)),
        y(random_dense(m, n, t, 3)),
        dbias(random_dense(1, n, sum_type(t), 4)) {
    for (double& x : y.data) x = std::max(x, 0.0);
    y.data.back() = NAN;
  }
  bool kept(int64_t i, int64_t j) const { return y(i, j) > 0; }
};

Dense naive(const Problem& p) {
  const double scale = 65536.0 / (65536.0 - p.drop.threshold());
  Dense c(p.rows, p.width);
  for (int64_t i = 0; i < p.rows; ++i)
    for (int64_t k = 0; k < p.inner; ++k)
      for (int64_t j = 0; j < p.width; ++j)
        if (p.kept(i, j)) c(i, j) += p.a(i, k) * p.b(k, j) * scale;
  return c;
}

// c, and the column sums added to dbias or assigned; twice, and without dbias, c has the same bits.
Results run_kernel(const Problem& p, const Layout& layout, bool add_bias) {
  Run run(layout);
  const Matrix a = run.input(p.a, p.t), b = run.input(p.b, p.t), y = run.input(p.y, p.t);
  const tx::Dropout drop = run.dropout(p.drop);
  for (int call = 0; call < 3; ++call) {
    tx::Product product;
    product.a = a, product.b = b;
    product.c = run.output(p.rows, p.width, p.t);
    Matrix dbias;
    if (call < 2) dbias = run.inout(add_bias ? p.dbias : Dense(1, p.width, NAN), sum_type(p.t));
    run.call([&](auto& k) { k.product_relu_backward(product, y, drop, dbias, add_bias); });
    run.keep(product.c);
    if (call < 2) run.keep(dbias);
  }
  run.check_surroundings();
  BOOST_TEST(same_bits(run.results[0], run.results[2]), "a second call differs");
  BOOST_TEST(same_bits(run.results[1], run.results[3]), "sums of a second call differ");
  BOOST_TEST(same_bits(run.results[0], run.results[4]), "a call without a bias differs");
  return run.results;
}

void check(const Problem& p, const Layout& layout, bool add_bias) {
  const Results got = run_kernel(p, layout, add_bias);
  Tolerance limit = tolerance(p.t);
  limit.relative *= 2;  // the product may be rounded before it is scaled
  limit.size = double(p.inner);
  check_close(got[0], naive(p), limit);
  Dense sums = add_bias ? p.dbias : Dense(1, p.width);
  int64_t not_masked = 0;
  for (int64_t i = 0; i < p.rows; ++i)
    for (int64_t j = 0; j < p.width; ++j) {
      sums(0, j) += got[0](i, j);
      not_masked += !p.kept(i, j) && got[0](i, j) != 0;
    }
  BOOST_TEST(not_masked == 0);
  check_sum(got[1], sums, p.t, p.rows * p.inner);
}

const std::vector<std::vector<int64_t>>& shapes() {
  static const std::vector<std::vector<int64_t>> all = {
      {1, 3, 1}, {63, 130, 17}, {130, 136, 72}, {128, 128, 64}, {300, 264, 256}, {70, 40, 512}};
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(product_relu_backward)

BOOST_AUTO_TEST_CASE(table) {
  for (const DType t : dtypes())
    for (const auto& shape : shapes())
      for (const double drop : {0.0, 0.1})
        for (const Layout& layout : layouts()) {
          const Problem p(t, shape[0], shape[1], shape[2], drop);
          BOOST_TEST_CONTEXT(name_of(t) << ", " << p.rows << " x " << p.width << " x " << p.inner
                                        << ", p " << drop << ", " << layout.threads << " threads")
          check(p, layout, (layout.threads + int(drop * 10)) % 2 == 0);
        }
}

BOOST_AUTO_TEST_CASE(no_rows_give_no_bias) {
  for (const DType t : dtypes()) {
    const Problem p(t, 1, 16, 8, 0);
    Run run(layouts()[0]);
    tx::Product product;
    product.a = run.input(Dense(0, 8), t), product.b = run.input(p.b, t);
    product.c = run.output(0, 16, t);
    const Matrix y = run.input(Dense(0, 16), t), dbias = run.output(1, 16, sum_type(t));
    run.call([&](auto& k) { k.product_relu_backward(product, y, {}, dbias, false); });
    check_close(run.read(dbias), Dense(1, 16), {0, 0});
  }
}

BOOST_AUTO_TEST_SUITE_END()
