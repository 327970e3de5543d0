#include "lib/attention/record.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "lib/base/json.h"

using namespace tx;

namespace {

Selection cross_only() {
  Selection s;
  s.kinds = {{AttentionKind::cross, {1}}};
  s.heads = {0, 2};
  return s;
}

AttentionRecord small_record() {
  AttentionRecord r;
  r.line = 7;
  r.source = {"a\"b", "\u2581c", "</s>"};
  r.input = {"<s>", "x"};
  r.target = {"x", "</s>"};
  r.source_ids = {4, 5, 3};
  r.input_ids = {2, 6};
  r.target_ids = {6, 3};
  r.text = "a\"b c";
  r.translation = "x";
  const AttentionMap first{2, 3, {1, 0, 0, 0.25f, 0.5f, 0.25f}};
  const AttentionMap second{2, 3, {1 / 3.0f, 1 / 3.0f, 1 / 3.0f, 0.0004f, 0.9990f, 0.0006f}};
  r.maps = {{{first, second}}};
  return r;
}

std::string weight(float w, int digits) {
  AttentionRecord r = small_record();
  r.maps = {{{AttentionMap{1, 1, {w}}}}};
  const std::string line = format_record(r, cross_only(), digits);
  const size_t from = line.find("\"cross\":[[[[") + 12;
  return line.substr(from, line.find(']', from) - from);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_record_is_one_line_of_json) {
  BOOST_TEST(format_record(small_record(), cross_only(), 2) ==
             "{\"line\":7,\"source\":[\"a\\\"b\",\"\u2581c\",\"</s>\"],\"input\":[\"<s>\",\"x\"],"
             "\"target\":[\"x\",\"</s>\"],\"source_ids\":[4,5,3],\"target_ids\":[6,3],"
             "\"text\":\"a\\\"b c\",\"translation\":\"x\",\"forced\":false,"
             "\"average\":\"none\",\"heads\":[0,2],\"layers\":{\"cross\":[1]},"
             "\"rows\":{\"cross\":\"target\"},\"columns\":{\"cross\":\"source\"},"
             "\"cross\":[[[[1,0,0],[0.25,0.5,0.25]],[[0.33,0.33,0.33],[0,1,0]]]]}\n");
}

BOOST_AUTO_TEST_CASE(a_blank_line_has_empty_lists) {
  AttentionRecord r;
  r.line = 3;
  r.forced = true;
  Selection s = cross_only();
  s.kinds.insert(s.kinds.begin(), {AttentionKind::encoder, {0, 1}});
  s.mean_of_heads = true;
  BOOST_TEST(format_record(r, s, 2) ==
             "{\"line\":3,\"source\":[],\"input\":[],\"target\":[],\"source_ids\":[],"
             "\"target_ids\":[],\"text\":\"\",\"translation\":\"\","
             "\"forced\":true,\"average\":\"heads\",\"heads\":[0,2],"
             "\"layers\":{\"encoder\":[0,1],\"cross\":[1]},"
             "\"rows\":{\"encoder\":\"source\",\"cross\":\"target\"},"
             "\"columns\":{\"encoder\":\"source\",\"cross\":\"source\"},"
             "\"encoder\":[],\"cross\":[]}\n");
}

// Other quantities have an object each; what no position may look at is null.
BOOST_AUTO_TEST_CASE(quantities_of_a_step) {
  AttentionRecord r = small_record();
  Selection s = cross_only();
  s.what = {Quantity::masked, Quantity::output};
  s.log_p = s.shift = true;
  r.maps.clear();
  const float none = -std::numeric_limits<float>::infinity();
  const AttentionMap masked{2, 2, {-1.25f, none, 1234567.0f, -0.001f}};
  r.parts[Quantity::masked] = {{{masked, masked}}};
  r.parts[Quantity::output] = {{{AttentionMap{2, 1, {0.5f, -3e20f}}}}};
  r.log_p = {-0.25f, -7};
  r.rank = {1, 40};
  const Json json = parse_json(format_record(r, s, 2), "record");
  BOOST_TEST(json["masked"].dump() ==
             "{\"cross\":[[[[-1.25,null],[1234567,0]],[[-1.25,null],[1234567,0]]]]}");
  BOOST_TEST(json["output"]["cross"][0].size() == 2u);
  BOOST_TEST(json["output"]["cross"][0][1][0].get<double>() == -3e20,
             boost::test_tools::tolerance(1e-6));
  BOOST_TEST(json["log_p"].dump() == "[-0.25,-7]");
  BOOST_TEST(json["rank"].dump() == "[1,40]");
  BOOST_TEST(json["rows"]["cross"] == "input");
  BOOST_TEST(!json.contains("cross"));
}

BOOST_AUTO_TEST_CASE(figures_of_a_weight) {
  BOOST_TEST(weight(0, 6) == "0");
  BOOST_TEST(weight(1, 6) == "1");
  BOOST_TEST(weight(0.5f, 9) == "0.5");
  BOOST_TEST(weight(0.05f, 1) == "0.1");
  BOOST_TEST(weight(0.04f, 1) == "0");
  BOOST_TEST(weight(0.96f, 1) == "1");
  BOOST_TEST(weight(0.0123456f, 4) == "0.0123");
  BOOST_TEST(weight(0.00001f, 5) == "0.00001");
  BOOST_TEST(weight(1 / 3.0f, 9) == "0.333333343");
  BOOST_TEST(weight(1.0000001f, 3) == "1");
}

// What a reader parses differs from the weight by half a unit of the last figure at most.
BOOST_AUTO_TEST_CASE(figures_read_back) {
  for (int digits = 1; digits <= 9; ++digits) {
    for (int i = 0; i <= 1000; ++i) {
      const float w = float(i * i) / 1e6f;
      const double read = parse_json(weight(w, digits), "test").get<double>();
      BOOST_TEST(std::abs(read - double(w)) <= 0.5000001 * std::pow(10, -digits));
    }
  }
}
