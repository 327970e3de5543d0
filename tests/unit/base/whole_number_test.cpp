#include "lib/base/whole_number.h"

#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "tests/support.h"

using namespace tx;
using tx_test::message_of;

BOOST_AUTO_TEST_CASE(whole_numbers_are_whole_and_in_range) {
  const Json json =
      parse_json(R"({"a":3,"b":-3,"c":3.0,"d":1e300,"e":18446744073709551615,"f":"3"})", "x");
  BOOST_TEST(whole_number(json, "a", 3, 3) == 3);
  BOOST_TEST(whole_number(json, "b", -3, 3) == -3);
  BOOST_TEST(message_of<DataError>([&] { whole_number(json, "a", 4, 9); }) ==
             "a is not a whole number from 4 to 9");
  for (const char* key : {"b", "c", "d", "e", "f", "none"})
    BOOST_CHECK_THROW(whole_number(json, key, 0, INT64_MAX), DataError);
  BOOST_CHECK_THROW(whole_number(Json::array(), "a", 0, 9), DataError);
}
