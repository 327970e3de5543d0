// Products for inference: right against double loops, and a row's bits never depend on other rows.
#include <boost/test/unit_test.hpp>

#include "kernels/cpu/gemm.h"
#include "lib/base/error.h"
#include "tests/unit/kernels/matmul_invariant_case.h"

using tx::Activation;
using tx::Cpu;
using tx::DType;
using tx::Matrix;
using tx::gemm::Isa;
using tx_test::bias_type;
using tx_test::Block;
using tx_test::kTypes;
using tx_test::same_bits;
using tx_test::Types;
using tx_test::wrong;

namespace {

// The instruction sets of this processor; one without its own loop uses that of a lower one.
std::vector<Isa> instruction_sets() {
  std::vector<Isa> all;
  for (int i = 0; i <= int(tx::gemm::best_isa()); i++) all.push_back(Isa(i));
  return all;
}

void check_values(Types t, Isa isa, int64_t rows, int64_t outputs, int64_t inputs) {
  Block x(t.in, rows, inputs, 3, 1), w(t.in, outputs, inputs, 5), bias(bias_type(t.in), 1, outputs);
  Matrix packed = tx::gemm::pack(w.randomise(2).view(), isa);
  x.randomise(1), bias.randomise(3);
  tx::gemm::Scratch scratch;
  for (int flags = 0; flags < 4; flags++) {
    Block y(t.out, rows, outputs, 2, flags);
    y.fill(std::nan(""));
    const Matrix b = flags & 1 ? bias.view() : Matrix{};
    tx::gemm::packed_product(x.view(), packed, b, flags & 2 ? Activation::relu : Activation::none,
                             y.view(), 1 + flags % 3, scratch);
    BOOST_TEST(wrong(x.view(), w.view(), b, flags & 2, y.view()) == 0);
    BOOST_TEST(y.intact());
  }
  tx::gemm::release_packed(packed);
  BOOST_TEST(packed.prepared == nullptr);
}

// Every number of rows from 1 to 130, starting at varying rows; every T-th with T = 2 and 3
// threads.
void check_invariance(Types t, Isa isa, int64_t outputs, int64_t inputs) {
  constexpr int64_t kRows = 130;
  Block x(t.in, 2 * kRows, inputs), w(t.in, outputs, inputs), bias(bias_type(t.in), 1, outputs);
  Matrix packed = tx::gemm::pack(w.randomise(2).view(), isa);
  x.randomise(1), bias.randomise(3);
  tx::gemm::Scratch scratch;
  const auto product = [&](const Matrix& in, const Matrix& out, int threads) {
    tx::gemm::packed_product(in, packed, bias.view(), Activation::relu, out, threads, scratch);
  };
  Block alone(t.out, 2 * kRows, outputs), y(t.out, kRows, outputs, 1);
  for (int64_t i = 0; i < 2 * kRows; i++)
    product(x.view().slice(i, 1), alone.view().slice(i, 1), 1);
  y.fill(std::nan(""));
  int64_t different = 0;
  for (int threads = 1; threads <= 3; threads++) {
    for (int64_t n = threads; n <= kRows; n += threads) {
      const int64_t first = n * 7 % kRows;  // other rows than those that y holds
      product(x.view().slice(first, n), y.view().slice(0, n), threads);
      different += !same_bits(alone.view().slice(first, n), y.view().slice(0, n));
    }
  }
  BOOST_TEST(different == 0);
  BOOST_TEST(y.intact());
  tx::gemm::release_packed(packed);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(matmul_invariant)

BOOST_AUTO_TEST_CASE(values) {
  const int64_t shapes[][3] = {{1, 1, 1},     {1, 16, 3},    {2, 15, 8},    {5, 64, 2},
                               {7, 65, 33},   {13, 40, 1},   {29, 130, 70}, {9, 20, 1100},
                               {97, 48, 128}, {200, 129, 65}};
  for (const Types t : kTypes) {
    for (const Isa isa : instruction_sets()) {
      for (const auto& s : shapes) {
        BOOST_TEST_CONTEXT("dtypes " << int(t.in) << "->" << int(t.out) << " isa " << int(isa)
                                     << " rows " << s[0] << " O " << s[1] << " I " << s[2]) {
          check_values(t, isa, s[0], s[1], s[2]);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_row_does_not_see_its_neighbours) {
  for (const Types t : kTypes) {
    for (const Isa isa : instruction_sets()) {
      BOOST_TEST_CONTEXT("dtypes " << int(t.in) << "->" << int(t.out) << " isa " << int(isa)) {
        check_invariance(t, isa, 100, 129);
        check_invariance(t, isa, 200, 64);
        check_invariance(t, isa, 20, 1030);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(through_the_backend) {
  Cpu one(1), two(2);
  for (const DType t : {DType::f32, DType::bf16, DType::f64}) {
    Block x(t, 64, 96), w(t, 150, 96), y(t, 64, 150), again(t, 64, 150);
    x.randomise(1), w.randomise(2);
    Matrix packed = one.prepare(w.view());
    BOOST_TEST(packed.data == w.view().data);
    BOOST_TEST((packed.rows == 150 && packed.cols == 96 && packed.dtype == t));
    BOOST_TEST(reinterpret_cast<uintptr_t>(packed.prepared) % 64 == 0u);
    one.matmul_invariant(x.view(), packed, {}, Activation::none, y.view());
    two.matmul_invariant(x.view(), packed, {}, Activation::none, again.view());
    BOOST_TEST(wrong(x.view(), w.view(), {}, false, y.view()) == 0);
    BOOST_TEST((y.bytes() == again.bytes()));
    one.release_prepared(packed);
  }
}

// Weights read from the host give the same bits as weights in the backend's memory.
BOOST_AUTO_TEST_CASE(weights_from_the_host) {
  for (const int threads : {1, 3}) {
    Cpu cpu(threads);
    for (const DType t : {DType::f32, DType::bf16}) {
      for (const int64_t outputs : {1, 70, 192}) {
        Block x(t, 9, 33), w(DType::f32, outputs, 33, 2), same(t, outputs, 33);
        x.randomise(1), w.randomise(2);
        cpu.convert(w.view(), same.view());
        Matrix packed = cpu.prepare(same.view());
        Matrix read = cpu.prepare_rows(tx_test::rows_of(w.view()), t);
        BOOST_TEST((read.data == nullptr && read.rows == outputs && read.cols == 33));
        BOOST_TEST((read.dtype == t));
        Block y(t, 9, outputs), again(t, 9, outputs);
        cpu.matmul_invariant(x.view(), packed, {}, Activation::none, y.view());
        cpu.matmul_invariant(x.view(), read, {}, Activation::none, again.view());
        BOOST_TEST((y.bytes() == again.bytes()));
        cpu.release_prepared(packed), cpu.release_prepared(read);
      }
    }
  }
}

// Weights that prepare_rows() quantises, and weights that are 8-bit already.
BOOST_AUTO_TEST_CASE(int8_through_the_backend) {
  Cpu cpu(2);
  Block x(DType::f32, 9, 33), w(DType::f32, 70, 33), y(DType::f32, 9, 70);
  Block again(DType::f32, 9, 70);
  x.randomise(1), w.randomise(2);
  Matrix made = cpu.prepare_rows(tx_test::rows_of(w.view()), DType::i8);
  BOOST_TEST((made.dtype == DType::f32 && made.rows == 70 && made.cols == 33));
  cpu.matmul_invariant(x.view(), made, {}, Activation::none, y.view());
  Matrix there = cpu.prepare_int8(*tx::gemm::int8_of(made));
  cpu.matmul_invariant(x.view(), there, {}, Activation::none, again.view());
  BOOST_TEST((y.bytes() == again.bytes()));
  BOOST_TEST(tx_test::get(y.view(), 3, 5) != 0);
  cpu.release_prepared(there), cpu.release_prepared(made);
}

// A product with picked rows of w has the same bits as those columns of the whole product.
BOOST_AUTO_TEST_CASE(picked_rows) {
  const int64_t outputs = 200;
  std::vector<int32_t> max, few = {3, 64, 65, 199}, back = {130, 2, 2, 129, 63, 0};
  for (int32_t i = 0; i < outputs; i++)
    if (i % 3) max.push_back(i);
  for (const int threads : {1, 3}) {
    Cpu cpu(threads);
    for (const int kind : {0, 1, 2, 3}) {  // f32, bf16, f64, 8 bits
      const DType t = kind == 1 ? DType::bf16 : kind == 2 ? DType::f64 : DType::f32;
      Block x(t, 9, 33), w(t, outputs, 33), y(t, 9, outputs);
      x.randomise(1), w.randomise(2);
      Matrix all = kind == 3 ? cpu.prepare_rows(tx_test::rows_of(w.view()), DType::i8)
                             : cpu.prepare(w.view());
      cpu.matmul_invariant(x.view(), all, {}, Activation::none, y.view());
      Matrix picked;
      for (const std::vector<int32_t>& rows : {few, max, back, few}) {  // reusing one buffer
        const int64_t count = int64_t(rows.size());
        cpu.pick_rows(all, rows.data(), count, picked);
        BOOST_TEST((picked.rows == count && picked.cols == 33 && picked.dtype == all.dtype));
        Block got(t, 9, count, 1), wanted(t, 9, count, 1);
        cpu.matmul_invariant(x.view(), picked, {}, Activation::none, got.view());
        cpu.gather_columns(y.view(), rows.data(), wanted.view());
        BOOST_TEST_CONTEXT("kind " << kind << ", " << count << " rows, " << threads << " threads")
        BOOST_TEST(same_bits(got.view(), wanted.view()));
        BOOST_TEST(got.intact());
      }
      cpu.release_prepared(picked), cpu.release_prepared(all);
    }
  }
  Cpu cpu;
  Block w(DType::f32, 20, 8);
  Matrix all = cpu.prepare(w.view()), picked;
  const int32_t beyond = 20;
  BOOST_CHECK_THROW(cpu.pick_rows(all, &beyond, 1, picked), tx::Bug);
  cpu.release_prepared(all);
}

// A NaN in one row stays there; x of an odd number of columns is not read past its end.
BOOST_AUTO_TEST_CASE(nan_stays_in_its_row) {
  for (const Isa isa : instruction_sets()) {
    for (const DType t : {DType::f32, DType::bf16}) {
      Block x(t, 9, 7), w(t, 20, 7), y(DType::f32, 9, 20);
      x.randomise(1), w.randomise(2);
      tx_test::set(x.view(), 4, 0, std::nan(""));
      Matrix packed = tx::gemm::pack(w.view(), isa);
      tx::gemm::Scratch scratch;
      tx::gemm::packed_product(x.view(), packed, {}, Activation::none, y.view(), 1, scratch);
      for (int64_t i = 0; i < 9; i++) {
        for (int64_t j = 0; j < 20; j++) {
          BOOST_TEST(std::isnan(tx_test::get(y.view(), i, j)) == (i == 4));
        }
      }
      tx::gemm::release_packed(packed);
    }
  }
}

BOOST_AUTO_TEST_CASE(wrong_shapes_are_bugs) {
  Cpu cpu;
  Block x(DType::f32, 2, 8), w(DType::f32, 3, 8), y(DType::f32, 2, 4);
  Matrix packed = cpu.prepare(w.view());
  BOOST_CHECK_THROW(cpu.matmul_invariant(x.view(), packed, {}, Activation::none, y.view()),
                    tx::Bug);
  BOOST_CHECK_THROW(
      cpu.matmul_invariant(x.view(), w.view(), {}, Activation::none, y.view().columns(0, 3)),
      tx::Bug);
  cpu.release_prepared(packed);
}

BOOST_AUTO_TEST_SUITE_END()
