#include "lib/eval/matching/ngrams.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

#include "lib/base/philox.h"

using tx::Tokens;

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
