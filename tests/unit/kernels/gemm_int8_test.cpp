// Products with 8-bit weights: exact sums on every instruction set, scales by row, batch-invariant
// rows, non-finite values.
#include <boost/test/unit_test.hpp>
#include <limits>

#include "kernels/cpu/gemm.h"
#include "tests/unit/kernels/matmul_invariant_case.h"

using tx::DType;
using tx::Matrix;
using tx::gemm::Int8Isa;
using tx_test::Block;

namespace {

std::vector<Int8Isa> instruction_sets() {
  std::vector<Int8Isa> all;
  for (int i = 0; i <= int(tx::gemm::best_int8_isa()); i++) {
    const Int8Isa isa = Int8Isa(i);
    // A processor with AVX-512 VNNI may lack AVX-VNNI.
    if (isa != Int8Isa::avx_vnni || tx::gemm::has_avx_vnni()) all.push_back(isa);
  }
  return all;
}

struct Quantised {
  tx::gemm::Buffer groups;
  std::vector<float> scales;
  tx::Int8Weights view;
  explicit Quantised(const Matrix& w)
      : groups(tx::gemm::aligned(size_t(tx::int8_bytes(w.rows, w.cols)))), scales(size_t(w.rows)) {
    auto* bytes = static_cast<uint8_t*>(groups.get());
    const tx::WeightRows rows = tx_test::rows_of(w);
    for (int64_t g = 0; g < tx::int8_groups(w.rows); g++)
      tx::quantise_group(rows, g, bytes + g * tx::int8_group_bytes(w.cols),
                         scales.data() + g * tx::kInt8Group);
    view = {bytes, scales.data(), w.rows, w.cols};
  }
};

void multiply(const Matrix& x, const Quantised& w, const Matrix& bias, bool relu, const Matrix& y,
              Int8Isa isa, int threads) {
  const tx::gemm::Buffer scratch(tx::gemm::aligned(tx::gemm::int8_scratch_bytes(x.rows, x.cols)));
  tx::gemm::int8_product({x, bias, y, relu, w.view, static_cast<char*>(scratch.get())},
                         tx::gemm::int8_micro(isa), threads);
}

// Whole numbers from -127 to 127, with a 127 in every row: the scale is 1, so nothing is rounded.
void fill_whole(const Matrix& m, unsigned seed) {
  std::mt19937 random(seed);
  for (int64_t i = 0; i < m.rows; i++) {
    for (int64_t j = 0; j < m.cols; j++)
      tx_test::set(m, i, j, j == i % m.cols ? 127 : double(int(random() % 255) - 127));
  }
}

void check_exact(DType in, DType out, Int8Isa isa, int64_t rows, int64_t outputs, int64_t inputs) {
  Block x(in, rows, inputs, 3, 1), w(in, outputs, inputs, 5), bias(DType::f32, 1, outputs);
  fill_whole(x.view(), 1), fill_whole(w.view(), 2), bias.fill(1000);
  const Quantised q(w.view());
  const std::vector<double> left = tx_test::values(x.view()), right = tx_test::values(w.view());
  for (int flags = 0; flags < 4; flags++) {
    Block y(out, rows, outputs, 2, flags);
    y.fill(std::nan(""));
    multiply(x.view(), q, flags & 1 ? bias.view() : Matrix{}, flags & 2, y.view(), isa,
             1 + flags % 3);
    int64_t wrong = 0;
    for (int64_t i = 0; i < rows; i++) {
      for (int64_t o = 0; o < outputs; o++) {
        double sum = 0;
        for (int64_t k = 0; k < inputs; k++)
          sum += left[size_t(i * inputs + k)] * right[size_t(o * inputs + k)];
        float wanted = float(sum) + (flags & 1 ? 1000.0f : 0.0f);
        if (flags & 2) wanted = std::max(wanted, 0.0f);
        if (out == DType::bf16) {
          tx::bf16 half;
          tx::store(half, wanted);
          wanted = tx::load(half);
        }
        wrong += float(tx_test::get(y.view(), i, o)) != wanted;
      }
    }
    BOOST_TEST(wrong == 0);
    BOOST_TEST(y.intact());
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gemm_int8)

BOOST_AUTO_TEST_CASE(sums_are_exact) {
  const int64_t shapes[][3] = {{1, 1, 1},     {1, 16, 3},    {2, 15, 8},    {5, 64, 2},
                               {7, 65, 33},   {13, 40, 1},   {29, 130, 70}, {9, 20, 1101},
                               {97, 48, 128}, {200, 129, 65}};
  for (const Int8Isa isa : instruction_sets()) {
    for (const auto& s : shapes) {
      BOOST_TEST_CONTEXT("isa " << int(isa) << " rows " << s[0] << " O " << s[1] << " I " << s[2]) {
        check_exact(DType::f32, DType::f32, isa, s[0], s[1], s[2]);
        check_exact(DType::bf16, DType::f32, isa, s[0], s[1], s[2]);
        check_exact(DType::bf16, DType::bf16, isa, s[0], s[1], s[2]);
      }
    }
  }
}

// The largest possible sums of 4,096 inputs do not saturate.
BOOST_AUTO_TEST_CASE(extremes) {
  for (const Int8Isa isa : instruction_sets()) {
    for (const double sign : {1.0, -1.0}) {
      Block x(DType::f32, 35, 4096), w(DType::f32, 17, 4096), y(DType::f32, 35, 17);
      x.fill(127 * sign), w.fill(127);
      multiply(x.view(), Quantised(w.view()), {}, false, y.view(), isa, 1);
      for (const double value : tx_test::values(y.view()))
        BOOST_TEST(value == sign * 127 * 127 * 4096);
    }
  }
}

// Rows of different magnitudes: x and w are rounded to multiples of 1/127 of their row's largest.
BOOST_AUTO_TEST_CASE(near_the_product) {
  Block x(DType::f32, 40, 300), w(DType::f32, 70, 300), y(DType::f32, 40, 70);
  x.randomise(1), w.randomise(2);
  for (int64_t i = 0; i < 40; i++) {
    for (int64_t k = 0; k < 300; k++)
      tx_test::set(x.view(), i, k,
                   tx_test::get(x.view(), i, k) * std::pow(10.0, double(i % 9) - 4));
  }
  multiply(x.view(), Quantised(w.view()), {}, false, y.view(), tx::gemm::best_int8_isa(), 1);
  for (int64_t i = 0; i < 40; i++) {
    double error = 0, square = 0;
    for (int64_t o = 0; o < 70; o++) {
      double sum = 0;
      for (int64_t k = 0; k < 300; k++)
        sum += tx_test::get(x.view(), i, k) * tx_test::get(w.view(), o, k);
      error += std::pow(sum - tx_test::get(y.view(), i, o), 2), square += sum * sum;
    }
    BOOST_TEST(std::sqrt(error / square) < 0.01);
    BOOST_TEST(std::sqrt(error / square) > 1e-5);
  }
}

BOOST_AUTO_TEST_CASE(a_row_does_not_see_its_neighbours) {
  constexpr int64_t kRows = 130;
  for (const Int8Isa isa : instruction_sets()) {
    Block x(DType::f32, 2 * kRows, 129), w(DType::f32, 100, 129), bias(DType::f32, 1, 100);
    x.randomise(1), w.randomise(2), bias.randomise(3);
    const Quantised q(w.view());
    Block alone(DType::f32, 2 * kRows, 100), y(DType::f32, kRows, 100, 1);
    for (int64_t i = 0; i < 2 * kRows; i++)
      multiply(x.view().slice(i, 1), q, bias.view(), true, alone.view().slice(i, 1), isa, 1);
    int64_t different = 0;
    for (int64_t n = 1; n <= kRows; n++) {
      const int64_t first = n * 7 % kRows;
      y.fill(std::nan(""));
      multiply(x.view().slice(first, n), q, bias.view(), true, y.view().slice(0, n), isa,
               1 + int(n % 3));
      different += !tx_test::same_bits(alone.view().slice(first, n), y.view().slice(0, n));
    }
    BOOST_TEST(different == 0);
    BOOST_TEST(y.intact());
  }
}

BOOST_AUTO_TEST_CASE(rows_of_zeros_and_what_is_not_finite) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Int8Isa isa : instruction_sets()) {
    Block x(DType::f32, 5, 7), w(DType::f32, 20, 7), y(DType::f32, 5, 20);
    x.randomise(1), w.randomise(2);
    for (int64_t k = 0; k < 7; k++)
      tx_test::set(x.view(), 0, k, 0), tx_test::set(w.view(), 3, k, 0);
    tx_test::set(x.view(), 2, 1, std::nan(""));
    tx_test::set(x.view(), 3, 6, -infinity);
    tx_test::set(w.view(), 19, 0, infinity);
    multiply(x.view(), Quantised(w.view()), {}, false, y.view(), isa, 1);
    for (int64_t i = 0; i < 5; i++) {
      for (int64_t o = 0; o < 20; o++) {
        const double value = tx_test::get(y.view(), i, o);
        BOOST_TEST(std::isnan(value) == (i == 2 || i == 3 || o == 19));
        if (!std::isnan(value)) BOOST_TEST((value == 0) == (i == 0 || o == 3));
      }
    }
  }
}

