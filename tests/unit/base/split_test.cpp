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

BOOST_AUTO_TEST_CASE(fields_stand_between_spaces) {
  const auto fields = tx::split_fields(" a\t bc  d\r");
  BOOST_TEST((fields == std::vector<std::string_view>{"a", "bc", "d"}));
  BOOST_TEST(tx::split_fields(" \t").empty());
}

BOOST_AUTO_TEST_CASE(numbers_are_taken_off_the_beginning) {
  std::string_view text = "12-x";
  uint32_t number = 0;
  BOOST_TEST(tx::take_number(text, number));
  BOOST_TEST(number == 12u);
  BOOST_TEST(text == "-x");
  for (std::string_view bad : {"", "-1", "x", "4294967296"}) {
    const std::string_view kept = bad;
    BOOST_TEST(!tx::take_number(bad, number));
    BOOST_TEST(bad == kept);
  }
}

BOOST_AUTO_TEST_SUITE_END()
