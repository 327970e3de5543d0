#include "lib/attention/words.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/unit/search/tiny_translator.h"

using namespace tx;

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
