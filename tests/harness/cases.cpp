// Cases that must not pass: tests/harness_test.sh runs them and expects a failure of each.
#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_CASE(wrong) { BOOST_TEST(1 == 2); }
BOOST_AUTO_TEST_CASE(right) { BOOST_TEST(1 == 1); }
BOOST_AUTO_TEST_CASE(empty) {}
BOOST_AUTO_TEST_CASE(elsewhere, *boost::unit_test::precondition([](auto) { return false; })) {
  BOOST_TEST(1 == 2);
}
BOOST_AUTO_TEST_CASE(off, *boost::unit_test::disabled()) { BOOST_TEST(1 == 1); }