// A fixed factor of 2 for inputs: 2 x is clamped to -127 .. 127. All sums are exact in fp32.
BOOST_AUTO_TEST_CASE(fixed_inputs) {
  Block x(DType::f32, 23, 70), w(DType::f32, 40, 70), bias(DType::f32, 1, 40);
  fill_whole(x.view(), 1), fill_whole(w.view(), 2), bias.fill(1000);
  Quantised q(w.view());
  q.view.input_factor = 2;
  Matrix packed = tx::gemm::attach(q.view), picked;
  q.view = *tx::gemm::int8_of(packed);
  for (const Int8Isa isa : instruction_sets())
    for (const DType dtype : {DType::f32, DType::bf16}) {
      Block left(dtype, 23, 70), y(DType::f32, 23, 40, 1);
      fill_whole(left.view(), 1);
      multiply(left.view(), q, bias.view(), false, y.view(), isa, 1);
      int64_t wrong = 0;
      for (int64_t i = 0; i < 23; i++)
        for (int64_t o = 0; o < 40; o++) {
          double sum = 0;
          for (int64_t k = 0; k < 70; k++)
            sum += std::clamp(2 * tx_test::get(x.view(), i, k), -127.0, 127.0) *
                   tx_test::get(w.view(), o, k);
          wrong += tx_test::get(y.view(), i, o) != sum / 2 + 1000;
        }
      BOOST_TEST(wrong == 0);
    }
  const int32_t rows[] = {17, 3};
  tx::gemm::pick(packed, rows, 2, picked, 1);
  const tx::Int8Weights& two = *tx::gemm::int8_of(picked);
  for (int64_t i = 0; i < 2; i++) {
    BOOST_TEST(two.fixed.starts[i] == q.view.fixed.starts[rows[i]]);
    BOOST_TEST(two.fixed.shifts[i] == -two.fixed.factors[i] * float(two.fixed.starts[i]));
  }
  BOOST_TEST(two.input_factor == 2);
  tx::gemm::release_packed(packed), tx::gemm::release_packed(picked);
}

BOOST_AUTO_TEST_CASE(rows_of_weights_come_back) {
  Block w(DType::f32, 37, 50, 2);
  w.randomise(2);
  const Quantised q(w.view());
  std::vector<float> row(50);
  for (int64_t o = 0; o < 37; o++) {
    tx::restore_row(q.view, o, row.data());
    for (int64_t k = 0; k < 50; k++)
      BOOST_TEST(std::abs(row[size_t(k)] - tx_test::get(w.view(), o, k)) <=
                 q.scales[size_t(o)] * 0.5001f);
  }
}

BOOST_AUTO_TEST_SUITE_END()
