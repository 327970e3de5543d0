// The states of a line, and the words of an output.
#include "lib/search/lines/remarks.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "lib/base/json.h"
#include "tests/unit/search/tiny_translator.h"

using namespace tx;
using namespace tx_test;

using Ids = std::vector<int>;
using Texts = std::vector<std::string>;

BOOST_AUTO_TEST_CASE(loops) {
  using Tokens = std::vector<uint64_t>;
  BOOST_TEST(!has_loop({}));
  BOOST_TEST(!has_loop(Tokens(7, 5)));
  BOOST_TEST(has_loop(Tokens(8, 5)));
  BOOST_TEST(has_loop(Tokens{9, 9, 9, 5, 6, 5, 6, 5, 6, 5, 6}));
  BOOST_TEST(!has_loop(Tokens{5, 6, 5, 6, 5, 6}));  // fewer than eight
  BOOST_TEST(has_loop(Tokens{4, 5, 6, 7, 5, 6, 7, 5, 6, 7}));
  BOOST_TEST(!has_loop(Tokens{5, 6, 7, 8, 9, 5, 6, 7, 8, 9}));  // only twice
  BOOST_TEST(has_loop(Tokens{5, 5, 5, 5, 5, 5, 5, 5, 6}));      // before the last word
  BOOST_TEST(has_loop(Tokens{4, 5, 6, 7, 5, 6, 7, 5, 6, 7, 8, 9}));
  BOOST_TEST(!has_loop(Tokens{5, 5, 5, 5, 6, 5, 5, 5, 5}));  // interrupted
}

BOOST_AUTO_TEST_CASE(ends_of_texts) {
  BOOST_TEST(ends_alike("a b c d e f", "x b c d e f"));
  BOOST_TEST(!ends_alike("a b c d e f", "x y c d e f"));
  BOOST_TEST(!ends_alike("c d e f", "c d e f"));
  BOOST_TEST(ends_alike("b c d e f ", "b c  d e f"));
  BOOST_TEST(ends_alike("a b c d e f", "x b\u3000c\td\u00A0e f"));
  BOOST_TEST(!ends_alike("", ""));
}

BOOST_AUTO_TEST_CASE(states_of_lines) {
  const auto models = model_set(small_config(), DType::f32);
  const auto states = [&](const Ids& source, const TokenHypothesis& h, Line line = {}) {
    return states_of(line, Source{source, 1, {}}, h, *models, Rules());
  };
  BOOST_TEST(states({5}, {{6}, 0, 0, true}).empty());
  BOOST_TEST(states({5}, {{6}, 0, 0, false}) == Texts{"maximum"}, boost::test_tools::per_element());
  BOOST_TEST(states({5}, {Ids(9, 6), 0, 0, true}) == Texts{"loop"},
             boost::test_tools::per_element());
  Ids inside(50, 6);
  inside.push_back(7);
  BOOST_TEST(states({5}, {inside, 0, 0, true}) == Texts{"loop"}, boost::test_tools::per_element());
  BOOST_TEST(states(Ids(9, 5), {Ids(9, 6), 0, 0, true}).empty());  // the source has a loop too
  BOOST_TEST((states({4, 5, 6, 7, 8, 9}, {{5, 6, 7, 8, 9}, 0, 0, true}) == Texts{"copy"}));
  Line line;
  line.blank = line.cut = true;
  line.replaced = 1;
  line.unknown = "x";
  BOOST_TEST((states({}, {{}, 0, 0, true}, line) == Texts{"empty", "replaced", "cut", "unknown"}));
}

