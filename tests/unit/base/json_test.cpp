#include "lib/base/json.h"

#include <boost/test/unit_test.hpp>
#include <chrono>
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

BOOST_AUTO_TEST_CASE(invalid_json_is_refused_with_its_place) {
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

BOOST_AUTO_TEST_CASE(a_value_of_another_type_is_refused_with_file_and_key) {
  const Json json = parse_json(
      R"({"b":true,"n":3,"big":5000000000,"x":1.5,"s":"w","l":["a","b"],"m":["a",1],"o":{}})", "f");
  BOOST_TEST(json_value<bool>(json, "b", "f"));
  BOOST_TEST(json_value<int>(json, "n", "f") == 3);
  BOOST_TEST(json_value<int64_t>(json, "big", "f") == 5000000000);
  BOOST_TEST(json_value<double>(json, "n", "f") == 3);
  BOOST_TEST(json_value<std::string>(json, "s", "f") == "w");
  BOOST_TEST(json_value<std::vector<std::string>>(json, "l", "f").size() == 2u);
  BOOST_TEST(json_value<Json::object_t>(json, "o", "f").empty());
  BOOST_TEST(json_value<int>(json, "none", "f", 7) == 7);
  const auto message = [&]<class T>(const char* key, T) {
    return message_of<DataError>([&] { json_value<T>(json, key, "f"); });
  };
  BOOST_TEST(message("s", 0) == "f: s is \"w\", not a whole number");
  BOOST_TEST(message("x", 0) == "f: x is 1.5, not a whole number");
  BOOST_TEST(message("big", 0) == "f: big is 5000000000, not a whole number");
  BOOST_TEST(message("s", 0.0) == "f: s is \"w\", not a number");
  BOOST_TEST(message("n", std::string()) == "f: n is 3, not a string");
  BOOST_TEST(message("n", false) == "f: n is 3, not true or false");
  BOOST_TEST(message("s", std::vector<std::string>()) == "f: s is \"w\", not a list");
  BOOST_TEST(message("m", std::vector<std::string>()) ==
             "f: m is [\"a\",1]: an element is of the wrong type");
  BOOST_TEST(message("none", std::string()) == "f: none is missing; it must be a string");
  BOOST_TEST(message_of<DataError>([&] { json_value<int>(json, "s", "f", 7); }) ==
             "f: s is \"w\", not a whole number");
  BOOST_TEST(message_of<DataError>([] { json_value<int>(Json::array(), "s", "f"); }) ==
             "f: s is missing; it must be a whole number");
}

BOOST_AUTO_TEST_CASE(the_last_of_several_members_with_one_key_counts) {
  BOOST_TEST(to_text(parse_json(R"([{"a":1,"b":2,"a":{"c":3},"b":[]},{"b":1}])", "x")) ==
             R"([{"a":{"c":3},"b":[]},{"b":1}])");
  BOOST_TEST(to_text(parse_json(R"({"a":1,"m":{"m":2},"b":3,"m":4})", "x", "m")) ==
             R"({"a":1,"b":3})");
  BOOST_TEST(message_of<DataError>([] { parse_json("{\"a\": 1e400}", "x"); }) ==
             "x: not usable JSON: a number is too large");
}

BOOST_AUTO_TEST_CASE(a_member_takes_no_longer_where_there_are_many) {
  const auto seconds = [](int members) {
    std::string text = "{\"z\": {\"z\": 0";
    for (int i = 0; i < members; ++i) text += ", \"token" + std::to_string(i) + "\": 1";
    const auto begin = std::chrono::steady_clock::now();
    BOOST_TEST(parse_json(text + "}}", "x")["z"].size() == size_t(members) + 1);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  BOOST_TEST(seconds(160000) < 50 * seconds(10000) + 0.5);  // quadratic time: 256 times
}
