#include "lib/base/split.h"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(split)

BOOST_AUTO_TEST_CASE(one_part_more_than_separators) {
  using Parts = std::vector<std::string>;
  BOOST_TEST((tx::split_at("a,,b", ',') == Parts{"a", "", "b"}));
  BOOST_TEST((tx::split_at("", ',') == Parts{""}));
  BOOST_TEST((tx::split_at(".", '.') == Parts{"", ""}));
  BOOST_TEST((tx::split_at("cross.1.0", '.') == Parts{"cross", "1", "0"}));
}

BOOST_AUTO_TEST_SUITE_END()
