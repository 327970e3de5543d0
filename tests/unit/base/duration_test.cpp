#include "lib/base/duration.h"

#include <boost/test/unit_test.hpp>

using namespace tx;

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
