#include "lib/attention/record.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "lib/base/json.h"
#include "tests/unit/search/tiny_translator.h"

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
  r.model = {"m", "0a", "0b"};
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
             "{\"format_version\":1,\"model\":\"m\",\"source_vocabulary\":\"0a\","
             "\"target_vocabulary\":\"0b\",\"line\":7,\"source\":[\"a\\\"b\",\"\u2581c\",\"</"
             "s>\"],\"input\":[\"<s>\",\"x\"],"
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
             "{\"format_version\":1,\"model\":\"\",\"line\":3,\"source\":[],\"input\":[],"
             "\"target\":[],\"source_ids\":[],"
             "\"target_ids\":[],\"text\":\"\",\"translation\":\"\","
             "\"forced\":true,\"average\":\"heads\",\"heads\":[0,2],"
             "\"layers\":{\"encoder\":[0,1],\"cross\":[1]},"
             "\"rows\":{\"encoder\":\"source\",\"cross\":\"target\"},"
             "\"columns\":{\"encoder\":\"source\",\"cross\":\"source\"},"
             "\"encoder\":[],\"cross\":[]}\n");
}

// Other quantities have an object each; masked positions are null.
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

// A printed weight differs from the real one by at most half a unit of the last digit.
BOOST_AUTO_TEST_CASE(figures_read_back) {
  for (int digits = 1; digits <= 9; ++digits) {
    for (int i = 0; i <= 1000; ++i) {
      const float w = float(i * i) / 1e6f;
      const double read = parse_json(weight(w, digits), "test").get<double>();
      BOOST_TEST(std::abs(read - double(w)) <= 0.5000001 * std::pow(10, -digits));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_largest_of_each_row) {
  const AttentionMap map{2, 4, {0.1f, 0.4f, 0.1f, 0.4f, 1, 0, 0, 0}};
  const TopEntries top = top_of_rows(map, 3);
  BOOST_TEST(top.rows == 2);
  BOOST_TEST(top.columns == 3);
  BOOST_TEST(top.indices == (std::vector<int32_t>{1, 3, 0, 0, 1, 2}),
             boost::test_tools::per_element());
  BOOST_TEST(top.values == (std::vector<float>{0.4f, 0.4f, 0.1f, 1, 0, 0}),
             boost::test_tools::per_element());
  BOOST_TEST(top_of_rows(map, 9).columns == 4);
}

namespace {

const char* const list = "tx-words 1\n<pad>\n<unk>\n<s>\n</s>\nun@@\nseen\ndog\nHund\nun@@ge@@\n";

AttentionRecord record_of_tokens() {
  AttentionRecord r;
  r.source_ids = {4, 5, 6, 3};  // un@@ seen dog </s>
  r.input_ids = {2, 4, 5};
  r.target_ids = {4, 5, 7};  // un@@ seen Hund, cut
  r.log_p = {-1, -0.5f, -2};
  r.rank = {1, 2, 3};
  r.maps = {{{AttentionMap{3, 3, {1, 0, 0, 0.5f, 0.5f, 0, 0.2f, 0.3f, 0.5f}}}},
            {{AttentionMap{3, 4, {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.1f, 0.2f, 0.2f, 0, 0, 1, 0}}}}};
  return r;
}

Selection decoder_and_cross() {
  Selection s;
  s.kinds = {{AttentionKind::decoder, {0}}, {AttentionKind::cross, {0}}};
  s.heads = {0};
  s.words = true;
  return s;
}

void check(const AttentionMap& map, const std::vector<double>& wanted) {
  BOOST_REQUIRE(map.values.size() == wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    BOOST_TEST(std::abs(double(map.values[i]) - wanted[i]) < 1e-6);
}

}  // namespace

BOOST_AUTO_TEST_CASE(columns_are_added_rows_averaged) {
  const auto vocabulary = parse_vocabulary(list, "words");
  const AttentionRecord r = record_of_tokens();
  const RecordWords words = words_of(r, *vocabulary, *vocabulary);
  const AttentionRecord joined = in_words(r, decoder_and_cross(), words);
  BOOST_TEST(joined.source == (std::vector<std::string>{"unseen", "dog", "</s>"}));
  BOOST_TEST(joined.input == (std::vector<std::string>{"<s>", "unseen"}));
  BOOST_TEST(joined.target == (std::vector<std::string>{"unseen", "Hund"}));
  BOOST_TEST(joined.source_starts == (std::vector<int64_t>{0, 2, 3, 4}));
  // Rows unseen, Hund; columns <s>, unseen.
  check(joined.maps[0][0][0], {0.75, 0.25, 0.2, 0.8});
  // Columns unseen, dog, </s>.
  check(joined.maps[1][0][0], {(0.3 + 0.6) / 2, (0.3 + 0.2) / 2, (0.4 + 0.2) / 2, 0, 1, 0});
  BOOST_TEST(joined.log_p == (std::vector<float>{-1.5f, -2}));
  BOOST_TEST(joined.rank.empty());
}

BOOST_AUTO_TEST_CASE(shifted_rows_are_words_that_are_read) {
  const auto vocabulary = parse_vocabulary(list, "words");
  const AttentionRecord r = record_of_tokens();
  Selection s = decoder_and_cross();
  s.shift = true;
  const AttentionRecord joined = in_words(r, s, words_of(r, *vocabulary, *vocabulary));
  // Rows <s>, unseen.
  check(joined.maps[0][0][0], {1, 0, 0.35, 0.65});
  BOOST_TEST(joined.maps[1][0][0].rows == 2);
}
