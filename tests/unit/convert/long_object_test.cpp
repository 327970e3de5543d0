#include "lib/convert/formats/long_object.h"

#include <boost/test/unit_test.hpp>
#include <chrono>

#include "lib/base/error.h"
#include "tests/support.h"

using namespace tx;
using tx_test::message_of;

BOOST_AUTO_TEST_CASE(members_and_what_is_wrong) {
  BOOST_TEST(to_text(parse_long_object(R"({"b": 2, "ä\n": 0, "a": [1], "c": {"d": 1}})", "x")) ==
             "{\"a\":null,\"b\":2,\"c\":null,\"ä\\n\":0}");
  BOOST_TEST(to_text(parse_long_object(R"({"a": 1, "a": 2})", "x")) == R"({"a":2})");
  const auto told = [](const std::string& text) {
    return message_of<DataError>([&] { parse_long_object(text, "x"); });
  };
  BOOST_TEST(told("[1]") == "x is not a JSON object");
  BOOST_TEST(told("{\"a\":}") == "x: not valid JSON at byte 6");
  BOOST_TEST(told("{\"a\": 1e400}").starts_with("x: not usable JSON"));
  BOOST_TEST(told(std::string(1000000, '[')).starts_with("x: JSON nested deeper"));
}

BOOST_AUTO_TEST_CASE(a_member_takes_no_longer_where_there_are_many) {
  const auto seconds = [](int members) {
    std::string text = "{\"z\": 0";
    for (int i = 0; i < members; ++i) text += ", \"piece" + std::to_string(i) + "\": 1";
    const auto begin = std::chrono::steady_clock::now();
    BOOST_TEST(parse_long_object(text + "}", "x").size() == size_t(members) + 1);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  BOOST_TEST(seconds(160000) < 50 * seconds(10000) + 0.5);  // comparing with all: 256 times
}