BOOST_AUTO_TEST_CASE(words_and_json) {
  const auto vocabulary = word_vocabulary(20);
  const TokenHypothesis h{{5, 6}, -1.5, -1, true, {-0.25f, -0.5f, -0.75f}};
  const WordScores words = words_of(h, LineForm::text, *vocabulary);
  BOOST_TEST(words.words == (Texts{"w5", "w6"}), boost::test_tools::per_element());
  BOOST_TEST(words.log_p == (std::vector<double>{-0.25, -0.5, -0.75}),
             boost::test_tools::per_element());
  LineOptions options;
  options.word_scores = true;
  Line line;
  line.number = 7;
  BOOST_TEST(format_line(line, {h}, options, *vocabulary) ==
             "w5 w6\t-0.250000 -0.500000 -0.750000\n");
  options.list = true;
  const Json json =
      parse_json(format_json(line, {h}, {"cut"}, options, *vocabulary, {"0-0 1-1"}), "test");
  BOOST_TEST(json["line"] == 7);
  BOOST_TEST(json["text"] == "w5 w6");
  BOOST_TEST(json["score"] == -1.0);
  BOOST_TEST(json["log_p"] == -1.5);
  BOOST_TEST(json["complete"] == true);
  BOOST_TEST((json["pieces"] == Json{"w5", "w6"}));
  BOOST_TEST((json["piece_log_p"] == Json{-0.25, -0.5, -0.75}));
  BOOST_TEST((json["words"] == Json{"w5", "w6"}));
  BOOST_TEST((json["alignment"] == Json{{0, 0}, {1, 1}}));
  BOOST_TEST((json["states"] == Json{"cut"}));
  BOOST_TEST(json["nbest"].size() == 1u);
  BOOST_TEST(json["nbest"][0]["text"] == "w5 w6");
  const TokenHypothesis never{{5}, -INFINITY, -INFINITY, true};
  BOOST_TEST(
      parse_json(format_json(line, {never}, {}, {}, *vocabulary), "test")["score"].is_null());
}

BOOST_AUTO_TEST_CASE(texts_of_parts_are_joined) {
  const auto list = parse_vocabulary("tx-words 1\n<pad>\n<unk>\n<s>\n</s>\na.\n好。\n", "words");
  const auto joined = [&](const std::vector<std::pair<std::string, Ids>>& given) {
    std::vector<Source> parts(given.size());
    std::vector<Translation> found;
    for (size_t i = 0; i < given.size(); ++i) {
      parts[i].gap = given[i].first;
      found.push_back({{given[i].second, 0, 0, true}});
    }
    return join_texts(parts, found, *list);
  };
  BOOST_TEST(joined({{"", {4}}, {"  ", {4}}, {"\u3000", {4}}}) == "a.  a.\u3000a.");
  BOOST_TEST(joined({{"", {5}}, {"", {5}}}) == "好。好。");
  BOOST_TEST(joined({{"", {4}}, {"", {4}}}) == "a. a.");
  BOOST_TEST(joined({{"", {}}, {" ", {4}}, {" ", {}}, {" ", {4}}}) == "a. a.");
}

// The tokens of the parts are concatenated, and log P is summed.
BOOST_AUTO_TEST_CASE(parts_are_joined) {
  const Translation a = {{{5, 6}, -1.5, -1, true, {-0.25f, -0.5f, -0.75f}}};
  const Translation none = {{{}, -2, -2, true, {-2}}};
  const Translation cut = {{{7}, -0.5, -0.5, false, {-0.5f}}};
  BOOST_TEST(exact(join_parts({a}, 0.6)) == exact(a));
  const TokenHypothesis h = join_parts({a, none, cut}, 0.6)[0];
  BOOST_TEST(h.ids == (Ids{5, 6, 7}), boost::test_tools::per_element());
  BOOST_TEST(h.log_p == -4);
  BOOST_TEST(h.score == -4 / length_penalty(5, 0.6));
  BOOST_TEST(!h.complete);
  BOOST_TEST(h.token_log_p == (std::vector<float>{-0.25f, -3.25f, -0.5f}),
             boost::test_tools::per_element());
  // The end of a first part without tokens is added to the next token, or to the end of the line.
  const std::vector<float> later = join_parts({none, a}, 0.6)[0].token_log_p;
  BOOST_TEST(later == (std::vector<float>{-2.25f, -0.5f, -0.75f}),
             boost::test_tools::per_element());
  BOOST_TEST(join_parts({none, none}, 0.6)[0].token_log_p == std::vector<float>{-4},
             boost::test_tools::per_element());
}
