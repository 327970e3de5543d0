#include <boost/test/unit_test.hpp>
#include <limits>

#include "lib/attention/statistics.h"

using namespace tx;

namespace {

Selection selected() {
  Selection s;
  s.kinds = {{AttentionKind::decoder, {3}}};
  s.heads = {0, 2};
  s.what = {Quantity::scores, Quantity::scaled, Quantity::masked};
  return s;
}

AttentionRecord record_of(const std::vector<AttentionMap>& scores) {
  AttentionRecord record;
  AttentionMaps all{scores};
  record.parts[Quantity::scores] = {all};
  for (AttentionMap& map : all[0])
    for (float& x : map.values) x /= 2;
  record.parts[Quantity::scaled] = {all};
  for (AttentionMap& map : all[0]) map.values[1] = -std::numeric_limits<float>::infinity();
  record.parts[Quantity::masked] = {all};
  return record;
}

}  // namespace

// The masked 100 does not count: 1, 4, 7 have the mean 4 and the variance 6.
BOOST_AUTO_TEST_CASE(variances_of_visible_scores) {
  ScoreStatistics statistics(selected()), part(selected());
  statistics.add(record_of({{2, 2, {1, 100, 4, 7}}, {2, 2, {5, 100, 5, 5}}}));
  statistics.add(AttentionRecord());  // a blank line
  auto heads = statistics.heads();
  BOOST_REQUIRE(heads.size() == 2u);
  BOOST_TEST(heads[0].layer == 3);
  BOOST_TEST(heads[1].head == 2);
  BOOST_TEST(heads[0].scores == 3);
  BOOST_TEST(heads[0].mean == 4);
  BOOST_TEST(heads[0].variance == 6);
  BOOST_TEST(heads[0].scaled_variance == 1.5);
  BOOST_TEST(heads[1].variance == 0);
  part.add(record_of({{2, 2, {4, 100, 4, 4}}, {2, 2, {8, 100, 8, 8}}}));
  statistics.add(part);
  heads = statistics.heads();
  BOOST_TEST(heads[0].scores == 6);
  BOOST_TEST(heads[0].variance == 3);
  BOOST_TEST(heads[1].mean == 6.5);
  BOOST_TEST(heads[1].variance == 2.25);
  BOOST_TEST(scores_table(statistics).text(false, 2) ==
             "kind\tlayer\thead\tscores\tmean\tvariance\tscaled_variance\n"
             "decoder\t3\t0\t6\t4.00\t3.00\t0.75\ndecoder\t3\t2\t6\t6.50\t2.25\t0.56\n");
  BOOST_TEST(scores_table(statistics).json()["lines"] == 2);
  BOOST_TEST(scores_table(statistics).json()["heads"][1]["scaled_variance"] == 0.5625);
}
