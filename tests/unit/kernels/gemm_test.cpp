// Products for training against naive double loops.
// environment: TX_MAX_ISA=AVX2 DNNL_MAX_CPU_ISA=AVX2
// environment: TX_MAX_ISA=AVX512_CORE DNNL_MAX_CPU_ISA=AVX512_CORE
// environment: OPENBLAS_CORETYPE=Haswell
#include "kernels/cpu/gemm.h"

#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "tests/unit/kernels/gemm_case.h"

using tx::Cpu;
using tx::DType;
using tx::Product;
using tx_test::Block;
using tx_test::Case;
using tx_test::Operands;

namespace {

void check(const Case& t) {
  BOOST_TEST_CONTEXT(t) {
    Cpu cpu(t.threads);
    Operands o(t);
    cpu.plan_product(o.p);
    const size_t scratch = cpu.scratch_bytes();
    tx_test::check_product(t, o, [&] { cpu.product(o.p); });
    BOOST_TEST(cpu.scratch_bytes() == scratch);
  }
}

// Every combination of transposes and epilogues.
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

}  // namespace

BOOST_AUTO_TEST_SUITE(gemm)

BOOST_AUTO_TEST_CASE(f64) { check_shapes(DType::f64, DType::f64); }
BOOST_AUTO_TEST_CASE(f32) { check_shapes(DType::f32, DType::f32); }

BOOST_AUTO_TEST_CASE(bf16) {
  check_shapes(DType::bf16, DType::bf16);
  check_shapes(DType::bf16, DType::f32);
}

// The shapes of training at d 128, with weights that are column slices of a wider matrix.
BOOST_AUTO_TEST_CASE(training_shapes) {
  const int64_t rows = 192, outputs[] = {384, 128, 256, 1000};
  for (const DType t : {DType::f32, DType::bf16}) {
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
  BOOST_TEST(text.find("\n--precision auto: ") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
