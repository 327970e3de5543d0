// The exponential of the CPU loops (kernels/cpu/simd.h), which no kernel exposes directly.
#include <boost/test/unit_test.hpp>

#include "kernels/cpu/lanes.h"
#include "tests/unit/kernels/dense.h"

namespace {

// As in the kernels: in this machine's best instruction set.
void exponentials(const float* x, float* y, int count) {
  tx::with_lanes<float>([&](auto) TX_INLINE_LAMBDA {
    for (int i = 0; i < count; ++i) y[i] = tx::exponential(x[i]);
  });
}

void exponentials_of_registers(const float* x, float* y, int count) {
  tx::with_lanes<float>([&](auto lanes) TX_INLINE_LAMBDA {
    using L = decltype(lanes);
    using V = typename L::Vector;
    for (int i = 0; i < count; i += L::count)
      tx::store_lanes(y + i, tx::exponential(tx::load_lanes<V>(x + i)));
  });
}

float exponential_of(float x) {
  float y;
  exponentials(&x, &y, 1);
  return y;
}

// The largest relative error over every 251st float from `first` to `last` (of one sign).
double worst_error(float first, float last) {
  uint32_t from, to;
  std::memcpy(&from, &first, 4);
  std::memcpy(&to, &last, 4);
  constexpr int count = 4096;
  float x[count], y[count];
  double worst = 0;
  while (from <= to) {
    int filled = 0;
    for (; filled < count && from <= to; ++filled, from += 251) std::memcpy(x + filled, &from, 4);
    exponentials(x, y, filled);
    for (int i = 0; i < filled; ++i)
      worst = std::max(worst, std::abs(double(y[i]) / std::exp(double(x[i])) - 1));
  }
  return worst;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exponential)

BOOST_AUTO_TEST_CASE(relative_error_over_the_range) {
  BOOST_TEST(worst_error(0.0f, 88.0f) < 1.2e-7);
  BOOST_TEST(worst_error(-0.0f, -87.0f) < 1.2e-7);
}

BOOST_AUTO_TEST_CASE(ends_of_the_range) {
  BOOST_TEST(exponential_of(0) == 1);
  BOOST_TEST(exponential_of(-87.0f) > 0);
  for (const float x : {-87.00001f, -88.0f, -1000.0f, -3e38f, -INFINITY})
    BOOST_TEST(exponential_of(x) == 0);
  BOOST_TEST(std::isnan(exponential_of(NAN)));
}

// A single value is rounded more often, see fused().
BOOST_AUTO_TEST_CASE(registers_and_single_values_agree) {
  float x[64], one[64], wide[64];
  for (int i = 0; i < 64; ++i) x[i] = float(i * 2.75 - 100);
  x[7] = -INFINITY, x[13] = -0.0f;
  exponentials(x, one, 64);
  exponentials_of_registers(x, wide, 64);
  for (int i = 0; i < 64; ++i)
    BOOST_TEST((one[i] == wide[i] || std::abs(wide[i] / one[i] - 1) < 2.4e-7f));
}

BOOST_AUTO_TEST_CASE(registers_round_a_product_and_sum_once) {
#ifdef __x86_64__
  const bool once_rounded = tx::register_bytes() > 16;  // SSE has no FMA
#else
  const bool once_rounded = true;
#endif
  float a[64], b[64], c[64], sum[64], once[64];
  for (int i = 0; i < 64; ++i) {
    a[i] = 1 + float(i) / 4096, b[i] = 1 - float(i) / 8192, c[i] = -a[i];
    once[i] = once_rounded ? std::fma(a[i], b[i], c[i]) : a[i] * b[i] + c[i];
  }
  tx::with_lanes<float>([&](auto lanes) TX_INLINE_LAMBDA {
    using L = decltype(lanes);
    using V = typename L::Vector;
    for (int i = 0; i < 64; i += L::count)
      tx::store_lanes(sum + i, tx::fused(tx::load_lanes<V>(a + i), tx::load_lanes<V>(b + i),
                                         tx::load_lanes<V>(c + i)));
  });
  BOOST_TEST(sum == once, boost::test_tools::per_element());
  int different = 0;
  for (int i = 0; i < 64; ++i) different += a[i] * b[i] + c[i] != std::fma(a[i], b[i], c[i]);
  BOOST_TEST(different > 0);  // so that the case can fail
}

BOOST_AUTO_TEST_CASE(lanes_sum_every_element_once) {
  double x[100], y[100];
  for (int n : {0, 1, 7, 8, 9, 31, 64, 100}) {
    double expected = 0;
    for (int i = 0; i < n; ++i) {
      x[i] = i + 1, y[i] = 3 * i - 5;
      expected += x[i] * y[i];
    }
    const auto product = [](auto a, auto b) { return a * b; };
    const auto sum = [&](auto lanes) { return tx::lane_sum<decltype(lanes)>(n, product, x, y); };
    BOOST_TEST(sum(tx::Lanes<double, 16>()) == expected);
    BOOST_TEST(sum(tx::Lanes<double, 32>()) == expected);
    BOOST_TEST(sum(tx::Lanes<double, 64>()) == expected);
  }
}

BOOST_AUTO_TEST_SUITE_END()
