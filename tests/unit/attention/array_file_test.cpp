#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "lib/attention/output.h"

using namespace tx;

namespace {

double value_of(uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const double size = exponent == 0    ? std::ldexp(fraction, -24)
                      : exponent == 31 ? (fraction ? NAN : INFINITY)
                                       : std::ldexp(1024 + fraction, exponent - 25);
  return half & 0x8000 ? -size : size;
}

}  // namespace

// Every 16-bit float is converted to itself.
BOOST_AUTO_TEST_CASE(halves_come_back) {
  for (int half = 0; half < 0x10000; ++half) {
    const double x = value_of(uint16_t(half));
    if (std::isnan(x)) continue;
    BOOST_TEST(to_half(float(x)) == half);
  }
  BOOST_TEST(std::isnan(value_of(to_half(std::numeric_limits<float>::quiet_NaN()))));
}

// Other numbers are rounded to nearest, ties to even.
BOOST_AUTO_TEST_CASE(what_lies_between_is_rounded) {
  for (int half = 0; half < 0x7BFF; ++half) {
    const double low = value_of(uint16_t(half)), high = value_of(uint16_t(half + 1));
    const auto at = [&](double share) { return float(low + share * (high - low)); };
    BOOST_TEST(to_half(at(0.49)) == half);
    BOOST_TEST(to_half(at(0.51)) == half + 1);
    BOOST_TEST(to_half(at(0.5)) == half + half % 2);
    BOOST_TEST(to_half(-at(0.51)) == (half + 1) + 0x8000);
  }
}

BOOST_AUTO_TEST_CASE(what_is_too_large_is_infinite) {
  BOOST_TEST(to_half(65519.0f) == 0x7BFF);
  BOOST_TEST(to_half(65520.0f) == 0x7C00);
  BOOST_TEST(to_half(1e30f) == 0x7C00);
  BOOST_TEST(to_half(-INFINITY) == 0xFC00);
  BOOST_TEST(to_half(1e-30f) == 0);
}
