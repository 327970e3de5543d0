#include "lib/base/json.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "lib/base/error.h"
#include "tests/support.h"

using namespace tx;
using tx_test::message_of;

BOOST_AUTO_TEST_CASE(keys_keep_their_order) {
  const std::string text = R"({"z":1,"a":[true,null,-2.5],"m":{"y":"ä","b":18446744073709551615}})";
  BOOST_TEST(to_text(parse_json(text, "x")) == text);
  BOOST_TEST(to_text(parse_json("{\"a\":[1]}", "x"), 1) == "{\n \"a\": [\n  1\n ]\n}");
}

BOOST_AUTO_TEST_CASE(what_is_not_json_is_told) {
  BOOST_TEST(message_of<DataError>([] { parse_json("{\"a\":}", "run/config.json"); }) ==
             "run/config.json: not valid JSON at byte 6");
  for (const char* bad : {"", "{", "[1,]", "nul", "{} x", "\"\xFF\"", "1e400", "NaN"}) {
    BOOST_TEST(message_of<DataError>([&] { parse_json(bad, "x"); }).starts_with("x: not "), bad);
  }
}

BOOST_AUTO_TEST_CASE(deep_nesting_is_refused) {
  const auto nested = [](size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  BOOST_TEST(to_text(parse_json(nested(100), "x")) == nested(100));
  BOOST_TEST(message_of<DataError>([&] { parse_json(nested(101), "x"); }) ==
             "x: JSON nested deeper than 100 levels at byte 101");
  BOOST_CHECK_THROW(parse_json(nested(1000000), "x"), DataError);
  const std::string brackets =
      "[\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\"]";
  BOOST_TEST(to_text(parse_json(brackets, "x")) == brackets);
}

BOOST_AUTO_TEST_CASE(only_finite_numbers_are_written) {
  BOOST_CHECK_THROW(to_text(Json{{"loss", NAN}}), Bug);
  BOOST_CHECK_THROW(to_text(Json{{"a", Json::array({1.0, {{"b", INFINITY}}})}}), Bug);
  BOOST_TEST(to_text(Json{{"loss", nullptr}}) == "{\"loss\":null}");
}

BOOST_AUTO_TEST_CASE(invalid_utf8_is_replaced) {
  BOOST_TEST(to_text(Json("a\xFFz")) == "\"a\xEF\xBF\xBDz\"");
}
