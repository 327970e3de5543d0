#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "lib/convert/formats/directory.h"
#include "tests/support.h"

using namespace tx;
using namespace tx_test;

namespace {

void expect(const std::string& yaml, const std::string& json) {
  BOOST_TEST(to_text(parse_flat_yaml(yaml, "F")) == json);
}

void refused(const std::string& yaml, const std::string& message) {
  BOOST_TEST(message_of<DataError>([&] { parse_flat_yaml(yaml, "F"); }) == message);
}

}  // namespace

BOOST_AUTO_TEST_CASE(values_without_quotes) {
  expect("a: true\nb: false\nc: 12\nd: -3\ne: 0.25\nf: 1e-3\ng: swish\nh: ~\ni:\n",
         R"({"a":true,"b":false,"c":12,"d":-3,"e":0.25,"f":0.001,"g":"swish","h":null,"i":null})");
  expect("after: 0e\nt: 10:20 x\nv: v1.12 -0800  # why\nn: 1e999\nh: 0x1f\n",
         R"({"after":"0e","t":"10:20 x","v":"v1.12 -0800","n":"1e999","h":"0x1f"})");
}

BOOST_AUTO_TEST_CASE(values_in_quotes) {
  expect(R"(a: "12"  # text
b: 'it''s'
c: "\"\\\t\x41\u00e9\U0001F600\N\_"
d: ""
)",
         "{\"a\":\"12\",\"b\":\"it's\",\"c\":\"\\\"\\\\\\tA\u00e9\U0001F600\u0085\u00a0\",\"d\":"
         "\"\"}");
}

BOOST_AUTO_TEST_CASE(keys_of_a_vocabulary) {
  expect("</s>: 0\n\"#\": 1\n'''s': 2\n---: 3\nkey#: 4\n\\: 5\n\"key:\": 6\n-x: 7\na:b: 8\n",
         R"({"</s>":0,"#":1,"'s":2,"---":3,"key#":4,"\\":5,"key:":6,"-x":7,"a:b":8})");
}

// PyYAML writes long keys and those with escape sequences on a line of their own.
BOOST_AUTO_TEST_CASE(keys_on_a_line_of_their_own) {
  expect("? \"\\N\"\n: 5\n? \"\\L\\P\"  # two\n: 6\n? long\n: 7\nb: 8\n'? c': 9\n",
         "{\"\u0085\":5,\"\u2028\u2029\":6,\"long\":7,\"b\":8,\"? c\":9}");
  expect("? a\n:\n- 1\n- 2\n", R"({"a":[1,2]})");
  refused("? a\nb: 1\n", "F:2: expected \": value\" below the key");
  refused("? a\n", "F:1: expected \": value\" below the key");
  refused("? [a]\n: 1\n", "F:1: YAML syntax \"[\" is not supported");
}

BOOST_AUTO_TEST_CASE(lists) {
  expect("a:\n  - 1\n  - two\nb:\n- x y\nc:\n  []\nd: [1, \"a, b\", 'c' ]\ne: []\n",
         R"({"a":[1,"two"],"b":["x y"],"c":[],"d":[1,"a, b","c"],"e":[]})");
}

BOOST_AUTO_TEST_CASE(comments_and_empty_lines) {
  expect("---\n# all\n\na: 1\r\n  # more\nb: 2", R"({"a":1,"b":2})");
  expect("", "{}");
}

BOOST_AUTO_TEST_CASE(the_rest_of_yaml_is_refused_with_its_line) {
  refused("a: 1\nb\n", "F:2: expected \"key: value\"");
  refused("a: 1\na: 2\n", "F:2: duplicate key \"a\"");
  refused("a:\n  b: 1\n", "F:2: expected \"- value\"; nested settings are not supported");
  refused("a: 1\n  - 2\n", "F:2: list item without a list");
  refused("a:\n  []\n  - 2\n", "F:3: list item without a list");
  refused("- a\n", "F:1: expected \"key: value\"");
  refused("a:\n  - b: 1\n", "F:2: nested mappings are not supported");
  refused("a: b: 1\n", "F:1: nested mappings are not supported");
  refused("a: {b: 1}\n", "F:1: YAML syntax \"{\" is not supported");
  refused("\na: &x 1\n", "F:2: YAML syntax \"&\" is not supported");
  refused("a: |\n  text\n", "F:1: YAML syntax \"|\" is not supported");
  refused("a: \"b\n", "F:1: the quote is not closed on this line");
  refused("a: \"\\q\"\n", "F:1: invalid escape sequence");
  refused("a: \"\\uD800\"\n", "F:1: invalid escape sequence");
  refused("a: \"\\x4\"\n", "F:1: invalid escape sequence");
  refused("a: \"b\" c\n", "F:1: unexpected text after the value");
  refused("a: [1, 2\n", "F:1: the list is not closed on this line");
  refused("\"a\":1\n", "F:1: expected a space after \":\"");
  refused("\"\": 1\n", "F:1: empty key");
  refused("a: \xFF\n", "F:1: not valid UTF-8");
}
