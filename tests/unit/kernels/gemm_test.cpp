// Products for training against naive double loops.
#include "kernels/cpu/gemm.h"

#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "tests/unit/kernels/gemm_support.h"

using tx::Activation;
using tx::Cpu;
using tx::DType;
using tx::Matrix;
using tx::Product;
using tx_test::Block;

namespace {

struct Case {
  DType in, out;
  int64_t m, n, k;
  bool transpose_a, transpose_b, accumulate, bias, relu;
  int64_t gap;
  int threads;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << "dtypes " << int(c.in) << "->" << int(c.out) << " m " << c.m << " n " << c.n
             << " k " << c.k << (c.transpose_a ? " a^T" : "") << (c.transpose_b ? " b^T" : "")
             << (c.accumulate ? " add" : "") << (c.bias ? " bias" : "") << (c.relu ? " relu" : "")
             << " gap " << c.gap << " threads " << c.threads;
}

// The operands of a case; c is filled with what the product must overwrite or add to.
struct Operands {
  Block a, b, bias, c;
  Product p;

  explicit Operands(const Case& t)
      : a(t.in, t.transpose_a ? t.k : t.m, t.transpose_a ? t.m : t.k, t.gap),
        b(t.in, t.transpose_b ? t.n : t.k, t.transpose_b ? t.k : t.n, 2 * t.gap),
        bias(t.in == DType::f64 ? DType::f64 : DType::f32, 1, t.n),
        c(t.out, t.m, t.n, t.gap, t.gap) {
    a.randomise(1), b.randomise(2), bias.randomise(3);
    p.a = a.view(), p.b = b.view(), p.c = c.view();
    p.transpose_a = t.transpose_a, p.transpose_b = t.transpose_b, p.accumulate = t.accumulate;
    if (t.bias) p.bias = bias.view();
    p.activation = t.relu ? Activation::relu : Activation::none;
  }
  void dirty(double x) {
    if (p.accumulate) {
      c.randomise(4);
    } else {
      c.fill(x);
    }
  }
};

// The number of elements that are wrong.
int64_t wrong(const Operands& o, const Case& t, const Matrix& before) {
  int64_t count = 0;
  for (int64_t i = 0; i < t.m; i++) {
    for (int64_t j = 0; j < t.n; j++) {
      double sum = t.accumulate ? tx_test::get(before, i, j) : 0, magnitude = std::abs(sum);
      if (t.bias) sum += tx_test::get(o.p.bias, 0, j), magnitude += 1;
      for (int64_t k = 0; k < t.k; k++) {
        const double x = tx_test::get(o.p.a, t.transpose_a ? k : i, t.transpose_a ? i : k) *
                         tx_test::get(o.p.b, t.transpose_b ? j : k, t.transpose_b ? k : j);
        sum += x, magnitude += std::abs(x);
      }
      if (t.relu) sum = std::max(sum, 0.0);
      const double error = std::abs(tx_test::get(o.p.c, i, j) - sum);
      count += !(error <= tx_test::tolerance(t.in, t.out, magnitude, sum));
    }
  }
  return count;
}

void check(const Case& t) {
  BOOST_TEST_CONTEXT(t) {
    Cpu cpu(t.threads);
    Operands o(t);
    o.dirty(std::nan(""));
    const Block before = o.c;
    Matrix start = before.view();  // its data pointer is that of o.c: point into the copy
    start.data = const_cast<char*>(before.bytes().data()) +
                 (static_cast<char*>(o.p.c.data) - o.c.bytes().data());
    cpu.plan_product(o.p);
    const size_t scratch = cpu.scratch_bytes();
    cpu.product(o.p);
    BOOST_TEST(wrong(o, t, start) == 0);
    BOOST_TEST(o.c.intact());
    BOOST_TEST(cpu.scratch_bytes() == scratch);
    const std::vector<char> first = o.c.bytes();
    for (int run = 0; run < 2; run++) {
      o.dirty(1e30);
      cpu.product(o.p);
      BOOST_TEST((o.c.bytes() == first));
    }
  }
}

// Every combination of transposes and of what happens to the sums.
void check_all(DType in, DType out, int64_t m, int64_t n, int64_t k) {
  int turn = int(m + n + k);
  for (int transposes = 0; transposes < 4; transposes++) {
    for (int end = 0; end < 5; end++, turn++) {
      check({in, out, m, n, k, bool(transposes & 1), bool(transposes & 2), end == 4,
             end == 1 || end == 3, end == 2 || end == 3, turn % 3 * 4 - (turn % 3 == 2),
             1 + turn % 4 % 3});
    }
  }
}

void check_shapes(DType in, DType out) {
  const int64_t shapes[][3] = {{1, 1, 1},    {2, 3, 1},       {3, 5, 7},
                               {1, 70, 33},  {70, 1, 9},      {17, 33, 65},
                               {64, 48, 32}, {100, 130, 129}, {128, 96, 256}};
  for (const auto& s : shapes) check_all(in, out, s[0], s[1], s[2]);
}

bool has_bf16() { return Cpu::no_bf16_reason().empty(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(gemm)

BOOST_AUTO_TEST_CASE(f64) { check_shapes(DType::f64, DType::f64); }
BOOST_AUTO_TEST_CASE(f32) { check_shapes(DType::f32, DType::f32); }

BOOST_AUTO_TEST_CASE(bf16) {
  if (has_bf16()) {
    check_shapes(DType::bf16, DType::bf16);
    check_shapes(DType::bf16, DType::f32);
    return;
  }
  Cpu cpu;
  Operands o({DType::bf16, DType::bf16, 4, 4, 4, false, true, false, false, false, 0, 1});
  BOOST_CHECK_EXCEPTION(cpu.product(o.p), tx::UsageError, [](const tx::UsageError& e) {
    return std::string(e.what()).find("--precision fp32") != std::string::npos;
  });
}

// The shapes of training at d 128, with weights that are column slices of a wider matrix.
BOOST_AUTO_TEST_CASE(training_shapes) {
  const int64_t rows = 192, outputs[] = {384, 128, 256, 1000};
  for (const DType t : {DType::f32, DType::bf16}) {
    if (t == DType::bf16 && !has_bf16()) continue;
    for (const int64_t o : outputs) {
      for (const int64_t gap : {0, 128}) {
        check({t, t, rows, o, 128, false, true, false, true, false, gap, 2});
        check({t, t, rows, 128, o, false, false, false, false, false, gap, 2});
        check({t, DType::f32, o, 128, rows, true, false, true, false, false, gap, 2});
        check({t, DType::f32, o, 128, rows, true, false, false, false, false, gap, 2});
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(no_rows_is_no_work) {
  Cpu cpu(2);
  Block a(DType::f32, 0, 8), b(DType::f32, 4, 8), c(DType::f32, 0, 4);
  Product p;
  p.a = a.view(), p.b = b.view(), p.c = c.view(), p.transpose_b = true;
  cpu.product(p);
  BOOST_TEST(c.intact());
}

BOOST_AUTO_TEST_CASE(shapes_that_do_not_fit_are_bugs) {
  Cpu cpu;
  Operands o({DType::f32, DType::f32, 4, 5, 6, false, true, false, false, false, 0, 1});
  Product p = o.p;
  p.transpose_b = false;
  BOOST_CHECK_THROW(cpu.product(p), tx::Bug);
  p = o.p;
  p.c.cols = 4;
  BOOST_CHECK_THROW(cpu.product(p), tx::Bug);
  p = o.p;
  p.accumulate = true, p.bias = o.bias.view();
  BOOST_CHECK_THROW(cpu.product(p), tx::Bug);
}

BOOST_AUTO_TEST_CASE(description) {
  const std::string text = Cpu::describe();
  BOOST_TEST(text.find("BLAS: OpenBLAS ") == 0u);
  BOOST_TEST(text.find("\noneDNN: ") != std::string::npos);
  BOOST_TEST(text.back() == '\n');
  BOOST_TEST((!Cpu::has_fast_bf16() || Cpu::no_bf16_reason().empty()));
}

BOOST_AUTO_TEST_SUITE_END()
