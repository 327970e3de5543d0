#include "lib/base/figure.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

using namespace tx;

BOOST_AUTO_TEST_CASE(figures_are_short_however_large) {
  BOOST_TEST(figure(12.3456, 3) == "12.346");
  BOOST_TEST(figure(-0.5, 1) == "-0.5");
  BOOST_TEST(figure(999999, 2) == "999999.00");
  BOOST_TEST(figure(1e6, 2) == "1.0e+06");
  BOOST_TEST(figure(1.23e45, 3) == "1.2e+45");
  BOOST_TEST(figure(-1.79e308, 3) == "-1.8e+308");
}

BOOST_AUTO_TEST_CASE(figures_that_are_not_finite_have_names) {
  BOOST_TEST(figure(NAN, 3) == "nan");
  BOOST_TEST(figure(std::copysign(NAN, -1), 3) == "nan");
  BOOST_TEST(figure(INFINITY, 3) == "inf");
  BOOST_TEST(figure(-INFINITY, 3) == "-inf");
}

BOOST_AUTO_TEST_CASE(digits_are_grouped_by_commas) {
  BOOST_TEST(grouped(0) == "0");
  BOOST_TEST(grouped(999) == "999");
  BOOST_TEST(grouped(1234567) == "1,234,567");
  BOOST_TEST(grouped(-100000) == "-100,000");
  BOOST_TEST(grouped(1234.5) == "1,234.5");
  BOOST_TEST(grouped(0.01) == "0.01");
  BOOST_TEST(grouped(1e-12) == "1e-12");
}

BOOST_AUTO_TEST_CASE(numbers_that_are_not_finite_are_null_in_json) {
  BOOST_TEST(to_text(finite_or_null(0.25)) == "0.25");
  for (const double x : {double(NAN), double(INFINITY), -double(INFINITY)})
    BOOST_TEST(to_text(finite_or_null(x)) == "null");
}

BOOST_AUTO_TEST_CASE(singular_and_plural) {
  BOOST_TEST(counted(0, "step") == "0 steps");
  BOOST_TEST(counted(1, "step") == "1 step");
  BOOST_TEST(counted(2, "step") == "2 steps");
  BOOST_TEST(counted(9999, "step") == "9999 steps");
  BOOST_TEST(counted(34920, "token") == "34,920 tokens");
}

BOOST_AUTO_TEST_CASE(lengths_of_time) {
  BOOST_TEST(about(59.6) == "60 seconds");
  BOOST_TEST(about(3960) == "66 minutes");
  BOOST_TEST(about(30 * 3600) == "30 hours");
  BOOST_TEST(about(26 * 86400) == "26 days");
  BOOST_TEST(duration(0.4) == "0:00:00");
  BOOST_TEST(duration(3910) == "1:05:10");
  BOOST_TEST(duration(47 * 3600) == "47:00:00");
  BOOST_TEST(duration(48 * 3600) == "2 days");
}
