// One row of the tables of products: operands, the naive product, the checks.
#pragma once
#include <boost/test/unit_test.hpp>
#include <functional>
#include <ostream>

#include "tests/unit/kernels/gemm_support.h"

namespace tx_test {

struct Case {
  tx::DType in, out;
  int64_t m, n, k;
  bool transpose_a, transpose_b, accumulate, bias, relu;
  int64_t gap;
  int threads;
};

inline std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << "dtypes " << int(c.in) << "->" << int(c.out) << " m " << c.m << " n " << c.n
             << " k " << c.k << (c.transpose_a ? " a^T" : "") << (c.transpose_b ? " b^T" : "")
             << (c.accumulate ? " add" : "") << (c.bias ? " bias" : "") << (c.relu ? " relu" : "")
             << " gap " << c.gap << " threads " << c.threads;
}

// The operands of a case; c is filled with what the product must overwrite or add to.
struct Operands {
  Block a, b, bias, c;
  tx::Product p;

  explicit Operands(const Case& t)
      : a(t.in, t.transpose_a ? t.k : t.m, t.transpose_a ? t.m : t.k, t.gap),
        b(t.in, t.transpose_b ? t.n : t.k, t.transpose_b ? t.k : t.n, 2 * t.gap),
        bias(t.in == tx::DType::f64 ? tx::DType::f64 : tx::DType::f32, 1, t.n),
        c(t.out, t.m, t.n, t.gap, t.gap) {
    a.randomise(1), b.randomise(2), bias.randomise(3);
    p.a = a.view(), p.b = b.view(), p.c = c.view();
    p.transpose_a = t.transpose_a, p.transpose_b = t.transpose_b, p.accumulate = t.accumulate;
    if (t.bias) p.bias = bias.view();
    p.activation = t.relu ? tx::Activation::relu : tx::Activation::none;
  }
  void dirty(double x) {
    if (p.accumulate) {
      c.randomise(4);
    } else {
      c.fill(x);
    }
  }
};

// The number of wrong elements of c. `before` is c before an accumulating product. `rounding` is
// the relative error allowed for a bias, or for a product that is added to c.
inline int64_t wrong(const Operands& o, const Case& t, const tx::Matrix& before,
                     double rounding = 0) {
  const std::vector<double> a = values(o.p.a), b = values(o.p.b), c = values(o.p.c);
  const std::vector<double> bias = values(o.p.bias), start = values(before);
  const int64_t a_row = t.transpose_a ? 1 : t.k, a_k = t.transpose_a ? t.m : 1;
  const int64_t b_col = t.transpose_b ? t.k : 1, b_k = t.transpose_b ? 1 : t.n;
  int64_t count = 0;
  for (int64_t i = 0; i < t.m; i++) {
    for (int64_t j = 0; j < t.n; j++) {
      double sum = t.accumulate ? start[size_t(i * t.n + j)] : 0, magnitude = std::abs(sum);
      if (t.bias) sum += bias[size_t(j)], magnitude += 1;
      for (int64_t k = 0; k < t.k; k++) {
        const double x = a[size_t(i * a_row + k * a_k)] * b[size_t(j * b_col + k * b_k)];
        sum += x, magnitude += std::abs(x);
      }
      const double summand = t.bias         ? bias[size_t(j)]
                             : t.accumulate ? sum - start[size_t(i * t.n + j)]
                                            : 0;
      if (t.relu) sum = std::max(sum, 0.0);
      const double error = std::abs(c[size_t(i * t.n + j)] - sum);
      count += !(error <= tolerance(t.in, t.out, magnitude, sum) + rounding * std::abs(summand));
    }
  }
  return count;
}

// Right values, nothing written outside c, and the same bits in three runs.
inline void check_product(const Case& t, Operands& o, const std::function<void()>& product,
                          double rounding = 0) {
  o.dirty(std::nan(""));
  Block before(t.out, t.m, t.n);
  if (t.accumulate) before.randomise(4);
  product();
  BOOST_TEST(wrong(o, t, before.view(), rounding) == 0);
  BOOST_TEST(o.c.intact());
  const std::vector<char> first = o.c.bytes();
  for (int run = 0; run < 2; run++) {
    o.dirty(1e30);
    product();
    BOOST_TEST((o.c.bytes() == first));
  }
}

}  // namespace tx_test
