#include "lib/eval/matching/edit_distance.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <vector>

#include "lib/base/philox.h"

using Words = std::vector<int32_t>;

namespace {

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

}  // namespace

BOOST_AUTO_TEST_SUITE(edit_distance)

// Texts shorter than the band: it leaves nothing out.
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

// A part replaced costs what the whole would, long texts and wide bands included.
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
