// N-grams, edit distances and trees, from which the metrics are computed.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

#include "lib/base/philox.h"
#include "lib/eval/matching/brackets.h"
#include "lib/eval/matching/edit_distance.h"
#include "lib/eval/matching/ngrams.h"

using tx::Tokens;
using Words = std::vector<int32_t>;

namespace {

using Counts = std::map<std::vector<std::string_view>, int64_t>;

Counts ngrams_of(const Tokens& tokens, size_t order) {
  Counts counts;
  for (size_t i = 0; i + order <= tokens.size(); ++i) {
    ++counts[std::vector<std::string_view>(tokens.begin() + long(i),
                                           tokens.begin() + long(i + order))];
  }
  return counts;
}

int64_t matched(const Tokens& hypothesis, const std::vector<Tokens>& references, size_t order) {
  int64_t sum = 0;
  for (const auto& [ngram, count] : ngrams_of(hypothesis, order)) {
    int64_t max = 0;
    for (const Tokens& reference : references) {
      max = std::max(max, ngrams_of(reference, order)[ngram]);
    }
    sum += std::min(count, max);
  }
  return sum;
}

Tokens random_tokens(tx::PhiloxStream& random) {
  static const std::vector<std::string> words = {"a", "b", "c", "ab", "bc", "", "ä", "中文"};
  Tokens tokens(random.next() % 30);
  for (auto& token : tokens) token = words[random.next() % words.size()];
  return tokens;
}

Words random_words(tx::PhiloxStream& random, int max) {
  Words words(size_t(random.uniform() * max));
  for (int32_t& word : words) word = int32_t(random.uniform() * 6);
  return words;
}

int32_t levenshtein(const Words& a, const Words& b) {
  std::vector<int32_t> row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = int32_t(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int32_t diagonal = row[0]++;
    for (size_t j = 1; j <= b.size(); ++j) {
      const int32_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

// "S 0-3, NP 0-2 (3 words)", or the error.
std::string read_tree(const std::string& line) {
  tx::BracketReader reader;
  tx::Brackets brackets;
  reader.read(line, brackets);
  if (!brackets.error.empty()) return brackets.error;
  std::string text;
  for (const auto& span : brackets.spans) {
    text += std::string(span.label) + " " + std::to_string(span.begin) + "-" +
            std::to_string(span.end) + " ";
  }
  return text + "(" + std::to_string(brackets.words) + " words)";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ngrams)

BOOST_AUTO_TEST_CASE(equals_counting_with_a_map) {
  tx::PhiloxStream random(7, 0);
  tx::NgramMatcher matcher(4);
  for (int round = 0; round < 500; ++round) {
    const Tokens hypothesis = random_tokens(random);
    std::vector<Tokens> references(1 + random.next() % 3);
    matcher.begin(hypothesis);
    for (Tokens& reference : references) {
      reference = random_tokens(random);
      matcher.add_reference(reference);
    }
    const tx::NgramCounts& counts = matcher.finish();
    for (size_t order = 1; order <= 4; ++order) {
      const auto total = int64_t(hypothesis.size() + 1) - int64_t(order);
      BOOST_TEST(counts.total[order - 1] == std::max<int64_t>(0, total));
      BOOST_TEST(counts.matched[order - 1] == matched(hypothesis, references, order));
    }
  }
}

BOOST_AUTO_TEST_CASE(numbers_survive_growth_and_clearing) {
  tx::Interner<uint64_t> interner;
  for (int round = 0; round < 3; ++round) {
    interner.clear();
    BOOST_TEST(interner.find(5) == interner.none);
    for (uint64_t i = 0; i < 10000; ++i) BOOST_REQUIRE(interner.insert(i << 32) == int32_t(i));
    for (uint64_t i = 0; i < 10000; ++i) BOOST_REQUIRE(interner.find(i << 32) == int32_t(i));
    BOOST_TEST(interner.size() == 10000);
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(edit_distance)

// Texts shorter than the band, so that the distance is exact.
BOOST_AUTO_TEST_CASE(is_levenshteins_within_the_band) {
  tx::PhiloxStream random(1, 0);
  tx::BandedEditDistance distance;
  for (int i = 0; i < 300; ++i) {
    const Words a = random_words(random, 24), b = random_words(random, 24);
    distance.set(a, b);
    BOOST_TEST(distance.distance() == levenshtein(a, b));
    std::vector<tx::Edit> edits;
    distance.trace(edits);
    const auto kept = std::count(edits.begin(), edits.end(), tx::Edit::keep);
    BOOST_TEST(int64_t(edits.size()) - kept == distance.distance());
  }
}

// The distance after replacing a part is that of the whole changed text, also for long texts.
BOOST_AUTO_TEST_CASE(a_replaced_part_costs_what_the_whole_does) {
  tx::PhiloxStream random(2, 0);
  tx::BandedEditDistance distance, whole;
  for (int i = 0; i < 300; ++i) {
    Words a = random_words(random, 120);
    const Words b = random_words(random, i % 2 == 0 ? 120 : 900);
    if (a.empty()) continue;
    distance.set(a, b);
    const auto begin = size_t(random.uniform() * double(a.size()));
    const auto end = begin + size_t(random.uniform() * double(a.size() - begin + 1));
    Words changed = a;
    std::reverse(changed.begin() + long(begin), changed.begin() + long(end));
    const Words part(changed.begin() + long(begin), changed.begin() + long(end));
    whole.set(changed, b);
    BOOST_TEST(distance.distance_with(begin, end, part) == whole.distance());
  }
}

BOOST_AUTO_TEST_CASE(a_moved_phrase_is_one_edit) {
  tx::ShiftSearch search;
  BOOST_TEST(search.edits(Words{4, 5, 1, 2, 3}, Words{1, 2, 3, 4, 5}) == 1);
  BOOST_TEST(search.edits(Words{1, 2, 3}, Words{}) == 3);
  BOOST_TEST(search.edits(Words{}, Words{1, 2}) == 2);
  BOOST_TEST(search.edits(Words{1, 2, 3}, Words{1, 2, 3}) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(brackets)

BOOST_AUTO_TEST_CASE(both_ways_of_writing_a_tree) {
  BOOST_TEST(read_tree("(S (NP (DT a) (NN cat)) (VP (VBZ sits)))") ==
             "NP 0-2 S 0-3 VP 2-3 (3 words)");
  BOOST_TEST(read_tree("(S (NP XX XX )NP (VP XX )VP )S") == "NP 0-2 S 0-3 VP 2-3 (3 words)");
  BOOST_TEST(read_tree("") == "(0 words)");
}

BOOST_AUTO_TEST_CASE(what_evalb_leaves_out) {
  BOOST_TEST(read_tree("( (S (NP-SBJ-1 (DT a)) (PRT (RP up)) (. .)) )") ==
             "ADVP 1-2 NP 0-1 S 0-2 (2 words)");
  BOOST_TEST(read_tree("(TOP (S (NP (-NONE- *T*)) (VP (VB go)) (, ,)))") ==
             "S 0-1 VP 0-1 (1 words)");
  BOOST_TEST(read_tree("(ROOT (S1 (X (`` ``))))") == "(0 words)");
}

BOOST_AUTO_TEST_CASE(malformed_trees) {
  BOOST_TEST(read_tree("(S (NP a b)") == "\"(S\" is not closed");
  BOOST_TEST(read_tree("(S a b))") == "one closing parenthesis too many");
  BOOST_TEST(read_tree("(S (NP a )VP )S") == "\"(NP\" is closed by \")VP\"");
  BOOST_TEST(read_tree("(S a b) (S c d)") == "text after the end of the tree");
  BOOST_TEST(read_tree("(S a b) c") == "a word outside the parentheses");
}

BOOST_AUTO_TEST_SUITE_END()
