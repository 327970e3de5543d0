#include "lib/text/links.h"

#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "tests/support.h"

using namespace tx;

BOOST_AUTO_TEST_SUITE(links)

BOOST_AUTO_TEST_CASE(sure_and_possible_ones) {
  const std::vector<WordLink> links = parse_links(" 0-0 12?3\t4p5 12?3\r");
  const std::vector<WordLink> want{{0, 0, true}, {12, 3, false}, {4, 5, false}, {12, 3, false}};
  BOOST_TEST((links == want));
  BOOST_TEST(parse_links("").empty());
}

BOOST_AUTO_TEST_CASE(anything_else_is_quoted) {
  for (const std::string bad :
       {"0", "0-", "-1", "0-1-2", "0+1", "a-b", "0-1x", "4294967296-0", "-", "0--1"}) {
    const std::string message = tx_test::message_of<DataError>([&] { parse_links("0-0 " + bad); });
    BOOST_TEST(message.starts_with("'" + bad + "' is not a link"), message);
  }
}

BOOST_AUTO_TEST_SUITE_END()
