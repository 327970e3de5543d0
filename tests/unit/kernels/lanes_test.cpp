// Vector loops of kernels/cpu/lanes.h in this machine's best instruction set against scalar code.
#include "kernels/cpu/lanes.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <vector>

using namespace tx;

namespace {

std::vector<float> numbers(int count) {
  std::vector<float> x;
  for (int i = 0; i < count; ++i)
    x.push_back(float((i * 37) % 101 - 50) * 1.37f + float(i) * 0.01f);
  return x;
}

std::vector<bf16> rounded(const std::vector<float>& x) {
  std::vector<bf16> y(x.size());
  with_lanes<float>([&](auto lanes) TX_INLINE_LAMBDA {
    map_lanes<decltype(lanes)>(
        y.data(), int64_t(x.size()), [](int64_t, auto v) TX_INLINE_LAMBDA { return v; }, x.data());
  });
  return y;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lanes)

BOOST_AUTO_TEST_CASE(registers_round_as_single_numbers_do) {
  std::vector<float> x = numbers(100);
  const float ties[] = {
      1.00390625f, 1.01171875f, -1.00390625f, 3.4e38f,
      1e-30f,      0.0f,        -0.0f,        std::numeric_limits<float>::infinity()};
  x.insert(x.begin() + 16, std::begin(ties), std::end(ties));
  const std::vector<bf16> y = rounded(x);
  for (size_t i = 0; i < x.size(); ++i) {
    bf16 expected;
    store(expected, x[i]);
    BOOST_TEST(y[i].bits == expected.bits, "of " << x[i]);
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_a_number_stays_so) {
  std::vector<float> x(32, std::numeric_limits<float>::quiet_NaN());
  for (const bf16 y : rounded(x)) BOOST_TEST(std::isnan(load(y)));
}

BOOST_AUTO_TEST_CASE(sums_and_largest) {
  const std::vector<float> x = numbers(16);
  float part[16], sum = 0, max = 0;
  std::copy(x.begin(), x.end(), part);
  for (int width = 8; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) part[l] += part[l + width];
  with_lanes<float>([&](auto lanes) TX_INLINE_LAMBDA {
    using V = typename decltype(lanes)::Vector;
    sum = sum_lanes(load_lanes<V>(x.data()));
    max = largest_lane(load_lanes<V>(x.data()));
  });
  BOOST_TEST(sum == part[0]);
  BOOST_TEST(max == *std::max_element(x.begin(), x.end()));
}

BOOST_AUTO_TEST_CASE(lanes_behind_the_first) {
  const std::vector<float> x = numbers(16);
  for (const int64_t n : {-3, 0, 1, 7, 8, 15, 16, 40}) {
    float y[16];
    with_lanes<float>([&](auto lanes) TX_INLINE_LAMBDA {
      using V = typename decltype(lanes)::Vector;
      store_lanes(y, first_lanes(load_lanes<V>(x.data()), n, -1.0f));
    });
    for (int l = 0; l < 16; ++l) BOOST_TEST(y[l] == (l < n ? x[size_t(l)] : -1.0f));
  }
}

BOOST_AUTO_TEST_SUITE_END()
