// Positions of section 3.5 of the paper against values computed in double.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numeric>

#include "lib/model/transformer.h"

namespace {

void check(int64_t position, int64_t d_model, size_t first, const std::vector<double>& expected,
           double tolerance) {
  const std::vector<double> row = tx::sinusoid(position, d_model);
  BOOST_TEST(row.size() == size_t(d_model));
  for (size_t i = 0; i < expected.size(); ++i) {
    BOOST_TEST_CONTEXT("position " << position << " dimension " << first + i)
    BOOST_TEST(std::abs(row[first + i] - expected[i]) < tolerance);
  }
}

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

double cosine(int64_t d_model, int64_t a, int64_t b) {
  const std::vector<double> x = tx::sinusoid(a, d_model), y = tx::sinusoid(b, d_model);
  return dot(x, y) / std::sqrt(dot(x, x) * dot(y, y));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(model_sinusoid)

BOOST_AUTO_TEST_CASE(values) {
  check(3, 4, 0, {.1411200, -.9899925, .0299955, .9995500}, 1e-7);
  for (int64_t d : {2, 4, 64, 512}) {
    std::vector<double> zero;
    for (int64_t i = 0; i < d; ++i) zero.push_back(double(i % 2));
    check(0, d, 0, zero, 1e-300);
  }
  check(1, 512, 0, {.8414710, .5403023, .8218562, .5696950}, 1e-7);
  check(1, 512, 510, {1.0366329e-4}, 1e-11);
  check(1, 512, 511, {.99999999}, 1e-8);
  check(10, 512, 0, {-.5440211, -.8390715, -.2200232, -.9754946}, 1e-7);
  check(10, 512, 100, {.9964723, -.0839220}, 1e-7);
  check(5000, 512, 0, {-.9879664, .1546684}, 1e-7);
  check(5000, 512, 256, {-.2623749, .9649660}, 1e-7);
}

BOOST_AUTO_TEST_CASE(cosines_fall_with_distance) {
  const auto near = [](double x, double y) { return std::abs(x - y) < 1e-6; };
  const std::pair<int64_t, double> of_zero[] = {{1, .966151},  {2, .884496},  {5, .734499},
                                                {10, .657863}, {50, .489806}, {127, .331812}};
  for (const auto& [position, expected] : of_zero)
    BOOST_TEST(near(cosine(64, 0, position), expected));
  BOOST_TEST(near(cosine(64, 10, 11), .966151));
  BOOST_TEST(near(cosine(512, 0, 1), .973055));
  BOOST_TEST(near(cosine(512, 0, 50), .512073));
  for (int64_t position : {0, 1, 77, 5000}) {
    const std::vector<double> row = tx::sinusoid(position, 64);
    BOOST_TEST(std::abs(dot(row, row) - 32) < 1e-12);
  }
}

// PE(pos + k) is PE(pos) with each pair rotated by an angle that only depends on k.
BOOST_AUTO_TEST_CASE(a_shift_is_a_rotation) {
  for (int64_t d : {4, 64, 512}) {
    for (int64_t k : {1, 7, 100}) {
      const std::vector<double> turn = tx::sinusoid(k, d);  // sine and cosine of the angles
      for (int64_t position : {0, 1, 13, 300}) {
        const std::vector<double> row = tx::sinusoid(position, d);
        const std::vector<double> shifted = tx::sinusoid(position + k, d);
        double off = 0;
        for (size_t i = 0; i < size_t(d); i += 2) {
          const double sine = row[i] * turn[i + 1] + row[i + 1] * turn[i];
          const double cosine = row[i + 1] * turn[i + 1] - row[i] * turn[i];
          off = std::max({off, std::abs(sine - shifted[i]), std::abs(cosine - shifted[i + 1])});
        }
        BOOST_TEST(off < 1e-12);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_table_holds_the_rows) {
  tx::Backend backend = tx::make_backend(tx::Device::cpu, 1);
  for (tx::DType dtype : {tx::DType::f64, tx::DType::f32}) {
    for (int64_t length : {3, 64, 150}) {
      const tx::PositionTable table(backend, length, 64, dtype,
                                    [](int64_t i) { return tx::sinusoid(i, 64); });
      const tx::Matrix m = table.table();
      BOOST_TEST(m.rows == length);
      for (int64_t position = 0; position < length; ++position) {
        const std::vector<double> row = tx::sinusoid(position, 64);
        for (int64_t j = 0; j < 64; ++j) {
          if (dtype == tx::DType::f64)
            BOOST_TEST(m.row<double>(position)[j] == row[size_t(j)]);
          else
            BOOST_TEST(m.row<float>(position)[j] == float(row[size_t(j)]));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
